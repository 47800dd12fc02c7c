"""The page docs/benchmarks.md: every ratio with its peer, measured by one command on one machine,
and how time grows.

    python -m benchmarks.page [--only NAME …] [--full] [--loaded] [--minutes 10] [--repeats 3]
        [--before REVISION] [--shared ../shared/data]

Each benchmark runs in a process of its own, several times, but after so many minutes none again;
what it printed is kept in a folder of the cache, so that the same command resumes, and with
`--only` measures some anew. Sizes are small; `--full` takes the large ones too. A benchmark that
cannot run here (no Java, no published data) is listed with the reason. `--before`: a tag, a commit
or another checkout of seesay, by default the last tag if there is one. Its scripts and sources are
measured too (today's scripts with its sources where it had none, or none for this), right after
each of this one. `--loaded`: what people wait for, beside two programs that only count; the page
shows it below.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from benchmarks.busy import busy

from seesay.files import atomic_folder
from seesay.folders import cache_folder
from seesay.reports.charts.lines import Series, lines
from seesay.reports.layout import STYLESHEETS, asset

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
IMAGES = PAGE.parent / "images"
CACHE = cache_folder() / "benchmarks"
DESCRIBED = "--format=%h of %as"
HOGS = 2
QUIET, LOADED = "quiet", "loaded"

Outputs = dict[str, list[str]]
"""What each benchmark printed, repeat by repeat."""


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
    """A script with its arguments and those that `--full` adds; SHARED stands for the folder of
    published data, RUNS for one that the repeats of a checkout share."""

    script: str
    arguments: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    growth: Growth | None = None
    more: tuple[str, ...] = ()
    loaded: bool = False
    """Whether it is measured beside other programs, too."""
    alone: bool = False
    """Whether it says itself what was before: other checkouts are not measured."""

    def words(self, *, full: bool) -> tuple[str, ...]:
        """All arguments."""
        return (*self.arguments, *self.more) if full else self.arguments


BENCHMARKS = (
    Benchmark(
        "cloze",
        ("--data", "SHARED/memory_colors/memory_colors.jsonl", "--repeats", "1", "--objects", "20"),
        (
            Figure("20 objects, options of one token", "", r"(?s)end:.*?seesay +([\d.]+) s"),
            Figure("20 objects, mid-sentence", "", r"(?s)mid-sentence:.*?seesay +([\d.]+) s"),
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
        loaded=True,
    ),
    Benchmark(
        "peak",
        ("--prompts", "24", "--rounds", "2"),
        tuple(
            Figure(
                f"{task}, SmolLM2 in float32, processor",
                "PyTorch's own product of matrices",
                rf"{task} +packed +[\d.]+ +([\d.]+)",
            )
            for task in ("core-color", "core-size", "core-space", "core-parts")
        ),
        loaded=True,
        alone=True,
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
        ("--data", "SHARED/captions", "--sizes", "1014", "5000"),
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
        more=("29000",),
    ),
    Benchmark(
        "mine",
        ("--images", "60000", "240000"),
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
        more=("1000000",),
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
        ("10000", "30000"),
        (
            Figure(
                "probe of 30,000 questions, processor",
                "",
                r" 30,000 questions: .*?([\d.]+) s of the",
            ),
            Figure(
                "probe of 100,000 questions, processor",
                "",
                r" 100,000 questions: .*?([\d.]+) s of the",
            ),
        ),
        Growth("questions", r"([\d,]+) questions: .*?([\d.]+) s of the processor"),
        more=("100000",),
    ),
    Benchmark(
        "leaderboard",
        ("RUNS",),
        (
            Figure("compare of 30 runs, processor", "", r"compare, 30 .*?\(([\d.]+) s of the"),
            Figure("report of 100 runs, processor", "", r"report, 100 .*?\(([\d.]+) s of the"),
            Figure("report of 100 runs, clock", "", r"report, 100 runs: ([\d.]+) s"),
            Figure("site of 200 runs, processor", "", r"site, 200 .*?\(([\d.]+) s of the"),
            Figure("site of 200 runs, clock", "", r"site, 200 runs: ([\d.]+) s"),
        ),
        Growth("runs on a site", r"site, (\d+) runs: .*?\(([\d.]+) s of the processor"),
        loaded=True,
    ),
    Benchmark(
        "startup",
        ("--repeats", "1", "--first-table"),
        (
            Figure("first table of `make demo`, clock", "", r"first table: ([\d.]+) s"),
            Figure("loading SmolLM2, processor", "", r"load smollm2 +([\d.]+) s"),
            Figure("converting SmolLM2's GGUF, processor", "", r"convert smollm2 +([\d.]+) s"),
        ),
        more=("--imports",),
        loaded=True,
    ),
    Benchmark(
        "training_steps",
        (),
        tuple(
            Figure(
                f"training {network}, 1,000 items, processor",
                "",
                rf"{network}: 1,000 items in [\d.]+ s \(([\d.]+) s of the",
            )
            for network in ("film", "stacked-attention", "cnn-lstm", "object-centred")
        ),
        loaded=True,
    ),
    Benchmark(
        "busy",
        (
            "--seconds",
            "4",
            "--repeats",
            "1",
            "--hogs",
            "0,2",
            "--work",
            "asking,training,comparing",
        ),
        more=("--hogs", "0,2,2@10", "--work", "asking,training,comparing,tests"),
        alone=True,
    ),
)

BUSY = re.compile(
    r"(?P<work>\w+), (?P<load>\d+ hogs[^,:]*), sleeping: [^\n]*?(?P<share>[\d.]+) of a fair[^\n]*\n"
    r"[^\n]*, spinning: [^\n]*?(?P<without>[\d.]+) of a fair[^\n]*\n"
    r"[^\n]*: (?P<ratio>[\d.]+) x"
)
"""What `busy.py` prints of a kind of work beside so many programs."""


def main() -> None:
    """Measure what has no output yet, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="*", default=[], choices=[b.script for b in BENCHMARKS], metavar="NAME"
    )
    parser.add_argument("--shared", type=Path, default=HERE.parent.parent / "shared" / "data")
    parser.add_argument("--before", metavar="REVISION", help="default: the last tag")
    parser.add_argument("--full", action="store_true", help="the large sizes too")
    parser.add_argument("--loaded", action="store_true", help="beside programs that only count")
    parser.add_argument("--minutes", type=float, default=10, help="begin no repeat after these")
    parser.add_argument("--repeats", type=int, default=3, help="at most")
    options = parser.parse_args()
    checkouts = {"": HERE.parent}
    commit = ""
    # by default the tag that is nearest to this commit
    if before := options.before or git("describe", "--tags", "--abbrev=0"):
        checkouts["before"], commit = earlier(before)
    # of another commit there are other outputs
    folders = {
        (machine, name, benchmark.script): CACHE
        / (checkout.name if name else "now")
        / machine
        / benchmark.script
        for machine in (QUIET, LOADED)
        for name, checkout in checkouts.items()
        for benchmark in BENCHMARKS
    }
    machine = LOADED if options.loaded else QUIET
    for (of_machine, _, script), folder in folders.items():
        if script in options.only and of_machine == machine:
            shutil.rmtree(folder, ignore_errors=True)
    measure(options, machine, checkouts, folders)
    outputs: dict[tuple[str, str], Outputs] = {}
    for (of_machine, name, script), folder in folders.items():
        printed = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.txt"))]
        outputs.setdefault((of_machine, name), {})[script] = printed
    quiet, loaded = (
        (outputs[of_machine, ""], outputs.get((of_machine, "before"), {}))
        for of_machine in (QUIET, LOADED)
    )
    PAGE.write_text(page(*quiet, commit, loaded), encoding="utf-8")
    print(PAGE)


def measure(
    options: argparse.Namespace,
    machine: str,
    checkouts: Mapping[str, Path],
    folders: Mapping[tuple[str, str, str], Path],
) -> None:
    """Run what has no output yet: all benchmarks once, and again while there is time."""
    start = monotonic()
    for repeat in range(options.repeats):
        for benchmark in BENCHMARKS:
            # what is there already is enough, unless it is to be measured anew
            if options.only and benchmark.script not in options.only:
                continue
            if machine == LOADED and not benchmark.loaded:
                continue
            if repeat and monotonic() - start > 60 * options.minutes:
                continue
            words = benchmark.words(full=options.full)
            # in turn, so that what else the machine does befalls all of them
            for name, checkout in checkouts.items():
                folder = folders[machine, name, benchmark.script]
                output = folder / f"{repeat}.txt"
                if output.is_file() or (name and benchmark.alone):
                    continue
                print(
                    f"== {name} {benchmark.script}, {repeat + 1} of {options.repeats}", flush=True
                )
                places = {"SHARED": options.shared, "RUNS": folder.parents[1] / "runs"}
                with busy(HOGS) if machine == LOADED else nullcontext():
                    printed = run(benchmark.script, words, places, checkout)
                output.parent.mkdir(parents=True, exist_ok=True)
                output.write_text(printed, encoding="utf-8")


def earlier(before: str) -> tuple[Path, str]:
    """The sources of a checkout, or of a tag or commit, which are unpacked once; with the commit
    and its date."""
    if Path(before).is_dir():
        return Path(before).resolve(), git("log", "-1", DESCRIBED, at=Path(before))
    commit = git("rev-parse", "--verify", "--quiet", f"{before}^{{commit}}")
    if not commit:
        sys.exit(f"--before is '{before}': give a tag, a commit or a folder.")
    sources = CACHE / "sources" / commit
    if not sources.is_dir():
        with tempfile.TemporaryDirectory() as folder, atomic_folder(sources) as unfinished:
            archive = Path(folder) / "sources.tar"
            git("archive", "--output", str(archive), commit, at=HERE.parent)
            with tarfile.open(archive) as tar:
                tar.extractall(unfinished, filter="data")
    return sources, git("log", "-1", DESCRIBED, commit)


def git(*arguments: str, at: Path | None = None) -> str:
    """What git prints; nothing where it fails."""
    command = ["git", "-C", str(at or HERE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def run(name: str, words: Sequence[str], places: Mapping[str, Path], checkout: Path) -> str:
    """What a checkout's script prints, under a line with its command, the date, how much of the
    machine others used, and how long it took."""
    command = " ".join(["python", f"benchmarks/{name}.py", *words])
    arguments = list(words)
    for placeholder, place in places.items():
        arguments = [word.replace(placeholder, str(place)) for word in arguments]
    script_there = checkout / "benchmarks" / f"{name}.py"
    start, others = monotonic(), seconds_of_others()
    # an earlier script may not know what is measured today
    for script in dict.fromkeys(
        [
            script_there if script_there.is_file() else HERE / script_there.name,
            HERE / script_there.name,
        ]
    ):
        ended = subprocess.run(
            [sys.executable, script.name, *arguments],
            cwd=script.parent,
            env={**os.environ, "PYTHONPATH": str(checkout / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        if not ended.returncode:
            break
    passed = monotonic() - start
    beside = (seconds_of_others() - others) / passed
    about = f"{datetime.now(UTC):%Y-%m-%d}, others {beside:.1f}, {passed:.0f} s"
    head = f"`{command}`, {about}\n"
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"{head}could not be run: {reason}\n"
    printed = ended.stdout.strip()
    for placeholder, place in places.items():
        printed = printed.replace(str(place), placeholder)
    return f"{head}{printed}\n"


def seconds_of_others() -> float:
    """The processor time that anything but this program and what it started has taken so far; 0
    where the system does not say."""
    total = Path("/proc/stat")
    if not total.is_file():
        return 0.0
    _, user, nice, system, _, _, interrupts, soft, *_ = total.read_text().split()
    everything = sum(map(int, (user, nice, system, interrupts, soft)))
    return everything / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def page(
    outputs: Outputs,
    before: Outputs,
    commit: str = "",
    loaded: Sequence[Outputs] = (),
) -> str:
    """The page: ratios and seconds, beside those of an earlier checkout, on a quiet and on a
    `loaded` machine, growth, and what each benchmark printed first."""
    sections = []
    for benchmark in BENCHMARKS:
        if not outputs[benchmark.script]:
            continue
        measured, _, printed = outputs[benchmark.script][0].partition("\n")
        sections += [
            f"### {benchmark.script}",
            f"{measured}:",
            f"```\n{printed.strip()}\n```",
        ]
    parts = [
        "# Benchmarks",
        f"Made by `make bench`{took(outputs)}. Every ratio is that of two programs which do the "
        "same work in the same run, with equal results where a script says so: a ratio of 2 is "
        "half the peer's time. Figures are medians of several runs, with the least and the "
        "greatest, or of one run. Times depend on the machine and on what else it does (`others`: "
        "how many processors other programs used meanwhile); ratios less so. "
        f"{os.cpu_count()} cores, Python {platform.python_version()}."
        + (f" *before*: commit {commit}, measured in turn with the present one." if commit else ""),
        "## Beside other programs",
        table("times as fast", [outputs, before], with_peer=True),
        "## Seconds",
        table("seconds", [outputs, before], with_peer=False),
        *on_a_busy_machine(outputs, loaded),
        "## How time grows",
        *grown({name: printed[0] for name, printed in outputs.items() if printed}),
        "## What they printed",
        "`SHARED` is a folder with the published data, `RUNS` one with runs that were made up.",
        *sections,
    ]
    return "\n\n".join(parts) + "\n"


def took(outputs: Outputs) -> str:
    """How long the first pass over all benchmarks took, an earlier checkout aside."""
    heads = [printed[0].partition("\n")[0] for printed in outputs.values() if printed]
    seconds = [match[1] for head in heads if (match := re.search(r", (\d+) s$", head))]
    if not seconds:
        return ""
    return f" (one pass takes {sum(map(int, seconds)) / 60:.1f} minutes here)"


def on_a_busy_machine(outputs: Outputs, loaded: Sequence[Outputs]) -> list[str]:
    """How much of its fair share a program gets beside others, and how long people wait then."""
    parts = []
    rows = [
        "| work | beside | share of a fair share | with threads that spin | times as fast |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    matches_by_load: dict[tuple[str, str], list[re.Match[str]]] = {}
    for printed in outputs.get("busy", ()):
        for match in BUSY.finditer(printed):
            matches_by_load.setdefault((match["work"], match["load"]), []).append(match)
    for (work, load), matches in matches_by_load.items():
        cells = [
            spread([float(match[name]) for match in matches], decimals=2)
            for name in ("share", "without", "ratio")
        ]
        rows.append(f"| {' | '.join([work, load, *cells])} |")
    if matches_by_load:
        parts += [
            "A *hog* is a program that only counts. Beside so many of them a fair share of the "
            "quiet machine's speed is what the scheduler gives each program of the same niceness; "
            "1.00 is all of it. *Threads that spin* are OpenMP's own way of waiting, and in tests "
            "as many threads per worker as there are cores: what a program does that sets nothing "
            "([busy](#busy)).",
            "\n".join(rows),
        ]
    measured = [b for b in BENCHMARKS if any(output.get(b.script) for output in loaded)]
    if measured:
        parts += [
            f"What people wait for, measured as above but beside {HOGS} hogs:",
            table("times as fast", loaded, with_peer=True, benchmarks=measured),
            table("seconds", loaded, with_peer=False, benchmarks=measured),
        ]
    return ["## On a busy machine", *parts] if parts else []


def table(
    unit: str,
    outputs: Sequence[Outputs],
    *,
    with_peer: bool,
    benchmarks: Sequence[Benchmark] | None = None,
) -> str:
    """Ratios to peers, or seconds, in a column for each checkout that was measured; seconds of two
    checkouts with their ratio."""
    measured = [output for output in outputs if output]
    peers = ["peer"] * with_peer
    before = ["before"] * (len(measured) - 1)
    ratio = ["before ÷ now"] * (len(before) if not with_peer else 0)
    head = ["what", *peers, unit, *before, *ratio, "script"]
    right = {unit, "before", "before ÷ now"}
    rows = [head, ["---:" if name in right else "---" for name in head]]
    for benchmark in benchmarks or BENCHMARKS:
        for figure in benchmark.figures:
            if bool(figure.peer) != with_peer:
                continue
            values = [numbers(figure.pattern, output[benchmark.script]) for output in measured]
            cells = [spread(repeats) for repeats in values]
            if ratio:
                # repeat by repeat: the two of a repeat ran one after the other
                now, earlier = values
                pairs = zip(earlier, now, strict=False)
                cells.append(spread([old / new for old, new in pairs], decimals=2))
            peer = [figure.peer] * with_peer
            link = f"[{benchmark.script}](#{benchmark.script})"
            rows.append([figure.what, *peer, *cells, link])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def numbers(pattern: str, outputs: Sequence[str]) -> list[float]:
    """The number that a pattern finds in each output, where it finds one."""
    matches = [re.search(pattern, output) for output in outputs]
    return [float(match[1].replace(",", "")) for match in matches if match]


def spread(values: Sequence[float], decimals: int | None = None) -> str:
    """The median, and the least and the greatest value where there are several; else a dash.

    >>> spread([3.1, 2.9, 3.4]), spread([405.0]), spread([]), spread([1.5, 2.5], decimals=2)
    ('3.1 (2.9–3.4)', '405', '–', '2.00 (1.50–2.50)')
    """
    if not values:
        return "–"
    shown = [
        f"{value:.{_decimals(value) if decimals is None else decimals}f}"
        for value in (statistics.median(values), min(values), max(values))
    ]
    return f"{shown[0]} ({shown[1]}–{shown[2]})" if len(values) > 1 else shown[0]


def _decimals(value: float) -> int:
    if value >= 100:
        return 0
    return 1 if value >= 1 else 2


def grown(outputs: dict[str, str]) -> list[str]:
    """For each benchmark of several sizes a chart, and the exponent between the least and the
    greatest."""
    parts = []
    for benchmark in BENCHMARKS:
        growth = benchmark.growth
        if growth is None or benchmark.script not in outputs:
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
