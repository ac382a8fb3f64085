"""Which GPU is present, its driver, clocks and the versions of what measures it (queries only)."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess
from typing import Any

from tinygpu.isa.errors import MissingError

_FIELDS = (
    "name,driver_version,memory.total,clocks.sm,clocks.mem,temperature.gpu,power.draw,"
    "clocks_event_reasons.active"
)
_PACKAGES = (
    "numba",
    "numba-cuda",
    "numpy",
    "llvmlite",
    "cuda-bindings",
    "nvidia-nvvm",
    "nvidia-nvjitlink",
    "torch",
)


def query() -> dict[str, str]:
    """What `nvidia-smi` says of the first GPU; MissingError when it cannot."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        raise MissingError("no NVIDIA driver: nvidia-smi is not installed")
    command = [tool, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        raise MissingError(f"nvidia-smi finds no GPU: {(done.stdout + done.stderr).strip()}")
    values = [value.strip() for value in done.stdout.splitlines()[0].split(",")]
    return dict(zip(_FIELDS.split(","), values, strict=True))


def clocks() -> dict[str, float]:
    """SM and memory clock in MHz now."""
    facts = query()
    return {"sm_mhz": float(facts["clocks.sm"]), "memory_mhz": float(facts["clocks.mem"])}


def versions() -> dict[str, str]:
    """Python, the packages and the CUDA toolkit in use."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    for tool in ("nvcc", "ptxas", "ncu"):
        path = shutil.which(tool)
        if path:
            done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            found[tool] = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    return found


def present() -> bool:
    """Whether a GPU answers; False on a machine without one."""
    try:
        query()
    except MissingError:
        return False
    return True


def facts(cuda: Any) -> dict[str, Any]:
    """Name, compute capability, number of SMs and further attributes of the current device."""
    device = cuda.get_current_device()
    names = (
        "MULTIPROCESSOR_COUNT",
        "MAX_THREADS_PER_MULTIPROCESSOR",
        "L2_CACHE_SIZE",
        "CLOCK_RATE",
        "MEMORY_CLOCK_RATE",
        "GLOBAL_MEMORY_BUS_WIDTH",
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
        "MAX_REGISTERS_PER_MULTIPROCESSOR",
    )
    values = {name.lower(): int(getattr(device, name)) for name in names if hasattr(device, name)}
    name = device.name
    return {
        "name": name.decode() if isinstance(name, bytes) else str(name),
        "compute_capability": list(device.compute_capability),
        **values,
    }
