"""The page docs/benchmarks.md: every ratio with its peer, measured by one command on one machine,
and how time grows.

    python benchmarks/page.py [--only NAME …] [--before CHECKOUT] [--shared ../shared/data]

Each benchmark runs in a process of its own; what it printed is kept in a folder of the cache, so
that the same command resumes, and with `--only` measures some anew. A benchmark that cannot run
here (no Java, no published data) is listed with the reason. `--before`: an earlier checkout of
seesay, whose scripts and sources are measured too (today's scripts with its sources where it had
none), right after each of this one.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from seesay.folders import cache_folder
from seesay.reports.charts.lines import Series, lines
from seesay.reports.layout import STYLESHEETS, asset

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
IMAGES = PAGE.parent / "images"


@dataclass(frozen=True)
class Figure:
    """A ratio in what a benchmark prints: what is measured, beside whom, and the pattern of its
    number.

    Without a peer it is in seconds.
    """

    what: str
    peer: str
    pattern: str


@dataclass(frozen=True)
class Growth:
    """Sizes and seconds in what a benchmark prints: the pattern of one pair."""

    unit: str
    pattern: str


@dataclass(frozen=True)
class Benchmark:
    """A script with its arguments; SHARED stands for the folder of published data."""

    script: str
    arguments: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    growth: Growth | None = None

    @property
    def command(self) -> str:
        return " ".join(["python", f"benchmarks/{self.script}.py", *self.arguments])


BENCHMARKS = (
    Benchmark(
        "cloze",
        ("--data", "SHARED/memory_colors/memory_colors.jsonl", "--repeats", "1"),
        (
            Figure(
                "options of one token at the end", "lm-eval", r"(?s)end.*?lm-eval[^\n]*?([\d.]+) x"
            ),
            Figure(
                "options of one token at the end",
                "minicons",
                r"(?s)end.*?minicons[^\n]*?([\d.]+) x",
            ),
            Figure(
                "options in mid-sentence", "lm-eval", r"(?s)mid-sentence.*?lm-eval[^\n]*?([\d.]+) x"
            ),
            Figure(
                "options in mid-sentence",
                "minicons",
                r"(?s)mid-sentence.*?minicons[^\n]*?([\d.]+) x",
            ),
        ),
    ),
    Benchmark(
        "linear",
        ("--data", "SHARED/viphy"),
        (
            Figure(
                "linear probe, encoding included",
                "a loop that encodes in every epoch",
                r"\n([\d.]+) x; largest",
            ),
            Figure(
                "linear layer alone",
                "scikit-learn's LogisticRegression",
                r"layer alone.*?([\d.]+) x",
            ),
        ),
    ),
    Benchmark(
        "bootstrap",
        (),
        (
            Figure(
                "bootstrap of a mean, 10,000 questions",
                "SciPy",
                r"relaxed_accuracy, 10,000.*?([\d.]+)x",
            ),
            Figure("bootstrap of macro F1, 1,000 questions", "SciPy", r"macro_f1.*?([\d.]+)x"),
        ),
    ),
    Benchmark(
        "captions",
        ("--data", "SHARED/captions", "--sizes", "1014", "5000", "29000"),
        (
            Figure(
                "caption metrics, 1,014 images",
                "pycocoevalcap",
                r"1014 images.*? all [\d.|]+\|([\d.]+)x",
            ),
            Figure(
                "caption metrics, 29,000 images",
                "pycocoevalcap",
                r"29000 images.*? all [\d.|]+\|([\d.]+)x",
            ),
        ),
        Growth("images with captions", r"(\d+) images.*? all ([\d.]+)\|"),
    ),
    Benchmark(
        "mine",
        ("--images", "60000", "240000", "1000000"),
        (
            Figure(
                "sizes and places, one process",
                "a plain loop with jenkspy",
                r"one process.*?([\d.]+)x",
            ),
        ),
        Growth(
            "pictures mined",
            r"(?s)([\d,]+) pictures in \d+ parts.*?parts to knowledge\s+([\d.]+) s",
        ),
    ),
    Benchmark(
        "scenes",
        ("4000",),
        (
            Figure(
                "scenes with PNG, annotation, h5",
                "drawing and discarding",
                r"all formats, \d+ processes, 4,000\s+[\d.]+\s+[\d.]+\s+[\d,]+\s+([\d,]+)",
            ),
        ),
    ),
    Benchmark(
        "names",
        ("--data", "SHARED/captions", "--size", "40000"),
        (Figure("names in captions", "a plain spaCy loop", r"ratio: ([\d.]+)"),),
    ),
    Benchmark(
        "probe_memory",
        ("10000", "30000", "100000"),
        (
            Figure(
                "probe of 100,000 questions, processor",
                "",
                r" 100,000 questions: .*?([\d.]+) s of the",
            ),
        ),
        Growth("questions", r"([\d,]+) questions: .*?([\d.]+) s of the processor"),
    ),
    Benchmark(
        "leaderboard",
        (),
        (
            Figure("compare of 30 runs, processor", "", r"compare, 30 .*?\(([\d.]+) s of the"),
            Figure("report of 100 runs, processor", "", r"report, 100 .*?\(([\d.]+) s of the"),
        ),
        Growth("runs on a site", r"site, (\d+) runs: .*?\(([\d.]+) s of the processor"),
    ),
    Benchmark(
        "startup", (), (Figure("loading SmolLM2, processor", "", r"load smollm2 +([\d.]+) s"),)
    ),
)


def main() -> None:
    """Measure what has no output yet, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="*", default=[], choices=[b.script for b in BENCHMARKS], metavar="NAME"
    )
    parser.add_argument("--shared", type=Path, default=HERE.parent.parent / "shared" / "data")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    options = parser.parse_args()
    checkouts = {"": HERE.parent} | (
        {"before": options.before.resolve(strict=True)} if options.before else {}
    )
    outputs: dict[str, dict[str, str]] = {name: {} for name in checkouts}
    for benchmark in BENCHMARKS:
        for name, checkout in checkouts.items():
            kept = cache_folder() / "benchmarks" / name / f"{benchmark.script}.txt"
            if not kept.is_file() or benchmark.script in options.only:
                print(f"== {name} {benchmark.command}", flush=True)
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(run(benchmark, options.shared, checkout), encoding="utf-8")
            outputs[name][benchmark.script] = kept.read_text(encoding="utf-8")
    commit = revision(options.before) if options.before else ""
    PAGE.write_text(page(outputs[""], outputs.get("before", {}), commit), encoding="utf-8")
    print(PAGE)


def revision(checkout: Path) -> str:
    """The commit of a checkout and its date."""
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%h of %as"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def run(benchmark: Benchmark, shared: Path, checkout: Path) -> str:
    """What a benchmark of a checkout prints, under a line with its date."""
    words = [word.replace("SHARED", str(shared)) for word in benchmark.arguments]
    script = checkout / "benchmarks" / f"{benchmark.script}.py"
    folder = script.parent if script.is_file() else HERE
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    ended = subprocess.run(
        [sys.executable, script.name, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    date = f"{datetime.now(UTC):%Y-%m-%d}, load {os.getloadavg()[1]:.1f}\n"
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"{date}could not be run: {reason}\n"
    return date + ended.stdout.replace(str(shared), "SHARED").strip() + "\n"


def page(outputs: dict[str, str], before: dict[str, str], commit: str = "") -> str:
    """The page: ratios and seconds, beside those of an earlier checkout, growth, and what each
    benchmark printed."""
    sections = []
    for benchmark in BENCHMARKS:
        measured, _, printed = outputs[benchmark.script].partition("\n")
        sections += [
            f"### {benchmark.script}",
            f"`{benchmark.command}`, {measured}:",
            f"```\n{printed.strip()}\n```",
        ]
    parts = [
        "# Benchmarks",
        "Made by `make bench`. Every ratio is that of two programs which do the same work in the "
        "same run, with equal "
        "results where a script says so: a ratio of 2 is half the peer's time. Times depend on the "
        "machine and on what "
        f"else it does (`load`); ratios less so. {os.cpu_count()} cores, Python "
        f"{platform.python_version()}."
        + (f" *before*: commit {commit}, measured in turn with the present one." if commit else ""),
        "## Beside other programs",
        table("times as fast", [outputs, before], with_peer=True),
        "## Seconds",
        table("seconds", [outputs, before], with_peer=False),
        "## How time grows",
        *grown(outputs),
        "## What they printed",
        "`SHARED` is a folder with the published data.",
        *sections,
    ]
    return "\n\n".join(parts) + "\n"


def table(unit: str, outputs: Sequence[dict[str, str]], *, with_peer: bool) -> str:
    """Ratios to peers, or seconds, in a column for each checkout that was measured."""
    measured = [output for output in outputs if output]
    head = ["what", *["peer"] * with_peer, unit, *["before"] * (len(measured) - 1), "script"]
    rows = [head, ["---:" if name in (unit, "before") else "---" for name in head]]
    for benchmark in BENCHMARKS:
        for figure in benchmark.figures:
            if bool(figure.peer) == with_peer:
                numbers = [number(figure.pattern, output[benchmark.script]) for output in measured]
                peer = [figure.peer] * with_peer
                rows.append(
                    [figure.what, *peer, *numbers, f"[{benchmark.script}](#{benchmark.script})"]
                )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def number(pattern: str, output: str) -> str:
    """The number that a pattern finds in an output, or a dash."""
    match = re.search(pattern, output)
    return match[1] if match else "–"


def grown(outputs: dict[str, str]) -> list[str]:
    """For each benchmark of several sizes a chart, and the exponent between the least and the
    greatest."""
    parts = []
    for benchmark in BENCHMARKS:
        if (growth := benchmark.growth) is None:
            continue
        points = [
            (float(size.replace(",", "")), float(seconds))
            for size, seconds in re.findall(growth.pattern, outputs[benchmark.script])
        ]
        if len(points) < 2:
            continue
        exponent = math.log(points[-1][1] / points[0][1]) / math.log(points[-1][0] / points[0][0])
        image = IMAGES / f"growth-{benchmark.script}.svg"
        image.write_text(chart(growth.unit, points), encoding="utf-8")
        sizes = " to ".join(f"{points[i][0]:,.0f}" for i in (0, -1))
        parts.append(
            f"**{growth.unit.capitalize()}**, {sizes}: seconds grow with size^{exponent:.2f}."
        )
        parts.append(f"![Seconds by {growth.unit}](images/{image.name})")
    return parts


def chart(unit: str, points: Sequence[tuple[float, float]]) -> str:
    """Seconds over size, as a picture that stands by itself."""
    sizes, seconds = zip(*points, strict=True)
    drawn = lines(
        [Series("seesay", sizes, seconds)],
        title=f"Seconds by {unit}",
        x_label=unit,
        y_label="seconds",
        y_ends=(0,),
    )
    style = "".join(map(asset, STYLESHEETS))
    return str(drawn).replace(">", f"><style>{style}</style>", 1)


if __name__ == "__main__":
    main()
