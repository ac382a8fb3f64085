"""Micro-benchmarks of a real GPU: experiments as data, numba-cuda kernels that run them, records of the
results.

Everything here except `kernel`, `launch` and `run` works without a GPU: patterns, statistics, PTX texts,
records.
"""
