from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from seesay.processors import SHORT_WAIT, amd_family, count_processors, share_processors

BOUND = len(os.sched_getaffinity(0))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("limit", "processors"),
    [
        ("max 100000", BOUND),
        ("100000 100000", 1),
        ("50000 100000", 1),  # half a processor is one thread
        ("100000 0", BOUND),
        ("nonsense", BOUND),
        (f"{BOUND + 7}00000 100000", BOUND),
    ],
)
def test_the_quota_of_a_container(tmp_path: Path, limit: str, processors: int) -> None:
    write(tmp_path / "cpu.max", limit)
    assert count_processors(tmp_path, tmp_path / "absent") == processors


def test_the_quota_of_a_group_above(tmp_path: Path) -> None:
    """A pod's limit stands above the group of its container."""
    write(tmp_path / "own", "0::/pod/container\n")
    write(tmp_path / "pod" / "cpu.max", "100000 100000")
    write(tmp_path / "pod" / "container" / "cpu.max", "max 100000")
    assert count_processors(tmp_path, tmp_path / "own") == 1


@pytest.mark.parametrize(("quota", "processors"), [("-1", BOUND), ("100000", 1)])
def test_the_first_version_of_control_groups(tmp_path: Path, quota: str, processors: int) -> None:
    write(tmp_path / "cpu" / "cpu.cfs_quota_us", quota)
    write(tmp_path / "cpu" / "cpu.cfs_period_us", "100000\n")
    assert count_processors(tmp_path, tmp_path / "absent") == processors


def test_what_the_user_has_set_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KMP_BLOCKTIME", "7")
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    share_processors()
    assert os.environ["KMP_BLOCKTIME"] == "7"
    assert os.environ["GOMP_SPINCOUNT"] == SHORT_WAIT["GOMP_SPINCOUNT"]
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    share_processors()
    assert "GOMP_SPINCOUNT" not in os.environ


def test_threads_know_before_pytorch_is_imported() -> None:
    """GNU's OpenMP reads its environment when it is loaded, and says what it read."""
    pytest.importorskip("torch")
    code = "from seesay.models.libraries import require_models; require_models()"
    environment = {name: value for name, value in os.environ.items() if name not in SHORT_WAIT}
    environment["OMP_DISPLAY_ENV"] = "verbose"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("this PyTorch does not compute on GNU's OpenMP")
    assert "GOMP_SPINCOUNT = '1000'" in done.stderr


def test_commands_tell_numpys_threads_before_it_is_imported() -> None:
    code = "import sys, seesay.cli; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\n\nprocessor\t: 1\n", 26),
        ("vendor_id\t: GenuineIntel\ncpu family\t: 6\n", 0),
        ("vendor_id\t: AuthenticAMD\n", 0),
        ("BogoMIPS\t: 50.00\n", 0),  # as on ARM
    ],
)
def test_the_family_of_a_processor(tmp_path: Path, text: str, family: int) -> None:
    write(tmp_path / "cpuinfo", text)
    assert amd_family(tmp_path / "cpuinfo") == family


def test_no_list_of_processors(tmp_path: Path) -> None:
    assert amd_family(tmp_path / "absent") == 0


FAULTS = """
import resource, sys
import numpy as np
from seesay.processors import keep_freed_memory
if sys.argv[1:]:
    keep_freed_memory()
def work():
    blocks = [np.ones(20_000_000, np.uint8) for _ in range(3)]
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs GNU's C library")
def test_freed_memory_is_used_again() -> None:
    """The system counts the pages that it had to give anew."""

    def faults(*arguments: str) -> int:
        command = [sys.executable, "-c", FAULTS, *arguments]
        return int(subprocess.run(command, capture_output=True, check=True).stdout)

    # fewer than there are pages, where the system gives large ones
    plainly = faults()
    assert plainly > 1_000
    assert faults("keep") < plainly / 10
