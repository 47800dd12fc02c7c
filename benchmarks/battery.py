"""The leaderboard in docs/leaderboard, made again: every model that needs no hub, asked the same
questions.

    python benchmarks/battery.py RUNS [--minutes 75] [--models smollm2,tinystories260k]

It asks, one process and as many threads as OMP_NUM_THREADS says. It stops before a run that
would begin after so many minutes of the processor; called again it goes on, and several processes
may share RUNS if each has models of its own. Then it prints which figures differ from the committed
table, and by how much. `python -m benchmarks.battery_page RUNS docs/leaderboard` writes table and
page from the runs that are there.

All models are asked the same questions of a task, so that figures can be compared. Samples are
small, since the largest model takes many times as long as SmolLM2. What has no name in `seesay
models` is read below RUNS, and left out with a sentence where it is not there: `tinystories260k`, a
folder; `minimind2-small` and `gte-small`, which `benchmarks/onnx_weights.py` writes; and what is
trained here:

    seesay pretrain trigram CAPTIONS -o RUNS/captions-trigram.arpa --smallest-count 1
    seesay rear sweep --diets all-said,full-bias --seeds 1 -o RUNS/reared
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from time import process_time
from typing import Any

from pydantic import TypeAdapter

import seesay
from seesay.api import layers, results
from seesay.errors import UserError
from seesay.models import Model
from seesay.reports.answer_rows import answer_rows
from seesay.reports.chance import standings
from seesay.reports.formatting import part_name
from seesay.reports.groups import group_runs
from seesay.reports.site import parameters
from seesay.runs.run import Run

TRIGRAMS = "captions-trigram.arpa"
SMALL = ("tinystories260k", "minimind2-small")
MEDIUM = ("smollm2", "gemma3-270m")
LARGE = "tinyllama"
CHAT = ("minimind2-small", "smollm2", LARGE)
"""Models that have a chat template."""
ENCODERS = ("minilm", "gte-small")
BASELINES = ("baseline:uniform", "baseline:majority", "baseline:frequency")
CAUSAL = (TRIGRAMS, *SMALL, *MEDIUM, LARGE)
VECTORS = (*ENCODERS, *SMALL, *MEDIUM, LARGE)
"""Models that can be probed."""
FILES = (TRIGRAMS, *SMALL, "gte-small")
"""Models that are read below RUNS."""
REARED = Path("reared", "runs")
"""Where `seesay rear sweep` keeps the runs of the models that it has raised."""

SIZES_AND_COLORS: dict[str, int | None] = {"core-size": 80, "core-color": 40}
OTHER_CORE: dict[str, int | None] = {
    "core-parts": 20,
    "memory-colors": 30,
    "core-space": 50,
}
PUBLISHED: dict[str, int | None] = {
    "numersense": None,
    "viphy-size": 80,
    "viphy-color": 80,
    "viphy-space": 80,
    "things-size": 80,
    "prost": 80,
    "spatial-commonsense-size": 60,
    "spatial-commonsense-height": 60,
    "spatial-commonsense-posrel": 60,
    "verb-physics-size": 50,
    "verb-physics-weight": 50,
    "imagenetvc-color": 30,
    "imagenetvc-material": 30,
    "imagenetvc-component": 40,
    "coda": 30,
    "prior-color": 40,
}
SAMPLES = SIZES_AND_COLORS | OTHER_CORE | PUBLISHED
"""Questions of each task, None for all."""
PROBE_SEEDS = 3
MAX_TOKENS = 12
REARED_TASK = "reared-color"
DTYPES = {LARGE: "bfloat16"}
"""The type of the weights where it is not float32."""


@dataclass(frozen=True)
class Step:
    """One run: a model, a task and how it is asked."""

    model: str
    task: str
    limit: int | None = None
    how: str = "cloze"
    chat: bool = False
    layers: bool = False

    @property
    def command(self) -> str:
        """What makes the same run by hand."""
        words = ["seesay probe", self.model, "--task", self.task]
        if self.how != "cloze":
            words += ["--how", self.how]
        if self.layers:
            words += ["--layers", "all"]
        if self.how == "linear":
            words += ["--seeds", str(PROBE_SEEDS)]
        if self.how == "generate":
            words += ["--max-tokens", str(MAX_TOKENS)]
        if self.chat:
            words.append("--chat")
        if self.model in DTYPES:
            words += ["--dtype", DTYPES[self.model]]
        if self.limit is not None:
            words += ["--limit", str(self.limit)]
        return " ".join(words)


def plan() -> Iterator[Step]:
    """Every run, the most wanted first: what time does not suffice for is the largest model's."""
    for model in BASELINES:
        yield from cloze(model, SAMPLES)
    for model in ENCODERS:
        yield probe_of(model)
    yield from cloze(TRIGRAMS, SAMPLES)
    for model in SMALL:
        yield from cloze(model, SAMPLES)
        yield probe_of(model)
        yield layers_of(model)
    for model in MEDIUM:
        yield from cloze(model, SIZES_AND_COLORS | OTHER_CORE)
        yield probe_of(model)
        yield layers_of(model)
    for model in CHAT[:-1]:
        yield from chat(model, SIZES_AND_COLORS)
        yield from chat(model, SIZES_AND_COLORS, how="generate")
    yield from cloze(LARGE, SIZES_AND_COLORS)
    yield probe_of(LARGE)
    yield layers_of(LARGE)
    yield from cloze(LARGE, OTHER_CORE)
    yield from chat(LARGE, SIZES_AND_COLORS)
    for model in MEDIUM:
        yield from cloze(model, PUBLISHED)
    yield from chat(LARGE, SIZES_AND_COLORS, how="generate")
    yield from cloze(LARGE, PUBLISHED)
    # what nobody can know who was not raised in that world
    for model in (*BASELINES, *SMALL, *MEDIUM):
        yield from cloze(model, {REARED_TASK: None})


def cloze(model: str, samples: dict[str, int | None]) -> Iterator[Step]:
    """The model asked plainly."""
    return (Step(model, task, limit) for task, limit in samples.items())


def chat(model: str, samples: dict[str, int | None], how: str = "cloze") -> Iterator[Step]:
    """The model asked through its chat template."""
    return (Step(model, task, limit, how, chat=True) for task, limit in samples.items())


def probe_of(model: str) -> Step:
    """A linear probe of the model's vectors, of all questions: what it was not asked."""
    return Step(model, "core-size", how="linear")


def layers_of(model: str) -> Step:
    """A linear probe of every layer. A sentence encoder has none: its vector is pooled."""
    return replace(probe_of(model), layers=True)


def ask(steps: Sequence[Step], minutes: float) -> None:
    """Ask what has not been asked, as long as there is time, in the current folder."""
    spent = 0.0
    model: Model | None = None
    for step in steps:
        if step.command in read_times():
            continue
        if step.model in FILES and not Path(step.model).exists():
            print(f"{step.model} is not in {Path.cwd()}: left out.", flush=True)
            continue
        if spent > 60 * minutes:
            print(f"{minutes:g} minutes of the processor are over before: {step.command}")
            return
        # a model is loaded once for its steps that follow one another, and its loading not counted;
        # probes load it in their own way
        if step.how != "linear" and (model is None or model.name != step.model):
            before = process_time()
            model = seesay.load_model(step.model, dtype=DTYPES.get(step.model))
            spent += process_time() - before
        note_time(command=step.command)
        before = process_time()
        try:
            figure = probe_layers(step) if step.layers else probe(step, model)
        except UserError as error:
            print(f"{step.command}: {error}", flush=True)
            continue
        seconds = process_time() - before
        spent += seconds
        note_time(command=step.command, seconds=round(seconds, 2))
        print(f"{seconds:7.1f} s  {figure:.3f}  {step.command}", flush=True)


def probe(step: Step, model: Model | None) -> float:
    """Ask one step and return its headline figure; what fails is raised."""
    is_linear = step.how == "linear"
    # a model that is loaded has its type already
    options: dict[str, Any] = {"dtype": DTYPES.get(step.model)} if is_linear else {}
    results = seesay.probe(
        step.model if is_linear or model is None else [model],
        step.task,
        how=step.how,
        limit=step.limit,
        chat=step.chat,
        seeds=PROBE_SEEDS if is_linear else 1,
        max_tokens=MAX_TOKENS,
        command=step.command,
        output="runs",
        **options,
    )
    if results.errors:
        raise results.errors[0]
    return results.figures[0].value


def probe_layers(step: Step) -> float:
    """Probe every layer and return the last one's figure; what fails is raised."""
    # in a folder of its own: processes that share a file of curves would overwrite it
    curves, errors = layers(
        step.model,
        step.task,
        seeds=PROBE_SEEDS,
        output=LAYERS / step.model,
        dtype=DTYPES.get(step.model),
    )
    if errors:
        raise errors[0]
    return curves[0].figures[-1].value


TIMES = Path("times.jsonl")
LAYERS = Path("layers")
Times = dict[str, float | None]
"""Seconds of the processor by command; None of a run that was begun more than once, since one that
goes on where it was killed takes less than a whole one."""


def read_times() -> Times:
    """Return what finished runs took, in the current folder."""
    beginnings: Counter[str] = Counter()
    times: Times = {}
    if not TIMES.exists():
        return times
    for line in TIMES.read_text().splitlines():
        entry = json.loads(line)
        command = entry["command"]
        if "seconds" not in entry:
            beginnings[command] += 1
        else:
            times[command] = entry["seconds"] if beginnings[command] == 1 else None
    return times


def note_time(**entry: str | float) -> None:
    """Add a line: that a run was begun, or how long it took. Processes may share the file."""
    with TIMES.open("a") as file:
        file.write(json.dumps(entry) + "\n")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A headline figure, as the committed table has it."""

    task: str
    model: str
    """With how it was asked: `smollm2 · chat`."""
    metric: str
    value: float
    low: float
    high: float
    chance: float | None = None
    n: int
    standing: str = ""
    """`not shown to differ from chance` or `worse than chance`, after Holm's correction."""
    lean: float | None = None
    """How much more often than it is right an option is chosen for its place in the list."""
    parameters: int | None = None
    seconds: float | None = None
    """Of the processor, for 1,000 questions in all their templates; none for a probe."""
    command: str
    signature: str

    @property
    def key(self) -> tuple[str, str]:
        """What is compared with what."""
        return self.task, self.model

    def place(self) -> tuple[str, int, str]:
        """Where it stands in the table: by task, the largest model last."""
        return self.task, self.parameters or 0, self.model


def read_runs() -> list[Run]:
    """Return the runs of the plan that are finished and those of reared models, in the current
    folder."""
    commands = {step.command for step in plan()}
    runs = [run for run in results("runs").runs if run.manifest.command in commands]
    if REARED.exists():
        reared = results(REARED).runs
        runs += [run for run in reared if run.manifest.task == REARED_TASK]
    return runs


def table_rows(runs: Sequence[Run], times: Times) -> list[Row]:
    """Return every headline figure, the largest model last."""
    rows = []
    for group in group_runs(runs):
        by_figure = standings(group)
        for part in group.parts:
            for entry, figure in group.headline_figures(part).items():
                manifest = entry.run.manifest
                size = parameters(manifest)
                row = Row(
                    task=manifest.task if part is None else f"{manifest.task} {part_name(part)}",
                    model=entry.label,
                    metric=figure.metric,
                    value=round(figure.value, 4),
                    low=round(figure.low, 4),
                    high=round(figure.high, 4),
                    chance=None if figure.chance is None else round(figure.chance, 4),
                    n=figure.n,
                    standing=by_figure.get((entry, part), ""),
                    lean=lean(entry.run),
                    parameters=int(size) if size else None,
                    seconds=seconds_per_thousand(entry.run, times),
                    command=manifest.command,
                    signature=figure.signature,
                )
                rows.append(row)
    return sorted(rows, key=Row.place)


def seconds_per_thousand(run: Run, times: Times) -> float | None:
    """Return the seconds of the processor for 1,000 questions; none for a probe, which trains."""
    seconds = times.get(run.manifest.command)
    if run.manifest.condition.probe_seed is not None or seconds is None:
        return None
    return round(1000 * seconds / run.manifest.questions, 1)


def lean(run: Run) -> float | None:
    """Return by how much the place in the list of options that is chosen most often is chosen more
    often than it holds a right answer: 0.5 for a model that always says the first of two, each
    right in half of the questions. None where answers are free or all options are alike."""
    choices: Counter[int] = Counter()
    golds: Counter[int] = Counter()
    for row in answer_rows(run):
        if row.chosen in row.options:
            choices[row.options.index(row.chosen)] += 1
            golds.update(row.options.index(option) for option, share in row.gold.items() if share)
    if not choices:
        return None
    place, count = choices.most_common(1)[0]
    return round((count - golds[place]) / choices.total(), 3)


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write the table as CSV; what is None is empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, rows))


def read_table(path: Path) -> list[Row]:
    """Read what `write_table` wrote."""
    parser = TypeAdapter(Row)
    with path.open(newline="", encoding="utf-8") as file:
        lines_ = [
            {name: text for name, text in line.items() if text} for line in csv.DictReader(file)
        ]
    return [parser.validate_python(line) for line in lines_]


def differences(committed: Sequence[Row], measured: Sequence[Row]) -> list[str]:
    """Say what differs from the committed table: the largest difference first, then what only one
    of the two has, and at last how many figures are equal."""
    before = {row.key: row for row in committed}
    now = {row.key: row for row in measured}
    both = [(before[key], now[key]) for key in before if key in now]
    changed = [(old, new) for old, new in both if (old.value, old.n) != (new.value, new.n)]
    changed.sort(key=lambda pair: -abs(pair[1].value - pair[0].value))
    texts = []
    for old, new in changed:
        where = "inside" if old.low <= new.value <= old.high else "OUTSIDE"
        text = (
            f"{new.task}, {new.model}: {new.value:.4f}, in the table {old.value:.4f} "
            f"({new.value - old.value:+.4f}, {where} its interval {old.low:.3f}–{old.high:.3f})"
        )
        if new.n != old.n:
            text += f"; of {new.n:,} questions, in the table of {old.n:,}"
        texts.append(text)
    texts += [f"{', '.join(key)}: not measured here" for key in before if key not in now]
    texts += [f"{', '.join(key)}: not in the table" for key in now if key not in before]
    equal = len(both) - len(changed)
    return [*texts, f"{equal:,} of {len(both):,} figures that both have are equal."]


def main() -> None:
    """Ask, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--minutes", type=float, default=75)
    parser.add_argument("--models", help="Only these, by comma.")
    options = parser.parse_args()
    committed = Path(__file__).parents[1] / "docs" / "leaderboard" / "figures.csv"
    steps = list(plan())
    if options.models:
        steps = [step for step in steps if step.model in options.models.split(",")]
    os.chdir(options.runs)
    ask(steps, options.minutes)
    measured = table_rows(read_runs(), read_times())
    if committed.exists():
        print("\n".join(differences(read_table(committed), measured)))


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
