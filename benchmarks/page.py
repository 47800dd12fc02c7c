"""The page docs/benchmarks.md: every ratio with its peer, measured by one command on one machine, and how time grows.

    python benchmarks/page.py [--only NAME …] [--shared ../shared/data]

Each benchmark runs in a process of its own; what it printed is kept in a folder of the cache, so that the same command
resumes, and with `--only` measures some anew. A benchmark that cannot run here (no Java, no published data) is listed
with the reason.
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
class Ratio:
    """A ratio in what a benchmark prints: what is measured, beside whom, and the pattern of its number."""

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
    ratios: tuple[Ratio, ...] = ()
    growth: Growth | None = None

    @property
    def command(self) -> str:
        return " ".join(["python", f"benchmarks/{self.script}.py", *self.arguments])


BENCHMARKS = (
    Benchmark(
        "cloze",
        ("--data", "SHARED/memory_colors/memory_colors.jsonl", "--repeats", "1"),
        (
            Ratio("options of one token at the end", "lm-eval", r"(?s)end.*?lm-eval[^\n]*?([\d.]+) x"),
            Ratio("options of one token at the end", "minicons", r"(?s)end.*?minicons[^\n]*?([\d.]+) x"),
            Ratio("options in mid-sentence", "lm-eval", r"(?s)mid-sentence.*?lm-eval[^\n]*?([\d.]+) x"),
            Ratio("options in mid-sentence", "minicons", r"(?s)mid-sentence.*?minicons[^\n]*?([\d.]+) x"),
        ),
    ),
    Benchmark(
        "linear",
        ("--data", "SHARED/viphy"),
        (
            Ratio("linear probe, encoding included", "a loop that encodes in every epoch", r"\n([\d.]+) x; largest"),
            Ratio("linear layer alone", "scikit-learn's LogisticRegression", r"layer alone.*?([\d.]+) x"),
        ),
    ),
    Benchmark(
        "bootstrap",
        (),
        (
            Ratio("bootstrap of a mean, 10,000 questions", "SciPy", r"relaxed_accuracy, 10,000.*?([\d.]+)x"),
            Ratio("bootstrap of macro F1, 1,000 questions", "SciPy", r"macro_f1.*?([\d.]+)x"),
        ),
    ),
    Benchmark(
        "captions",
        ("--data", "SHARED/captions", "--sizes", "1014", "5000", "29000"),
        (
            Ratio("caption metrics, 1,014 images", "pycocoevalcap", r"1014 images.*? all [\d.|]+\|([\d.]+)x"),
            Ratio("caption metrics, 29,000 images", "pycocoevalcap", r"29000 images.*? all [\d.|]+\|([\d.]+)x"),
        ),
        Growth("images with captions", r"(\d+) images.*? all ([\d.]+)\|"),
    ),
    Benchmark(
        "mine",
        ("--images", "240000"),
        (Ratio("sizes and places, one process", "a plain loop with jenkspy", r"one process.*?([\d.]+)x"),),
    ),
    Benchmark(
        "scenes",
        ("4000",),
        (
            Ratio(
                "scenes with PNG, annotation, h5",
                "drawing and discarding",
                r"all formats, \d+ processes, 4,000\s+[\d.]+\s+[\d.]+\s+[\d,]+\s+([\d,]+)",
            ),
        ),
    ),
    Benchmark(
        "names",
        ("--data", "SHARED/captions", "--size", "40000"),
        (Ratio("names in captions", "a plain spaCy loop", r"ratio: ([\d.]+)"),),
    ),
    Benchmark(
        "probe_memory",
        ("10000", "30000", "100000"),
        growth=Growth("questions", r"([\d,]+) questions: .*?([\d.]+) s of the processor"),
    ),
    Benchmark("leaderboard", growth=Growth("runs on a site", r"site, (\d+) runs: .*?\(([\d.]+) s of the processor")),
    Benchmark("startup"),
)


def main() -> None:
    """Measure what has no output yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], choices=[b.script for b in BENCHMARKS], metavar="NAME")
    parser.add_argument("--shared", type=Path, default=HERE.parent.parent / "shared" / "data")
    options = parser.parse_args()
    outputs: dict[str, str] = {}
    for benchmark in BENCHMARKS:
        kept = cache_folder() / "benchmarks" / f"{benchmark.script}.txt"
        if not kept.is_file() or benchmark.script in options.only:
            print(f"== {benchmark.command}", flush=True)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(run(benchmark, options.shared), encoding="utf-8")
        outputs[benchmark.script] = kept.read_text(encoding="utf-8")
    PAGE.write_text(page(outputs), encoding="utf-8")
    print(PAGE)


def run(benchmark: Benchmark, shared: Path) -> str:
    """What a benchmark prints, under a line with its date."""
    words = [word.replace("SHARED", str(shared)) for word in benchmark.arguments]
    ended = subprocess.run(
        [sys.executable, f"{benchmark.script}.py", *words], cwd=HERE, capture_output=True, text=True, check=False
    )
    date = f"{datetime.now(UTC):%Y-%m-%d}, load {os.getloadavg()[1]:.1f}\n"
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"{date}could not be run: {reason}\n"
    return date + ended.stdout.replace(str(shared), "SHARED").strip() + "\n"


def page(outputs: dict[str, str]) -> str:
    """The page: ratios, growth, and what each benchmark printed."""
    rows = [
        f"| {ratio.what} | {ratio.peer} | {number(ratio.pattern, outputs[benchmark.script])} | "
        f"[{benchmark.script}](#{benchmark.script}) |"
        for benchmark in BENCHMARKS
        for ratio in benchmark.ratios
    ]
    sections = []
    for benchmark in BENCHMARKS:
        measured, _, printed = outputs[benchmark.script].partition("\n")
        sections += [f"### {benchmark.script}", f"`{benchmark.command}`, {measured}:", f"```\n{printed.strip()}\n```"]
    parts = [
        "# Benchmarks",
        "Made by `make bench`. Every ratio is that of two programs which do the same work in the same run, with equal "
        "results where a script says so: a ratio of 2 is half the peer's time. Times depend on the machine and on what "
        f"else it does (`load`); ratios less so. {os.cpu_count()} cores, Python {platform.python_version()}.",
        "## Beside other programs",
        "\n".join(["| what | peer | times as fast | script |", "|---|---|---:|---|", *rows]),
        "## How time grows",
        *grown(outputs),
        "## What they printed",
        "`SHARED` is a folder with the published data.",
        *sections,
    ]
    return "\n\n".join(parts) + "\n"


def number(pattern: str, output: str) -> str:
    """The number that a pattern finds in an output, or a dash."""
    match = re.search(pattern, output)
    return match[1] if match else "–"


def grown(outputs: dict[str, str]) -> list[str]:
    """For each benchmark of several sizes a chart, and the exponent between the least and the greatest."""
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
        parts.append(f"**{growth.unit.capitalize()}**, {sizes}: seconds grow with size^{exponent:.2f}.")
        parts.append(f"![Seconds by {growth.unit}](images/{image.name})")
    return parts


def chart(unit: str, points: Sequence[tuple[float, float]]) -> str:
    """Seconds over size, as a picture that stands by itself."""
    sizes, seconds = zip(*points, strict=True)
    drawn = lines(
        [Series("seesay", sizes, seconds)], title=f"Seconds by {unit}", x_label=unit, y_label="seconds", y_ends=(0,)
    )
    style = "".join(map(asset, STYLESHEETS))
    return str(drawn).replace(">", f"><style>{style}</style>", 1)


if __name__ == "__main__":
    main()
