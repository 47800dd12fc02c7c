"""Parts are processed by real workers, which may die: on this machine and on a Ray cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.mining import engine
from seesay.mining.count_relations import CountingConfig
from seesay.mining.region_names import NameRules
from seesay.mining.spill import SpilledCounts

PARTS = [f"part-{i}" for i in range(6)]


class Touch:
    """Writes a part's file and the process that began it; one part waits a while, so that it can be killed."""

    def __init__(self, folder: Path, slow: str = "", fail: str = "") -> None:
        self._folder, self._slow, self._fail = folder, slow, fail
        (folder / f"created-{os.getpid()}-{time.time_ns()}").touch()

    def __call__(self, part: str) -> None:
        if part == self._fail:
            raise UserError("This part is bad: fix it.")
        if self._fail == f"bug in {part}":
            raise KeyError(part)
        begun = self._folder / f"begun-{part}"
        first = not begun.exists()
        begun.write_text(str(os.getpid()))
        if first and part == self._slow:
            time.sleep(60)
        (self._folder / part).touch()


def done(folder: Path, part: str) -> bool:
    return (folder / part).exists()


def run(folder: Path, workers: int, **options: str) -> list[str]:
    """Run the parts here; the parts that were reported."""
    reported: list[str] = []
    engine.run(
        PARTS, partial(Touch, folder, **options), partial(done, folder), workers=workers, finished=reported.append
    )
    return reported


@pytest.mark.parametrize("workers", [1, 2])
def test_every_part_is_done_and_each_worker_creates_its_task_once(tmp_path: Path, workers: int) -> None:
    (tmp_path / PARTS[0]).touch()  # done before
    assert sorted(run(tmp_path, workers)) == PARTS[1:]
    assert all(done(tmp_path, part) for part in PARTS)
    assert not (tmp_path / f"begun-{PARTS[0]}").exists()
    assert len(list(tmp_path.glob("created-*"))) == workers
    assert run(tmp_path, workers) == []


def test_a_user_error_is_passed_on_and_a_failure_keeps_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^This part is bad: fix it\.$"):
        run(tmp_path, 2, fail="part-3")
    with pytest.raises(engine.PartFailedError, match=r"(?s)Traceback.*KeyError: 'part-3'"):
        run(tmp_path, 1, fail="bug in part-3")
    with pytest.raises(UserError, match="Unknown engine 'spark'"):
        engine.run(PARTS, partial(Touch, tmp_path), partial(done, tmp_path), engine="spark")


def test_a_killed_worker_here_costs_only_its_part(tmp_path: Path) -> None:
    with killed_when_begun(tmp_path, "part-2"):
        run(tmp_path, 2, slow="part-2")
    assert all(done(tmp_path, part) for part in PARTS)


def run_program(program: str, folder: Path) -> str:
    """Run Python code that imports from these tests in a process of its own; what it prints."""
    ended = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


RAY = """
import sys
from functools import partial
from pathlib import Path
from seesay.mining import count_relations, write_knowledge
from seesay.mining.facts import Thresholds
from tests.mining.test_engine import KilledOnce, killed_when_begun

folder = Path(sys.argv[1])
parts = sorted((folder / "parts").glob("*.parquet"))
count_relations.PartCounter = KilledOnce
write_knowledge.MERGED_HERE = 0
config = count_relations.CountingConfig()
with killed_when_begun(folder / "ray", parts[2].stem):
    counts = count_relations.count_parts(parts, folder / "ray", config, engine="ray", workers=2)
write_knowledge.write_facts(folder / "ray", counts, Thresholds(2, 2, 1), engine="ray", workers=2)
"""


@pytest.mark.slow
def test_ray_with_a_killed_worker_gives_the_same_counts(tmp_path: Path) -> None:
    from benchmarks.mine import write_parts

    from seesay.mining import count_relations
    from seesay.mining.facts import Thresholds
    from seesay.mining.write_knowledge import write_facts

    parts = write_parts(tmp_path / "parts", 1_200, 200)
    counts = count_relations.count_parts(parts, tmp_path / "here", count_relations.CountingConfig(), workers=1)
    assert write_facts(tmp_path / "here", counts, Thresholds(2, 2, 1))[0]["places"] > 1000
    (tmp_path / "ray").mkdir()
    run_program(RAY, tmp_path)
    assert (tmp_path / "ray/killed").exists()
    assert len(set((tmp_path / "ray").glob("begun-*"))) == len(parts)
    for part in parts:
        names = sorted(path.name for path in (tmp_path / "here").glob(f"{part.stem}.*.arrow"))
        assert len(names) == 2 * len(count_relations.LABELS)
        for name in names:
            assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    for name in ("sizes.parquet", "places.parquet"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


BESIDE_RAY = """
import os, sys
from functools import partial
from pathlib import Path
import ray
from seesay.errors import UserError
from seesay.mining import engine
from tests.mining.test_engine import Touch, done

ray.init(num_cpus=1, log_to_driver=False)
os.chdir(sys.argv[1])
engine.run(["a", "b"], partial(Touch, Path()), partial(done, Path()), workers=2)
try:
    engine.run(["c"], partial(Touch, Path()), partial(done, Path()), engine="ray")
except UserError as error:
    print(error)
"""


@pytest.mark.slow
def test_mining_here_in_a_process_that_uses_ray(tmp_path: Path) -> None:
    """Daft would take that Ray, whose workers are in another folder, and it cannot change to it afterwards."""
    folder = tmp_path / "here"
    folder.mkdir()
    printed = run_program(BESIDE_RAY, folder)
    assert [done(folder, part) for part in "abc"] == [True, True, False]
    assert list(tmp_path.iterdir()) == [folder], "workers wrote to the folder that Ray was started in"
    assert "has mined without Ray before" in printed


def KilledOnce(  # noqa: N802
    parts: Mapping[str, str],
    spilled: Mapping[str, SpilledCounts],
    folder: Path,
    config: CountingConfig,
    names: NameRules,
) -> engine.PartTask:
    """The real task, but the third part waits to be killed."""
    from seesay.mining.count_relations import PartCounter

    real = PartCounter(parts, spilled, folder, config, names)

    def work(part: str) -> None:
        begun = folder / f"begun-{part}"
        first = not begun.exists()
        begun.write_text(str(os.getpid()))
        if first and part.endswith("2"):
            time.sleep(60)
        real(part)

    return work


@contextmanager
def killed_when_begun(folder: Path, part: str) -> Iterator[None]:
    """Within the block, kill the process that begins a part, once, as soon as it says so."""
    left = threading.Event()

    def watch() -> None:
        begun = folder / f"begun-{part}"
        while not begun.exists() or not begun.read_text():
            if left.wait(0.05):
                return
        pid = int(begun.read_text())
        assert pid != os.getpid()
        os.kill(pid, signal.SIGKILL)
        (folder / "killed").touch()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        watcher.join()
