"""Kernels compile to PTX that holds the body word for word (needs numba-cuda, no GPU)."""

import pytest

from tinygpu.isa.errors import MissingError
from tinygpu.validate.measure import control, kernel
from tinygpu.validate.measure.body import Body


def ptx(body):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    return kernel.ptx(body)


def test_a_body_stands_in_the_kernel_word_for_word():
    text = ptx(control.loop_of(4))
    assert text.count("fma.rn.f32 x0, x0, y0, y1;") == 4
    assert ".version 9.0" in text
    assert text.count("mov.u32 s0, %clock;") == 1


def test_the_pragma_survives_quoting():
    assert '.pragma "nounroll";' in ptx(Body("b", ("",), (1,)))


def test_without_numba_cuda_the_error_says_what_to_install(monkeypatch):
    import builtins

    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name == "numba" and rest and rest[2] == ("cuda",):
            raise ImportError("cannot import name 'cuda'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingError) as caught:
        kernel.numba_cuda()
    assert "tinygpu-sim[validate]" in caught.value.hint
