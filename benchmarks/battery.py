"""The leaderboard in docs/leaderboard, made again: every model that needs no hub, asked the same
questions.

    python benchmarks/battery.py RUNS [--minutes 75] [--models smollm2,tinystories260k]
    python benchmarks/battery.py RUNS --page docs/leaderboard

The first asks, one process and as many threads as OMP_NUM_THREADS says. It stops before a run that
would begin after so many minutes of the processor; called again it goes on. Then it prints which
figures differ from the committed table, and by how much. The second writes the page and the table
from the runs that are there.

All models are asked the same questions of a task, so that figures can be compared; samples are
small, since the largest model takes almost 8 times as long as SmolLM2. Four models are read below
RUNS, and left out with a sentence where they are not there: `tinystories260k`, a folder;
`minimind2-small` and `gte-small`, which `benchmarks/onnx_weights.py` writes; and
`captions-trigram.arpa`, which `seesay pretrain trigram CAPTIONS -o RUNS/captions-trigram.arpa
--smallest-count 1` makes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import mean
from time import process_time

from markupsafe import Markup

import seesay
from seesay.api import Results, results
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.models import Model
from seesay.questions import Published
from seesay.reports.chance import standings
from seesay.reports.charts.lines import Series, lines
from seesay.reports.formatting import part_name
from seesay.reports.groups import group_runs
from seesay.reports.pages.sections import write_svg
from seesay.reports.site import parameters
from seesay.runs.run import Run
from seesay.runs.seeds import first_seeds

SMALL = ("captions-trigram.arpa", "tinystories260k", "minimind2-small")
MEDIUM = ("smollm2", "gemma3-270m")
LARGE = "tinyllama"
ENCODERS = ("minilm", "gte-small")
BASELINES = ("baseline:uniform", "baseline:majority", "baseline:frequency")
CAUSAL = (*SMALL, *MEDIUM, LARGE)
FILES = (*SMALL, "gte-small")
"""Models that are read below RUNS."""

SIZES_AND_COLORS: dict[str, int | None] = {"core-size": 80, "core-color": 40}
OTHER_CORE: dict[str, int | None] = {
    "core-space": 50,
    "core-parts": 20,
    "memory-colors": 30,
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


@dataclass(frozen=True)
class Step:
    """One run: a model, a task and how it is asked."""

    model: str
    task: str
    limit: int | None = None
    how: str = "cloze"
    chat: bool = False

    @property
    def command(self) -> str:
        """What makes the same run by hand."""
        words = ["seesay probe", self.model, "--task", self.task]
        if self.how != "cloze":
            words += ["--how", self.how]
        if self.how == "linear":
            words += ["--seeds", str(PROBE_SEEDS)]
        if self.how == "generate":
            words += ["--max-tokens", str(MAX_TOKENS)]
        if self.chat:
            words.append("--chat")
        if self.limit is not None:
            words += ["--limit", str(self.limit)]
        return " ".join(words)


def plan() -> Iterator[Step]:
    """Every run, the most wanted first: what time does not suffice for is the largest model's."""
    for model in BASELINES:
        yield from cloze(model, SAMPLES)
    for model in ENCODERS:
        yield probe_of(model)
    for model in SMALL:
        yield from cloze(model, SAMPLES)
        # an n-gram model has no vectors
        if not model.endswith(".arpa"):
            yield probe_of(model)
    for model in MEDIUM:
        yield from cloze(model, SIZES_AND_COLORS | OTHER_CORE)
        yield probe_of(model)
    yield from chat("smollm2", SIZES_AND_COLORS)
    yield probe_of(LARGE)
    yield from cloze("smollm2", PUBLISHED)
    yield from cloze(LARGE, SIZES_AND_COLORS)
    yield from cloze("gemma3-270m", PUBLISHED)
    yield from cloze(LARGE, OTHER_CORE)
    yield from chat(LARGE, SIZES_AND_COLORS)
    yield from chat("smollm2", SIZES_AND_COLORS, how="generate")
    yield from cloze(LARGE, PUBLISHED)


def cloze(model: str, samples: dict[str, int | None]) -> Iterator[Step]:
    """The model asked plainly."""
    return (Step(model, task, limit) for task, limit in samples.items())


def chat(model: str, samples: dict[str, int | None], how: str = "cloze") -> Iterator[Step]:
    """The model asked through its chat template."""
    return (Step(model, task, limit, how, chat=True) for task, limit in samples.items())


def probe_of(model: str) -> Step:
    """A linear probe of the model's vectors, of all questions: what it was not asked."""
    return Step(model, "core-size", how="linear")


def ask(steps: Sequence[Step], minutes: float) -> None:
    """Ask what has not been asked, as long as there is time, in the current folder."""
    times = read_times()
    spent = 0.0
    loaded: Model | None = None
    for step in steps:
        was_begun = step.command in times
        if was_begun and times[step.command] != BEGUN:
            continue
        if step.model in FILES and not Path(step.model).exists():
            print(f"{step.model} is not in {Path.cwd()}: left out.", flush=True)
            continue
        if spent > 60 * minutes:
            print(f"{minutes:g} minutes of the processor are over before: {step.command}")
            return
        # a model is loaded once for its steps that follow one another, and its loading not counted;
        # probes load it in their own way
        model: str | Model = step.model
        if step.how != "linear":
            before = process_time()
            if loaded is None or loaded.name != step.model:
                loaded = seesay.load_model(step.model)
            model = loaded
            spent += process_time() - before
        write_times(times | {step.command: BEGUN})
        before = process_time()
        try:
            answered = probe(step, model)
        except UserError as error:
            print(f"{step.command}: {error}", flush=True)
            continue
        seconds = process_time() - before
        spent += seconds
        # a run that goes on where it was killed takes less than a whole one
        times[step.command] = None if was_begun else round(seconds, 2)
        write_times(times)
        figure = answered.figures[0]
        print(f"{seconds:7.1f} s  {figure.value:.3f}  {step.command}", flush=True)


def probe(step: Step, model: str | Model) -> Results:
    """Ask one step; what fails is raised."""
    answered = seesay.probe(
        [model],
        step.task,
        how=step.how,
        limit=step.limit,
        chat=step.chat,
        seeds=PROBE_SEEDS if step.how == "linear" else 1,
        max_tokens=MAX_TOKENS,
        command=step.command,
        output="runs",
    )
    if answered.errors:
        raise answered.errors[0]
    return answered


TIMES = Path("times.json")
BEGUN = "begun"
Times = dict[str, float | str | None]
"""Seconds of the processor by command; BEGUN of a run that was begun, None of one that was begun
twice."""


def read_times() -> Times:
    """Return what earlier calls took, in the current folder."""
    if not TIMES.exists():
        return {}
    times: Times = json.loads(TIMES.read_text())
    return times


def write_times(times: Times) -> None:
    """Keep them whole, whenever the script is killed."""
    unfinished = TIMES.with_suffix(".part")
    unfinished.write_text(json.dumps(times, indent=1))
    unfinished.replace(TIMES)


@dataclass(frozen=True)
class Row:
    """A headline figure, as the committed table has it."""

    task: str
    model: str
    """With how it was asked: `smollm2 · chat`."""
    metric: str
    value: float
    low: float
    high: float
    chance: float | None
    n: int
    standing: str
    """`not different from chance` or `worse than chance`, after Holm's correction."""
    parameters: int | None
    seconds: float | None
    """Of the processor, for 1,000 questions in all their templates; none for a probe."""
    command: str
    signature: str

    @property
    def key(self) -> tuple[str, str]:
        """What is compared with what."""
        return self.task, self.model


def read_runs() -> list[Run]:
    """Return the runs of the plan that are finished, in the current folder."""
    commands = {step.command for step in plan()}
    runs = results("runs").runs
    return [run for run in runs if run.manifest.command in commands]


def table_rows(runs: Sequence[Run], times: Times) -> list[Row]:
    """Return every headline figure, the largest model last."""
    rows = []
    for group in group_runs(runs):
        by_figure = standings(group)
        for part in group.parts:
            for entry, figure in group.headline_figures(part).items():
                manifest = entry.run.manifest
                task = manifest.task if part is None else f"{manifest.task} {part_name(part)}"
                spent = times.get(manifest.command)
                seconds = None
                if manifest.condition.probe_seed is None and isinstance(spent, float):
                    seconds = round(1000 * spent / manifest.questions, 1)
                size = parameters(manifest)
                rows.append(
                    Row(
                        task,
                        entry.label,
                        figure.metric,
                        round(figure.value, 4),
                        round(figure.low, 4),
                        round(figure.high, 4),
                        None if figure.chance is None else round(figure.chance, 4),
                        figure.n,
                        by_figure.get((entry, part), ""),
                        int(size) if size else None,
                        seconds,
                        manifest.command,
                        figure.signature,
                    )
                )
    return sorted(rows, key=lambda row: (row.task, row.parameters or 0, row.model))


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write the table as CSV; what is None is empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, rows))


def read_table(path: Path) -> list[Row]:
    """Read what `write_table` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return [parse_row(row) for row in csv.DictReader(file)]


def parse_row(row: Mapping[str, str]) -> Row:
    """Return a line of the table with its numbers as such."""
    return Row(
        row["task"],
        row["model"],
        row["metric"],
        float(row["value"]),
        float(row["low"]),
        float(row["high"]),
        float(row["chance"]) if row["chance"] else None,
        int(row["n"]),
        row["standing"],
        int(row["parameters"]) if row["parameters"] else None,
        float(row["seconds"]) if row["seconds"] else None,
        row["command"],
        row["signature"],
    )


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


def write_page(folder: Path, runs: Sequence[Run], times: Times) -> None:
    """Write the table, the leaderboard as one page, the charts, and what the documentation says of
    them."""
    rows = table_rows(runs, times)
    folder.mkdir(exist_ok=True, parents=True)
    write_table(folder / "figures.csv", rows)
    write_board(folder / "board.html", runs)
    write_svg(folder / "scaling.svg", scaling_chart(rows))
    write_svg(folder / "sizes.svg", sizes_chart(rows))
    (folder / "index.md").write_text(page_text(rows, runs), encoding="utf-8")


def write_board(path: Path, runs: Sequence[Run]) -> None:
    """Write the first page of `seesay site` alone: its figures lead to the table, where their
    commands are, and no longer to pages of their own."""
    published = {task: seesay.load_task(task).published for task in SAMPLES}
    shown = Results(
        tuple(with_published(run, published[run.manifest.task]) for run in first_seeds(runs))
    )
    with tempfile.TemporaryDirectory() as folder:
        text = shown.save_site(folder).read_text(encoding="utf-8")
    path.write_text(re.sub(r'href="(models|tasks)/[^"]*"', 'href="figures.csv"', text), "utf-8")


def with_published(run: Run, published: Sequence[Published]) -> Run:
    """Return the run with its task's published figures, which a sample is shown without: here each
    says that it is of all questions."""
    marked = tuple(replace(row, source=f"{row.source}; all questions") for row in published)
    return replace(run, task=replace(run.task, published=marked))


SCALED = ("core-parts", "core-color", "memory-colors")
PROBED = " · linear · seed "


def scaling_chart(rows: Sequence[Row]) -> Markup:
    """Draw scores of parts and colors against parameters."""
    curves = []
    for task in SCALED:
        asked = [row for row in rows if row.task == task and row.model in CAUSAL]
        curves.append(scaled(task, asked))
    return chart(curves, "Parts and colours against parameters")


def sizes_chart(rows: Sequence[Row]) -> Markup:
    """Draw sizes, asked and probed, against parameters."""
    asked = [row for row in rows if row.task == "core-size" and row.model in CAUSAL]
    curves = [scaled("asked", asked), scaled("probed", mean_probes(rows, CAUSAL))]
    return chart(curves, "core-size against parameters")


def chart(curves: Sequence[Series], title: str) -> Markup:
    """Draw curves over the number of parameters."""
    return lines(
        curves,
        title=title,
        x_label="million parameters",
        y_label="chance 0, perfect 1",
        log_x=True,
    )


def scaled(name: str, rows: Sequence[Row]) -> Series:
    """Return a curve of (score − chance) / (1 − chance), in which tasks can be compared."""
    sized = [row for row in rows if row.parameters and row.chance is not None]

    def share(row: Row, score: float) -> float:
        assert row.chance is not None
        return (score - row.chance) / (1 - row.chance)

    return Series(
        name,
        [(row.parameters or 0) / 1e6 for row in sized],
        [share(row, row.value) for row in sized],
        [share(row, row.low) for row in sized],
        [share(row, row.high) for row in sized],
    )


def mean_probes(rows: Sequence[Row], models: Sequence[str]) -> list[Row]:
    """Return a row per model for its linear probes: the means of values and of interval ends over
    the seeds, and where all of them stand, if they agree."""
    probes = [row for row in rows if PROBED in row.model]
    means = []
    for model, seeds in group_by(probes, lambda row: row.model.partition(PROBED)[0]).items():
        if model in models:
            flags = {row.standing for row in seeds}
            means.append(
                replace(
                    seeds[0],
                    model=model,
                    value=mean(row.value for row in seeds),
                    low=mean(row.low for row in seeds),
                    high=mean(row.high for row in seeds),
                    standing=flags.pop() if len(flags) == 1 else "",
                )
            )
    return sorted(means, key=lambda row: row.parameters or 0)


def page_text(rows: Sequence[Row], runs: Sequence[Run]) -> str:
    """Return the page that the documentation shows."""
    by_key = {row.key: row for row in rows}
    date = max(run.manifest.created for run in runs)[:10]
    probes = {row.model: row for row in mean_probes(rows, (*ENCODERS, *CAUSAL))}
    sizes = [
        (model, cell(by_key.get(("core-size", model))), cell(probes.get(model)))
        for model in (*ENCODERS, *CAUSAL)
    ]
    chats = [
        (
            task,
            model,
            cell(by_key.get((task, model))),
            cell(by_key.get((task, f"{model} · chat"))),
            cell(by_key.get((task, f"{model} · chat · generated"))),
        )
        for model in ("smollm2", LARGE)
        for task in SIZES_AND_COLORS
    ]
    costs = []
    for model in CAUSAL:
        timed = [by_key.get((task, model)) for task in SIZES_AND_COLORS]
        costs.append((model, size_of(rows, model), *map(seconds_of, timed)))
    samples = []
    for task, group in group_by(rows, lambda row: row.task).items():
        names = [row.model for row in group if not row.model.startswith("baseline:")]
        names = [name for name in names if PROBED not in name]
        # models of text are not asked about pictures, which baselines are
        if not names:
            continue
        asked = max(row.n for row in group if PROBED not in row.model)
        samples.append((task, f"{asked:,}", group[0].metric, str(len(names)), missing(names)))
    return PAGE.format(
        date=date,
        sizes=markdown(("model", "asked, 80 questions", "probed, 420 questions"), sizes),
        chats=markdown(("task", "model", "plain", "chat", "chat, generated"), chats),
        costs=markdown(("model", "parameters", *SIZES_AND_COLORS), costs),
        samples=markdown(
            ("task", "questions", "metric", "rows of models", "no figure of"), samples
        ),
    )


def missing(names: Sequence[str]) -> str:
    """Name the causal models that a task has no figure of."""
    return ", ".join(model for model in CAUSAL if model not in names)


def cell(row: Row | None) -> str:
    """Return a figure with its interval, grey where it is not different from chance."""
    if row is None:
        return "–"
    text = f"{row.value:.3f} ({row.low:.3f}–{row.high:.3f})"
    if row.standing:
        return f'<span class="like-chance" title="{row.standing}">{text}</span>'
    return text


def size_of(rows: Sequence[Row], model: str) -> str:
    """Return a model's number of parameters in words."""
    sizes = [row.parameters for row in rows if row.model == model and row.parameters]
    return f"{sizes[0] / 1e6:,.2f} M" if sizes else "–"


def seconds_of(row: Row | None) -> str:
    """Return the seconds of the processor for 1,000 questions."""
    return "–" if row is None or row.seconds is None else f"{row.seconds:,.0f} s"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines_ = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines_)


PAGE = """# Leaderboard

Small models that need no hub, all asked the same questions: **[models by tasks](board.html)** with
95 % intervals, people and published figures; **[every headline figure](figures.csv)** with its
signature and its command. One thread on a busy machine, {date}. The samples are small, since the
largest model takes almost eight times as long as SmolLM2 on a CPU; they are stated below, and so is
what has not been asked. [Findings](../findings.md) says what came out.

Grey: not different from chance, p above 0.05 after Holm's correction over the task's headline
figures. The models: TinyStories 260K, MiniMind2-small (26 million parameters, 8 bits),
SmolLM2-135M-Instruct (4 bits), Gemma-3-270M (4 bits), TinyLlama-1.1B-Chat (**2 bits**: far from
the weights as published) and a trigram model of captions, which has no figure where it does not
know an option; two sentence encoders, all-MiniLM-L6-v2 and gte-small, which can only be probed.

## Score against parameters

![Scores of parts and colours against parameters](scaling.svg)

Each score as its share of the way from chance (0) to perfect (1), with its 95 % interval. The
models differ in more than in size: in what they read, in how many bits they are stored, and in
whether they were tuned for chat.

## Sizes, asked and probed

core-size: asked plainly in five templates, and by a linear probe of the last layer (120 training
questions, means over three seeds of figure and interval). A sentence encoder's vector is the mean
of its tokens', which may hardly tell *a cup and a car* from *a car and a cup*.

![Sizes against parameters, asked and probed](sizes.svg)

{sizes}

## Chat

{chats}

## What a thousand questions cost

Seconds of one core for 1,000 questions of core-size (five templates, two options) and core-color
(six templates, eleven options), scoring and intervals included and loading not; one thread on a
busy machine.

{costs}

## What was asked

{samples}

## Made again

```bash
python benchmarks/battery.py RUNS --minutes 75             # asks, or goes on, and compares
python benchmarks/battery.py RUNS --page docs/leaderboard  # writes this page
```

The script says which models it reads from files, and how they are made.
"""


def main() -> None:
    """Ask, or write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--minutes", type=float, default=75)
    parser.add_argument("--models", help="Only these, by comma.")
    parser.add_argument("--page", type=Path, help="Write the page here, and ask nothing.")
    options = parser.parse_args()
    committed = Path(__file__).parents[1] / "docs" / "leaderboard" / "figures.csv"
    page = options.page and options.page.absolute()
    steps = list(plan())
    if options.models:
        steps = [step for step in steps if step.model in options.models.split(",")]
    os.chdir(options.runs)
    if page:
        write_page(page, read_runs(), read_times())
        return
    ask(steps, options.minutes)
    measured = table_rows(read_runs(), read_times())
    if committed.exists():
        print("\n".join(differences(read_table(committed), measured)))


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
