"""The processors and the memory that this process may use: how threads wait for one another, and
what becomes of freed memory."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")
_CPU_INFO = Path("/proc/cpuinfo")

# as <malloc.h> numbers them
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
LARGE_BLOCK = 64 * 2**20
"""A block of so many bytes or more goes back to the system once it is freed."""
KEPT_MEMORY = 512 * 2**20
"""The most bytes that are kept, together."""

WIDE_AMD_FAMILY = 26
"""AMD's first processors, Zen 5, that compute on vectors of 512 bits at full speed."""

SHORT_WAIT = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "1", "OPENBLAS_THREAD_TIMEOUT": "4"}
"""How long a thread spins before it sleeps: rounds with GNU's OpenMP, milliseconds with LLVM's and
Intel's, and with OpenBLAS the logarithm of a number of cycles, of which this is the least."""


def count_processors(cgroups: Path = _CGROUPS, own_cgroup: Path = _OWN_CGROUP) -> int:
    """Return how many processors this process may use: those it is bound to, or fewer where a
    container's quota gives it less time."""
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    quotas = [math.ceil(quota) for quota in _quotas(cgroups, own_cgroup)]
    return max(1, min([processors, *quotas]))


def share_processors() -> None:
    """Let this process and those that it starts share processors with others.

    Threads of OpenMP, on which PyTorch computes, and of OpenBLAS, on which NumPy does, spin where
    they wait for one another. On a busy machine the one that they wait for is not running, and the
    time is lost to everybody: with a few other programs a model answers at a fraction of its share.
    So they sleep soon. It has to be said before PyTorch and NumPy are imported; what the user has
    set stands.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        for name, value in SHORT_WAIT.items():
            os.environ.setdefault(name, value)
    processors = count_processors()
    # OpenMP knows what the process is bound to, and nothing of quotas
    if processors < (os.cpu_count() or 1):
        os.environ.setdefault("OMP_NUM_THREADS", str(processors))


def keep_freed_memory() -> None:
    """Let this process use freed memory again, instead of giving it back to the system.

    Every layer of a network frees blocks of megabytes and asks for as many again, and the system
    clears each page anew: a tenth of the time in which a small model answers. It takes GNU's C
    library, whose `mallopt` sets both thresholds.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE_BLOCK)
        mallopt(_M_TRIM_THRESHOLD, KEPT_MEMORY)


def amd_family(cpu_info: Path = _CPU_INFO) -> int:
    """Return the family of AMD's processors that this one belongs to, 0 for any other maker's or
    where Linux does not say."""
    # the first processor's lines, as in "cpu family	: 26"
    first = _read(cpu_info).split("\n\n")[0]
    pairs = [line.partition(":") for line in first.splitlines()]
    entries = {name.strip(): value.strip() for name, _, value in pairs}
    if entries.get("vendor_id") != "AuthenticAMD":
        return 0
    family = entries.get("cpu family", "")
    return int(family) if family.isdecimal() else 0


def _quotas(cgroups: Path, own_cgroup: Path) -> Iterator[float]:
    """Yield the processor time per second that each control group above this process allows."""
    folders = [cgroups, cgroups / "cpu"]  # version 2, and version 1 as containers mount it
    for line in _read(own_cgroup).splitlines():
        _, _, path = line.partition("::")
        below = Path(path.strip("/"))
        folders += [cgroups / below, *(cgroups / parent for parent in below.parents)]
    for folder in folders:
        limit = _read(folder / "cpu.max").split()
        if not limit:
            limit = [_read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        # "max", or -1 in version 1: no limit
        if len(limit) == 2 and all(number.isdecimal() for number in limit) and int(limit[1]):
            yield int(limit[0]) / int(limit[1])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Pause the collector where many objects are made, as when runs or annotations are read.

    They are in use or freed at once, and looking through them for garbage again and again takes a
    quarter of the time or more.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
