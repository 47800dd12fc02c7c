"""Work on a busy machine: how fast it is beside programs that only count, as seesay has it (threads
sleep soon where they wait; tests have one thread each) and as it would be without (threads spin, as
those of OpenMP and OpenBLAS do by default), in turn.

    python benchmarks/busy.py [--work asking,training,comparing,tests] [--hogs 0,2,2@10]
        [--seconds 20] [--repeats 3]

asking: prompts of a model. training: items of FiLM's step. comparing: resamples of macro F1 by
NumPy. tests: those of `make test` in TESTS, by a worker for each core. `2@10` are two programs at a
niceness of 10. With `h` programs a fair share is `t / (t + w·h)` of the quiet machine's speed, `t`
being the cores and `w` the weight of such a program, which a step of niceness divides by 1.25.
Speed is by the clock, and but for tests by the processor too, which says how much of its time is
lost in waiting.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from seesay.processors import SHORT_WAIT, count_processors

HERE = Path(__file__).resolve().parent
TESTS = ("tests/training", "tests/scenes/reasoners/test_networks.py")

# what GNU's OpenMP does where nothing is said, as its manual states it
SPINNING = {"GOMP_SPINCOUNT": "300000"}
SETTINGS: dict[str, dict[str, Mapping[str, str]]] = {
    "sleeping": {
        "asking": SHORT_WAIT,
        "training": SHORT_WAIT,
        "comparing": SHORT_WAIT,
        "tests": {"OMP_NUM_THREADS": "1"},
    },
    "spinning": {
        "asking": SPINNING,
        "training": SPINNING,
        "comparing": {},
        "tests": SPINNING | {"OMP_NUM_THREADS": str(count_processors())},
    },
}
MEASURE = """
import sys, time
start = time.monotonic()
processor_start = time.process_time()
done = 0
while time.monotonic() - start < float(sys.argv[1]):
    done += some()
print(done / (time.monotonic() - start), done / (time.process_time() - processor_start))
"""
ASKING = """
import seesay
from seesay.runs.ask import distinct_prompts
model = seesay.load_model("smollm2")
prompts = list(distinct_prompts(seesay.load_task("core-size")).values())
order = [prompts[i] for places in model.plan(prompts) for i in places]
def some():
    # few at a time: with threads that spin, a whole batch may take a minute
    batch = [order.pop() for _ in range(8)]
    model.answer(batch)
    return len(batch)
some()
"""
TRAINING = """
from seesay.models.libraries import require_models
require_models()
import torch
torch.use_deterministic_algorithms(True)
torch.utils.deterministic.fill_uninitialized_memory = False
from training_steps import training
one = training("film", compiled=False)
one.step()
def some():
    one.step()
    return one.batches.size
"""
COMPARING = """
import numpy as np
from seesay.metrics import Resamples
from seesay.metrics.macro_f1 import macro_f1
stats = np.random.default_rng(0).integers(0, 2, (5, 600, 33)).astype(float)
draw = Resamples([str(row // 4) for row in range(600)])
draw.interval(stats, macro_f1)
def some():
    draw.interval(stats, macro_f1)
    return draw.resamples
"""
PROGRAMS = {"asking": ASKING, "training": TRAINING, "comparing": COMPARING}
UNITS = {"asking": "prompts", "training": "items", "comparing": "resamples", "tests": "tests"}


@contextmanager
def busy(hogs: int, niceness: int = 0) -> Iterator[None]:
    """So many programs that do nothing but take a processor."""
    endless = [sys.executable, "-c", f"import os; os.nice({niceness})\nwhile True: pass"]
    programs = [subprocess.Popen(endless) for _ in range(hogs)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def speed(work: str, setting: str, seconds: float) -> tuple[float, float | None]:
    """By the clock, and by the processor."""
    ours = {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", *SHORT_WAIT}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= SETTINGS[setting][work]
    if work == "tests":
        return tests_per_second(environment), None
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[work] + MEASURE, str(seconds)],
        cwd=HERE,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    by_clock, by_processor = map(float, done.stdout.split())
    return by_clock, by_processor


def tests_per_second(environment: Mapping[str, str]) -> float:
    """Of TESTS, starting the workers and collecting them included."""
    command = [sys.executable, "-m", "pytest", "-n", str(count_processors()), "--dist", "worksteal"]
    start = monotonic()
    done = subprocess.run(
        [*command, "-m", "not slow", "-p", "no:cacheprovider", *TESTS],
        cwd=HERE.parent,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed, done.stdout
    return int(passed[1]) / (monotonic() - start)


def by_the_processor(rates: list[float]) -> str:
    """What is said of the rate per second of the processor, where it was measured."""
    if not rates:
        return ""
    return f", {statistics.median(rates):.1f} per second of the processor"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", default=",".join(UNITS))
    parser.add_argument("--hogs", default="0,2,2@10")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    cores = count_processors()
    for work in given.work.split(","):
        # the first is taken for the quiet machine
        quiet: dict[str, float] = {}
        for load in given.hogs.split(","):
            hogs, niceness = map(int, f"{load}@0".split("@")[:2])
            rates: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
            by_processor: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
            with busy(hogs, niceness):
                for _ in range(given.repeats):
                    for setting, measured in rates.items():
                        by_clock, of_processor = speed(work, setting, given.seconds)
                        measured.append(by_clock)
                        by_processor[setting] += [of_processor] if of_processor else []
            name = f"{work}, {hogs} hogs" + f" at niceness {niceness}" * bool(niceness)
            for setting, measured in rates.items():
                rate = statistics.median(measured)
                fair = cores / (cores + hogs / 1.25**niceness)
                share = rate / (quiet.setdefault(setting, rate) * fair)
                spread = f"{min(measured):.2f} to {max(measured):.2f}"
                print(
                    f"{name}, {setting}: {rate:.2f} {UNITS[work]}/s ({spread}), "
                    f"{share:.2f} of a fair share"
                    f"{by_the_processor(by_processor[setting])}"
                )
            ratio = statistics.median(rates["sleeping"]) / statistics.median(rates["spinning"])
            print(f"{name}: {ratio:.2f} x", flush=True)


if __name__ == "__main__":
    main()
