"""The page in docs/leaderboard, from the runs of benchmarks/battery.py.

    python -m benchmarks.battery_page RUNS docs/leaderboard

Its text is in battery_page.md; tables and charts are filled in.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from benchmarks.battery import (
    CAUSAL,
    CHAT,
    ENCODERS,
    LAYERS,
    REARED_TASK,
    SAMPLES,
    SIZES_AND_COLORS,
    VECTORS,
    Row,
    plan,
    read_runs,
    read_table,
    read_times,
    table_rows,
    write_table,
)
from markupsafe import Markup

import seesay
from seesay.api import Results
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.questions import Published
from seesay.reports.chance import LIKE_CHANCE, WORSE
from seesay.reports.charts.lines import Series, lines
from seesay.reports.pages.sections import write_svg
from seesay.runs.layers import LayerCurve, LayerFigure, read_curves
from seesay.runs.run import Run
from seesay.runs.seeds import first_seeds

SCALED = ("core-parts", "core-color", "memory-colors")
PROBED = " · linear · seed "
LEANING = 0.3
"""From which lean on a model is said to choose by place."""


def read_layers() -> list[LayerCurve]:
    """Return the curve over layers of each model that has one, the largest last."""
    return [curve for model in VECTORS for curve in read_curves(LAYERS / model)]


def write_page(folder: Path) -> None:
    """Write the table, the leaderboard as one page, the charts, and what the documentation says of
    them, of the runs in the current folder."""
    runs = read_runs()
    curves = read_layers()
    measured = table_rows(runs, read_times())
    folder.mkdir(exist_ok=True, parents=True)
    table = folder / "figures.csv"
    earlier = earlier_rows(table, measured)
    rows = sorted([*measured, *earlier], key=Row.place)
    write_table(table, rows)
    # it shows runs, and would lose the figures that no run here is behind
    if not earlier:
        write_board(folder / "board.html", runs)
    write_svg(folder / "scaling.svg", scaling_chart(rows))
    write_svg(folder / "sizes.svg", sizes_chart(rows))
    write_svg(folder / "layers.svg", layers_chart(curves))
    words = {
        "date": max(run.manifest.created for run in runs)[:10],
        "earlier": earlier_note(earlier, rows),
        **page_tables(rows, curves),
    }
    template = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    (folder / "index.md").write_text(template.format(**words), encoding="utf-8")


def earlier_rows(table: Path, measured: Sequence[Row]) -> list[Row]:
    """Return the figures of a table before that belong to the plan and were not measured again."""
    if not table.exists():
        return []
    keys = {row.key for row in measured}
    commands = {step.command for step in plan()}
    return [row for row in read_table(table) if row.key not in keys and row.command in commands]


def earlier_note(earlier: Sequence[Row], rows: Sequence[Row]) -> str:
    """Say how many figures stand in the table that no run here is behind."""
    if not earlier:
        return "All figures are of these runs."
    models = ", ".join(sorted({row.model.partition(" · ")[0] for row in earlier}))
    return (
        f"{len(earlier)} of the {len(rows)} figures in the tables were measured earlier by the "
        f"same commands and not again ({models}), and the page of models by tasks is still the one "
        "before."
    )


def write_board(path: Path, runs: Sequence[Run]) -> None:
    """Write the first page of `seesay site` so that it stands alone."""
    published = {task: seesay.load_task(task).published for task in SAMPLES}
    board_runs = [
        with_published(run, published.get(run.manifest.task, ())) for run in first_seeds(runs)
    ]
    with tempfile.TemporaryDirectory() as folder:
        page = Results(tuple(board_runs)).save_site(folder).read_text(encoding="utf-8")
    path.write_text(standing_alone(page), encoding="utf-8")


FIGURE_LINK = re.compile(r'<a href="models/[^"]*" title="(?P<origin>[^"]*)"')
OTHER_LINK = re.compile(r'<a href="(?:models|tasks)/[^"]*">(?P<text>.*?)</a>')


def standing_alone(page: str) -> str:
    """Return a board whose pages of models and tasks are not there: a figure leads to its signature
    and its command at the end of the page, where a phone can read them too, and what has no page is
    no link."""
    origins = list(dict.fromkeys(FIGURE_LINK.findall(page)))
    anchors = {origin: f"made-{place}" for place, origin in enumerate(origins, start=1)}

    def link(match: re.Match[str]) -> str:
        origin = match["origin"]
        return f'<a href="#{anchors[origin]}" title="{origin}"'

    linked = OTHER_LINK.sub(r"\g<text>", FIGURE_LINK.sub(link, page))
    return linked.replace("</main>", f"{origins_section(anchors)}\n</main>")


def origins_section(anchors: Mapping[str, str]) -> str:
    """Return the list of signatures and commands, each under its anchor. They are HTML already."""
    entries = []
    for origin, anchor in anchors.items():
        signature, _, command = origin.rpartition("\n")
        # code breaks anywhere: a signature would be wider than the window
        lines = f"<code>{command}</code><br><code>{signature}</code>"
        entries.append(f'<li id="{anchor}" class="signature">{lines}</li>')
    return (
        '<section id="made" aria-labelledby="made-title">\n'
        '<h2 id="made-title">How each figure was made</h2>\n'
        f"<ol>\n{chr(10).join(entries)}\n</ol>\n</section>"
    )


def with_published(run: Run, published: Sequence[Published]) -> Run:
    """Return the run with its task's published figures, which a sample is shown without: here each
    says that it is of all questions. Diets are left to the names of the few models that have one:
    as columns they would be empty for all others."""
    marked = tuple(replace(row, source=f"{row.source}; all questions") for row in published)
    manifest = run.manifest.model_copy(update={"diet": {}})
    return replace(run, manifest=manifest, task=replace(run.task, published=marked))


def scaling_chart(rows: Sequence[Row]) -> Markup:
    """Draw scores of parts and colors against parameters."""
    curves = []
    for task in SCALED:
        task_rows = [row for row in rows if row.task == task and row.model in CAUSAL]
        curves.append(scaled(task, task_rows))
    return chart(curves, "Parts and colours against parameters")


def sizes_chart(rows: Sequence[Row]) -> Markup:
    """Draw sizes, asked and probed, against parameters."""
    size_rows = [row for row in rows if row.task == "core-size" and row.model in CAUSAL]
    curves = [scaled("asked", size_rows), scaled("probed", mean_probes(rows, CAUSAL))]
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


def layers_chart(curves: Sequence[LayerCurve]) -> Markup:
    """Draw probes of sizes over the depth of each model."""
    series = []
    for curve in curves:
        last = curve.figures[-1].layer
        series.append(
            Series(
                curve.figures[0].model,
                [figure.layer / last for figure in curve.figures],
                [figure.value for figure in curve.figures],
            )
        )
    return lines(
        series,
        title="core-size, probed layer by layer",
        x_label="depth: 0 the embedding, 1 the last layer",
        y_label="accuracy",
        y_ends=(0.5,),
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


def page_tables(rows: Sequence[Row], curves: Sequence[LayerCurve]) -> dict[str, str]:
    """Return the tables of the page that the documentation shows, by their names in its text."""
    by_key = {row.key: row for row in rows}
    probes = {row.model: row for row in mean_probes(rows, VECTORS)}
    sizes = [
        (model, cell(by_key.get(("core-size", model))), cell(probes.get(model)))
        for model in (*ENCODERS, *CAUSAL)
    ]
    chats = []
    for model in CHAT:
        for task in SIZES_AND_COLORS:
            labels = (model, f"{model} · chat", f"{model} · chat · generated")
            chats.append((task, model, *(cell(by_key.get((task, label))) for label in labels)))
    costs = []
    for model in CAUSAL:
        core_rows = [by_key.get((task, model)) for task in SIZES_AND_COLORS]
        costs.append((model, size_of(rows, model), *map(seconds_of, core_rows)))
    reared = [row for row in rows if row.task == REARED_TASK]
    return {
        "sizes": markdown(("model", "asked, 80 questions", "probed, 420 questions"), sizes),
        "layers": layers_table(curves),
        "chats": markdown(("task", "model", "plain", "chat", "chat, generated"), chats),
        "reared": markdown(("model", "accuracy"), [(row.model, cell(row)) for row in reared]),
        "leans": leans_table(rows),
        "costs": markdown(("model", "parameters", *SIZES_AND_COLORS), costs),
        "samples": samples_table(rows),
    }


def layers_table(curves: Sequence[LayerCurve]) -> str:
    """Return what probes read from the embedding, the best layer and the last one."""
    table = []
    for curve in curves:
        first, last = curve.figures[0], curve.figures[-1]
        best = max(curve.figures, key=lambda figure: figure.value)
        table.append(
            (
                first.model,
                str(last.layer),
                interval(first),
                f"{interval(best)}, layer {best.layer}",
                interval(last),
                "–" if last.second_thing is None else f"{last.second_thing:.3f}",
            )
        )
    header = ("model", "layers", "embedding", "best", "last", "last, second thing alone")
    return markdown(header, table)


def leans_table(rows: Sequence[Row]) -> str:
    """Return the tasks on which a model chooses by place more than by what is right."""
    leaning = [row for row in rows if row.lean is not None and row.lean >= LEANING]
    by_model = group_by(
        [
            row
            for row in leaning
            if not row.model.startswith("baseline:") and PROBED not in row.model
        ],
        lambda row: row.model,
    )
    table = []
    for model, group in by_model.items():
        group.sort(key=lambda row: -(row.lean or 0))
        table.append((model, ", ".join(f"{row.task} {row.lean:.2f}" for row in group)))
    return markdown(("model", "tasks"), table)


def samples_table(rows: Sequence[Row]) -> str:
    """Return how many questions of each task were asked, and whom they were not."""
    table = []
    for task, group in group_by(rows, lambda row: row.task).items():
        answers = [row for row in group if PROBED not in row.model]
        names = [row.model for row in answers if not row.model.startswith("baseline:")]
        # models of text are not asked about pictures, which baselines are
        if not names:
            continue
        questions = max(row.n for row in answers)
        table.append((task, f"{questions:,}", group[0].metric, str(len(names)), missing(names)))
    return markdown(("task", "questions", "metric", "rows of models", "no figure of"), table)


def missing(names: Sequence[str]) -> str:
    """Name the causal models that a task has no figure of."""
    return ", ".join(model for model in CAUSAL if model not in names)


def cell(row: Row | None) -> str:
    """Return a figure with its interval, grey where it is not shown to differ from chance, and
    marked where it is worse."""
    if row is None:
        return "–"
    text = interval(row)
    if row.standing == WORSE:
        return f"{text}, {WORSE}"
    if row.standing == LIKE_CHANCE:
        return f'<span class="like-chance" title="{LIKE_CHANCE}">{text}</span>'
    return text


def interval(figure: Row | LayerFigure) -> str:
    """Return a figure with its interval."""
    return f"{figure.value:.3f} ({figure.low:.3f}–{figure.high:.3f})"


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


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    page = options.page.absolute()
    os.chdir(options.runs)
    write_page(page)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
