"""Tests that need a real NVIDIA GPU and numba-cuda; skipped, with the reason, where either is missing."""

import pytest

from tinygpu.isa.errors import MissingError


@pytest.fixture(scope="session")
def gpu():
    from tinygpu.validate.measure.launch import Gpu

    try:
        return Gpu(64 << 20)
    except MissingError as error:
        pytest.skip(f"no GPU to measure: {error.message}")
