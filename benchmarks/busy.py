"""A model on a busy machine: prompts per second beside so many programs that only count, with
threads that sleep soon where they wait (as seesay has them) and with threads that spin (OpenMP's
own default), in turn.

    python benchmarks/busy.py [--hogs 0,2,4] [--seconds 20] [--repeats 3]

With `h` such programs a fair share is `t / (t + h)` of the quiet machine's speed, `t` being the
threads; the ratio to it is printed. So are prompts per second of the processor, which say how much
of its time is lost in waiting, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from seesay.processors import SHORT_WAIT, count_processors

# what GNU's OpenMP does where nothing is said, as its manual states it
SETTINGS = {"sleeping": SHORT_WAIT, "spinning": {"GOMP_SPINCOUNT": "300000"}}

PROGRAM = """
import sys, time
import seesay
from seesay.runs.ask import distinct_prompts
model = seesay.load_model("smollm2")
prompts = list(distinct_prompts(seesay.load_task("core-size")).values())
batches = [[prompts[i] for i in places] for places in model.plan(prompts)]
model.answer(batches[0])
start = time.monotonic()
processor_start = time.process_time()
answered = 0
while time.monotonic() - start < float(sys.argv[1]):
    batch = batches.pop()
    model.answer(batch)
    answered += len(batch)
print(answered / (time.monotonic() - start), answered / (time.process_time() - processor_start))
"""


@contextmanager
def busy(hogs: int) -> Iterator[None]:
    """So many programs that do nothing but take a processor."""
    endless = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(endless) for _ in range(hogs)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def prompts_per_second(setting: str, seconds: float) -> tuple[float, float]:
    """By the clock, and by the processor."""
    ours = {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", *SHORT_WAIT}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= SETTINGS[setting]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seconds)],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    by_clock, by_processor = map(float, done.stdout.split())
    return by_clock, by_processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hogs", default="0,2,4")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    threads = count_processors()
    quiet: dict[str, float] = {}
    for hogs in map(int, given.hogs.split(",")):
        rates: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
        processor_rates: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
        with busy(hogs):
            for _ in range(given.repeats):
                for setting, measured in rates.items():
                    by_clock, by_processor = prompts_per_second(setting, given.seconds)
                    measured.append(by_clock)
                    processor_rates[setting].append(by_processor)
        for setting, measured in rates.items():
            rate = statistics.median(measured)
            # the first row is taken for the quiet machine
            fair = quiet.setdefault(setting, rate) * threads / (threads + hogs)
            spread = f"{min(measured):.1f} to {max(measured):.1f}"
            print(
                f"{hogs} hogs, {setting}: {rate:.1f} prompts/s ({spread}), "
                f"{rate / fair:.2f} of a fair share, "
                f"{statistics.median(processor_rates[setting]):.1f} per second of the processor"
            )
        ratio = statistics.median(rates["sleeping"]) / statistics.median(rates["spinning"])
        print(f"{hogs} hogs: {ratio:.2f} x")


if __name__ == "__main__":
    main()
