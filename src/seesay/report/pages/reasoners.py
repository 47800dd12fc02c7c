"""Pages of trained reasoners: what they get right and why not, and a sweep beside the published tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from seesay.reasoners.diagnostics import REASONER, Bin, Diagnosis, Share, mixtures
from seesay.reasoners.evaluate import CEILING
from seesay.reasoners.networks.registry import NAMES
from seesay.reasoners.paper_tables import OTHERS, TABLES, Figure, asked, ceiling, published
from seesay.report import reasoner_figures as figures
from seesay.report.attention_overlay import drawn
from seesay.report.charts import Bar, bars
from seesay.report.formatting import NONE, interval, number
from seesay.report.pages.sections import DataTable, Section, write_page, write_svg
from seesay.report.reasoner_figures import RULES, title_of

ACCURACY = (
    "The share of generated test items that is answered right, with Wilson's 95 % interval; chance is 0.5.\n\n"
    "Rules answer the same items from the scene itself: k = 0.29 is about the best that one can do who does not know a "
    "scene's k. A reasoner no better than a shortcut (the whole scene in place of the target's own shape; only the "
    "biggest is big) may have learnt just that. The hard tests leave out the largest and the smallest things, so that "
    "shortcuts fail. Unseen combinations are pairs of adjective and shape that training never showed."
)
TYPES = (
    "After Figure 4 of Pezzelle & Fernández (2019). One who knows what big means is about as good on every bar. A bias "
    "towards yes lifts the true sentences and lowers the false ones; an adjective that was learnt shape by shape "
    "fails on some shapes alone. Whiskers are 95 % intervals."
)
BY_K = (
    "After Figure 5 of the paper. k is what the scene's speaker draws the line with: the higher it is, the more things "
    "are big. It cannot be seen in the picture, so even perfect eyes err at both ends: at a high k about things that "
    "are just big (big and true, small and false), at a low k about those that are just small. Each mark stands at "
    "the mean k of its bin; bands are 95 % intervals."
)
DISTANCE = (
    "After Figure 6 of the paper: how far the thing's area lies from the line between big and small, in shares of the "
    "range of its reference set. Mistakes near the line are what vagueness leaves, and the ceiling (k = 0.29) makes "
    "them too; mistakes far from it are the reasoner's own."
)
LOOKS = (
    "After Figure 7 of the paper: the first items of the test that were answered right, and the first wrong ones; "
    "none is chosen by hand. What the sentence is about is framed; the number is the probability of what is said.\n\n"
    "The veil shows, for FiLM, how many channels take their maximum from a cell and, for stacked attention, how much "
    "each round looks at it, both as far as that is above an even share. For the object-centred reasoner it shows how "
    "probably an object is the one that is meant, and how far it belongs to those that one is compared with (the one "
    "that belongs most stands for 1). CNN+LSTM "
    "takes the picture whole."
)
UNSEEN = (
    "Training items pair adjectives and shapes in one way, with so many examples of the other pairs among them. Level "
    "lines (0) show what a network reaches without any of those."
)
SWEEP = (
    "The best configuration of each network by validation accuracy: mean ± standard deviation over its seeds, and in "
    "brackets how many seeds there are; the ceiling is that of the items diagnosed below. Published are means over "
    "three runs of the best of sixteen configurations (Pezzelle & Fernández 2019)."
)
CHART = "Whiskers are one standard deviation to either side."
_TABLES = {"Table 1": "the four tasks", "Table 2": "hard tests", "Table 3": "seen and unseen combinations"}
_CEILING = "ceiling, k = 0.29"
_COLUMNS = ("right", "items", "accuracy", "95 % interval")

Named = Sequence[tuple[str, Diagnosis]]
Charts = dict[str, Markup]


def reasoner_page(path: Path, diagnoses: Sequence[Diagnosis]) -> list[Path]:
    """Write the page, and beside it each chart of numbers as a file; what was written."""
    named = figures.labels(diagnoses)
    title = f"Diagnosis of {named[0]}" if len(named) == 1 else f"Diagnosis of {len(named)} reasoners"
    return _write(path, title, *diagnosis_sections(diagnoses))


def sweep_page(path: Path, ours: Sequence[Figure], diagnoses: Sequence[Diagnosis] = ()) -> list[Path]:
    """The paper's Tables 1 to 3 with ours beside, and Figures 4 to 7 of the reasoners that are diagnosed."""
    sections, charts = sweep_sections(ours, diagnoses)
    if diagnoses:
        more, others = diagnosis_sections(diagnoses)
        sections, charts = [*sections, *more], {**charts, **others}
    return _write(path, "Reasoners beside the published ones", sections, charts)


def diagnosis_sections(diagnoses: Sequence[Diagnosis]) -> tuple[list[Section], Charts]:
    """The sections, and the charts of numbers by name."""
    named = list(zip(figures.labels(diagnoses), diagnoses, strict=True))
    tests = {f"accuracy {test}": chart for test, chart in figures.accuracy(diagnoses).items()}
    sections, charts = [Section("Accuracy", ACCURACY, list(tests.values()), _accuracy_table(named))], tests
    if (against := figures.unseen(diagnoses)) is not None:
        charts = {**charts, "unseen": against}
        sections.append(Section("Few unseen examples", UNSEEN, [against], _unseen_table(diagnoses)))
    drawing: tuple[tuple[str, str, str, Callable[[Diagnosis, str], list[Markup]], DataTable], ...] = (
        ("types", "Sentence types, shapes and colours", TYPES, figures.types, _types_table(named)),
        ("k", "The scene's k", BY_K, figures.by_k, _bins_table(named, "k")),
        ("distance", "Distance from the threshold", DISTANCE, figures.by_distance, _bins_table(named, "distance")),
    )
    for figure, heading, reading, draw, table in drawing:
        made = {f"{figure} {name} {i}": chart for name, one in named for i, chart in enumerate(draw(one, name), 1)}
        if made:
            charts = {**charts, **made}
            sections.append(Section(heading, reading, list(made.values()), table))
    if looked := [drawn(example, name) for name, one in named for example in one.examples]:
        sections.append(Section("Where they look", LOOKS, looked))
    return sections, charts


def sweep_sections(ours: Sequence[Figure], diagnoses: Sequence[Diagnosis] = ()) -> tuple[list[Section], Charts]:
    """A section for each of the paper's tables: published and ours, as a chart a test and as a table."""
    sections: list[Section] = []
    charts: Charts = {}
    for table, about in _TABLES.items():
        columns = list(TABLES[table])
        found = {(one.network, one.column): one for one in ours if one.table == table}
        ceilings = {column: _ceiling(diagnoses, column) for column in columns}
        body: list[list[str]] = []
        for network, name in NAMES.items():
            body.append([f"{name}, published", *(number(published(column, name)) for column in columns)])
            body.append([f"{name}, ours", *(_cell(found.get((network, column))) for column in columns)])
        body.append([f"{_CEILING}, published", *(number(ceiling(column)) for column in columns)])
        body.append([f"{_CEILING}, ours", *(number(ceilings[column]) for column in columns)])
        body = [row for row in body if any(cell != NONE for cell in row[1:])]
        header = ["", *(title_of(asked(column)) for column in columns)]
        sections.append(Section(f"{table}: {about}", "" if sections else SWEEP, (), DataTable(header, body)))
        drawn = {
            f"published {asked(column)}": _beside(column, found, ceilings[column])
            for column in columns
            if ceilings[column] is not None or any(column == known for _, known in found)
        }
        if drawn:
            charts |= drawn
            sections.append(Section(f"{table} as charts", CHART, list(drawn.values())))
    if others := [one for one in ours if one.table == OTHERS]:
        body = [[NAMES[one.network], one.column, _cell(one)] for one in others]
        sections.append(Section(OTHERS, "", (), DataTable(["network", "task and test", "ours"], body)))
    return sections, charts


def _ceiling(diagnoses: Sequence[Diagnosis], column: str) -> float | None:
    """What the fixed k reaches on the items that the reasoners were diagnosed with, the same ones for all."""
    return next((row.accuracy for one in diagnoses if (row := one.of(asked(column), CEILING))), None)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return NONE
    spread = "" if figure.sd is None else f" ± {number(figure.sd)}"
    return f"{number(figure.mean)}{spread} ({figure.seeds})"


def _beside(column: str, found: Mapping[tuple[str, str], Figure], diagnosed: float | None) -> Markup:
    told = []
    for network, name in NAMES.items():
        if (value := published(column, name)) is not None:
            told.append(Bar(name, value, series="published"))
        if (one := found.get((network, column))) is not None:
            low, high = (None, None) if one.sd is None else (one.mean - one.sd, one.mean + one.sd)
            told.append(Bar(name, one.mean, low, high, "ours"))
    for series, value in (("published", ceiling(column)), ("ours", diagnosed)):
        if value is not None:
            told.append(Bar(_CEILING, value, series=series))
    return bars(told, title=f"{title_of(asked(column))}: published and ours", x_label="accuracy")


def _accuracy_table(named: Named) -> DataTable:
    body: list[list[str]] = []
    for name, one in named:
        for row in one.accuracy:
            if row.group == (REASONER,):
                rules = [number(ruled.accuracy) if (ruled := one.of(row.test, rule)) else "" for rule in RULES]
                said = [number(row.accuracy), interval(row.low, row.high), f"{row.items:,}"]
                body.append([name, title_of(row.test), *said, *rules, number(published(row.test, NAMES[one.network]))])
    return DataTable(["reasoner", "test", "accuracy", "95 % interval", "items", *RULES.values(), "published"], body)


def _types_table(named: Named) -> DataTable:
    rows = [(name, row) for name, one in named for row in (*one.types, *one.colours)]
    body = [[name, title_of(row.test), ", ".join(row.group), *_numbers(row)] for name, row in rows]
    return DataTable(["reasoner", "test", "group", *_COLUMNS], body)


def _bins_table(named: Named, what: str) -> DataTable:
    """All bins of a reasoner, the hard tests' too."""
    rows: list[tuple[str, Bin]] = [(name, row) for name, one in named for row in getattr(one, what)]
    body = [
        [
            name, title_of(row.share.test), ", ".join(row.share.group), figures.between(row), number(row.mean),
            *_numbers(row.share), number(row.ceiling),
        ]
        for name, row in rows
    ]  # fmt: skip
    return DataTable(["reasoner", "test", "group", what, "mean", *_COLUMNS, "k = 0.29"], body)


def _unseen_table(diagnoses: Sequence[Diagnosis]) -> DataTable:
    body = [
        [NAMES[network], f"{count:,}", title_of(row.test), *_numbers(row)]
        for network, count, row in mixtures(diagnoses)
    ]  # fmt: skip
    return DataTable(["network", "unseen examples", "test", *_COLUMNS], body)


def _numbers(row: Share) -> list[str]:
    return [f"{row.right:,}", f"{row.items:,}", number(row.accuracy), interval(row.low, row.high)]


def _write(path: Path, title: str, sections: Sequence[Section], charts: Charts) -> list[Path]:
    files = {re.sub(r"[^\w+]+", "-", name.lower()).strip("-"): chart for name, chart in charts.items()}
    return [
        write_page(path, title, sections),
        *(write_svg(path.with_name(f"{path.stem}-{name}.svg"), chart) for name, chart in files.items()),
    ]
