"""Micro-benchmarks of a real GPU: experiments as data, numba-cuda kernels that run them, records of results.

On a machine with an NVIDIA GPU and numba-cuda, `python -m tinygpu.validate.measure --record FILE` measures
everything in about two minutes; `--counters` adds hardware counts where Nsight Compute is installed, and
`--code FILE` keeps the machine code. It changes no clock and no setting.

Everything but `kernel`, `launch`, `reduce` and `campaign` works without a GPU. `experiments` lists what is
run: a body of PTX, launch points, and how clock stamps become cycles; a simulator can walk the same list.
`record` reads what was measured.
"""
