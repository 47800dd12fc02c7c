"""Parts are processed by real workers, which may die: on this machine and on a Ray cluster."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from benchmarks.mine import write_parts
from tests.mining.sample_annotations import write_annotations
from tests.mining.test_mining_shards import BOXES, contents
from tests.random_kills import RandomKiller, worker_processes
from tests.touch import PARTS, Touch

from seesay.cluster import WorkerPool, map_parts
from seesay.errors import UserError
from seesay.mining.count_relations import CountingConfig
from seesay.mining.pipeline import mine
from seesay.mining.region_names import NameRules


def run(folder: Path, workers: int, engine: str = "local", **options: str) -> list[str]:
    """Run the parts; those that were finished, in alphabetical order."""
    results = dict(map_parts(partial(Touch, folder, **options), PARTS, workers, engine=engine))
    assert results == {part: f"result of {part}" for part in results}
    assert all((folder / part).exists() for part in results)
    return sorted(results)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_part_is_done_and_each_worker_is_made_once(tmp_path: Path, workers: int) -> None:
    assert run(tmp_path, workers) == PARTS
    assert 1 <= len(list(tmp_path.glob("created-*"))) <= workers
    pids = {(tmp_path / f"begun-{part}").read_text() for part in PARTS}
    assert (str(os.getpid()) in pids) == (workers == 1)
    assert list(map_parts(partial(Touch, tmp_path / "no such folder"), [], workers)) == []


@pytest.mark.seconds
def test_a_user_error_is_passed_on_and_a_failure_keeps_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^This part is bad: fix it\.$"):
        run(tmp_path, 2, fail="part-3")
    with pytest.raises(KeyError, match="part-3") as raised:
        run(tmp_path, 2, fail="bug in part-3")
    assert "in __call__" in str(raised.value.__cause__)
    with pytest.raises(FileNotFoundError):
        run(tmp_path / "no such folder", 2)
    with pytest.raises(UserError, match="Unknown engine 'spark'"):
        run(tmp_path, 2, engine="spark")


def test_a_killed_worker_here_costs_only_its_part(tmp_path: Path) -> None:
    with killed_when_begun(tmp_path, "part-2"):
        assert run(tmp_path, 2, slow="part-2") == PARTS
    assert (tmp_path / "killed").exists()


@pytest.mark.seconds
def test_a_part_that_kills_every_worker_is_given_up_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"^1 of 6 parts could not be finished because workers died \(.*resume\.$"
    ):
        run(tmp_path, 2, deadly="part-5")
    assert [part for part in PARTS if (tmp_path / part).exists()] == PARTS[:5]


@pytest.mark.seconds
@pytest.mark.parametrize("seed", range(3))
def test_workers_that_are_killed_at_random_cost_no_part(tmp_path: Path, seed: int) -> None:
    """Idle ones, too: a pool that broke meanwhile takes no more parts."""
    killer = RandomKiller(seed)
    results = []
    for part, _ in map_parts(partial(Touch, tmp_path), PARTS, 2):
        results.append(part)
        killer(1, len(PARTS))
    assert killer.killed
    assert sorted(results) == PARTS


@pytest.mark.seconds
def test_a_worker_that_died_while_it_was_idle_is_replaced(tmp_path: Path) -> None:
    pool = WorkerPool(partial(Touch, tmp_path), 1)
    try:
        assert [part for part, _ in pool.map(PARTS[:1])] == PARTS[:1]
        (pid,) = worker_processes()
        os.kill(pid, signal.SIGKILL)
        while worker_processes():
            time.sleep(0.05)
        # the part that it was given is done again, after the others
        assert sorted(part for part, _ in pool.map(PARTS[1:])) == PARTS[1:]
    finally:
        pool.close()


ORPHANS = """
import sys
from functools import partial
from pathlib import Path
from seesay.cluster import map_parts
from tests.touch import PARTS, Touch

if __name__ == "__main__":
    list(map_parts(partial(Touch, Path(sys.argv[1]), slow="part-0"), PARTS, 2))
"""


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(ORPHANS)
    begun = tmp_path / "begun-part-0"
    with subprocess.Popen([sys.executable, program, tmp_path]) as parent:
        while parent.poll() is None and not (begun.exists() and begun.read_text()):
            time.sleep(0.05)
        parent.kill()
    for _ in range(200):
        if not Path(f"/proc/{begun.read_text()}").exists():
            return
        time.sleep(0.05)
    pytest.fail("a worker outlives its parent")


def run_program(program: str, folder: Path) -> str:
    """Run Python code that imports from these tests in a process of its own; what it prints."""
    ended = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


RAY = """
import sys
from pathlib import Path
from seesay.mining import count_relations, write_knowledge
from seesay.mining.facts import Thresholds
from tests.test_cluster import KilledOnce, killed_when_begun

folder = Path(sys.argv[1])
parts = sorted((folder / "parts").glob("*.parquet"))
count_relations.PartCounter = KilledOnce
config = count_relations.CountingConfig()
with killed_when_begun(folder / "ray", parts[2].stem):
    counts = count_relations.count_parts(parts, folder / "ray", config, engine="ray", workers=2)
write_knowledge.write_facts(folder / "ray", counts, Thresholds(2, 2, 1), workers=2)
"""


@pytest.mark.slow
def test_ray_with_a_killed_worker_gives_the_same_counts(tmp_path: Path) -> None:
    from seesay.mining import count_relations
    from seesay.mining.facts import Thresholds
    from seesay.mining.write_knowledge import write_facts

    parts = write_parts(tmp_path / "parts", 1_200, 200)
    counts = count_relations.count_parts(
        parts, tmp_path / "here", count_relations.CountingConfig(), workers=1
    )
    assert write_facts(tmp_path / "here", counts, Thresholds(2, 2, 1))[0]["places"] > 1000
    (tmp_path / "ray").mkdir()
    run_program(RAY, tmp_path)
    assert (tmp_path / "ray/killed").exists()
    assert len(set((tmp_path / "ray").glob("begun-*"))) == len(parts)
    tables = [table.name for kind_tables in counts.tables.values() for table in kind_tables]
    assert len(tables) == 3 * len(parts)
    for name in (*tables, "sizes.parquet", "places.parquet"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
@pytest.mark.parametrize("seed", range(2))
def test_mining_with_workers_that_are_killed_at_random_gives_the_same_bytes(
    seed: int, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 15 by default: on a busy machine they would hardly run
    monkeypatch.setenv("RAY_worker_niceness", "0")
    annotations = write_annotations(tmp_path / "annotations", 60)["parquet"]
    mine(annotations, tmp_path / "here", **BOXES)
    killer = RandomKiller(seed)
    on_two = {**BOXES, "engine": engine, "workers": 2, "progress": killer.bars}
    try:
        mine(annotations, tmp_path / "there", **on_two)
    finally:
        if engine == "ray":
            importlib.import_module("ray").shutdown()
    assert killer.killed
    # what a process that was killed while it wrote leaves beside the file, which stays whole
    for unfinished in (tmp_path / "there").rglob(".*.unfinished"):
        unfinished.unlink()
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


SHORT_OF_MEMORY = """
import sys
from functools import partial
from pathlib import Path
from seesay.cluster import map_parts
from seesay.errors import UserError
from tests.touch import Touch

if __name__ == "__main__":
    try:
        list(map_parts(partial(Touch, Path(sys.argv[1]), slow="a"), "ab", 2, engine="ray"))
    except UserError as error:
        print(error)
"""


@pytest.mark.slow
def test_workers_that_ray_kills_for_memory_are_named_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory counts as short from one hundredth of it on, so that every worker is killed."""
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.01")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    (line, *_) = run_program(SHORT_OF_MEMORY, tmp_path).splitlines()
    assert "of 2 parts could not be finished because workers died" in line
    assert "low on memory" in line


BESIDE_RAY = """
import os, sys
from functools import partial
from pathlib import Path
import ray
from seesay.cluster import map_parts
from seesay.errors import UserError
from tests.touch import Touch

if __name__ == "__main__":
    ray.init(num_cpus=1, log_to_driver=False)
    os.chdir(sys.argv[1])
    for engine, parts in (("local", ["a", "b"]), ("ray", ["c", "d"])):
        print(sorted(dict(map_parts(partial(Touch, Path()), parts, 2, engine=engine))))
    try:
        list(map_parts(partial(Touch, Path(), fail="e"), ["e"], engine="ray"))
    except UserError as error:
        print(error)
"""


@pytest.mark.slow
def test_work_here_and_on_ray_in_a_process_that_uses_ray(tmp_path: Path) -> None:
    """Ray's processes are in another folder, and find relative paths nevertheless."""
    folder = tmp_path / "here"
    folder.mkdir()
    printed = run_program(BESIDE_RAY, folder)
    assert printed.splitlines() == ["['a', 'b']", "['c', 'd']", "This part is bad: fix it."]
    assert [(folder / part).exists() for part in "abcde"] == [True, True, True, True, False]
    assert list(tmp_path.iterdir()) == [folder], (
        "workers wrote to the folder that Ray was started in"
    )


def KilledOnce(folder: Path, config: CountingConfig, names: NameRules) -> Callable[[Path], None]:  # noqa: N802
    """The real worker, but the third part waits to be killed."""
    from seesay.mining.count_relations import PartCounter

    real = PartCounter(folder, config, names)

    def work(part: Path) -> None:
        begun = folder / f"begun-{part.stem}"
        first = not begun.exists()
        begun.write_text(str(os.getpid()))
        if first and part.stem.endswith("2"):
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
