"""Pages of trained reasoners: what they get right and why not, and a sweep beside the published tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Protocol

from markupsafe import Markup

from seesay.reasoners.diagnostics import REASONER, Bin, Diagnosis, Share, mixtures
from seesay.reasoners.judging import CEILING
from seesay.reasoners.networks import NAMES
from seesay.report import reasoner_figures as figures
from seesay.report.charts import Bar, Section, Table, bars, svg_file, write_page
from seesay.report.looked import drawn
from seesay.report.reasoner_figures import RULES, title_of
from seesay.report.wording import NONE, interval, number
from seesay.tasks import malevic

if TYPE_CHECKING:
    from seesay.reasoners.sweep import Trained

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
    "probably an object is the one that is meant, and how far it belongs to those that one is compared with. CNN+LSTM "
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
PAPER = {
    "Table 1: the four tasks": ("sup1", "pos1", "pos", "set+pos"),
    "Table 2: hard tests": ("pos-hard", "set+pos-hard"),
    "Table 3: seen and unseen combinations": ("compositional-seen", "compositional-unseen"),
}
_NETWORKS = {**NAMES, CEILING: "ceiling, k = 0.29"}
_COLUMNS = ("right", "items", "accuracy", "95 % interval")
_TRAINED_ON = {
    "pos-hard": ("pos", "pos-hard"), "set+pos-hard": ("set+pos", "set+pos-hard"),
    "compositional-seen": ("compositional", "test_seen"), "compositional-unseen": ("compositional", "test_unseen"),
}  # fmt: skip


class Tested(Protocol):
    """What the tables need of one training of a sweep: its accuracy by test."""

    @property
    def tests(self) -> Mapping[str, float]: ...


Best = Mapping[tuple[str, str], Sequence[Tested]]
Named = Sequence[tuple[str, Diagnosis]]
Charts = dict[str, Markup]


def reasoner_page(path: Path, diagnoses: Sequence[Diagnosis]) -> list[Path]:
    """Write the page, and beside it each chart of numbers as a file; what was written."""
    named = figures.labels(diagnoses)
    title = f"Diagnosis of {named[0]}" if len(named) == 1 else f"Diagnosis of {len(named)} reasoners"
    return _write(path, title, *diagnosis_sections(diagnoses))


def sweep_page(path: Path, results: Sequence[Trained], diagnoses: Sequence[Diagnosis] = ()) -> list[Path]:
    """The paper's Tables 1 to 3 with ours beside, and Figures 4 to 7 of the reasoners that are diagnosed."""
    from seesay.reasoners.sweep import best

    sections, charts = sweep_sections(best(results), diagnoses)
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
    drawing: tuple[tuple[str, str, str, Callable[[Diagnosis, str], list[Markup]], Table], ...] = (
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


def sweep_sections(best: Best, diagnoses: Sequence[Diagnosis] = ()) -> tuple[list[Section], Charts]:
    """A section for each of the paper's tables: published and ours, as a chart a test and as a table."""
    sections: list[Section] = []
    charts: Charts = {}
    for heading, tests in PAPER.items():
        ours = {(who, test): _ours(best, diagnoses, who, test) for who in _NETWORKS for test in tests}
        drawn = {test: _beside(test, ours) for test in tests if any(ours[who, test] for who in _NETWORKS)}
        charts |= {f"published {test}": chart for test, chart in drawn.items()}
        body: list[list[str]] = []
        for who, called in _NETWORKS.items():
            body.append([f"{called}, published", *(number(published(who, test)) for test in tests)])
            body.append([f"{called}, ours", *(_cell(ours[who, test], seeds=who != CEILING) for test in tests)])
        body = [row for row in body if any(cell != NONE for cell in row[1:])]
        text = SWEEP if not sections else ""
        sections.append(Section(heading, text, (), Table(["", *map(title_of, tests)], body)))
        if drawn:
            sections.append(Section(f"{heading.partition(':')[0]} as charts", CHART, list(drawn.values())))
    return sections, charts


def published(who: str, test: str) -> float | None:
    """What the paper has for a network, or for the fixed k, on a test."""
    called = NAMES.get(who, "ceiling (k = 0.29)")
    rows = malevic._published(test.replace("+", "-"))
    return next((row.value for row in rows if row.model == called), None)


def _ours(best: Best, diagnoses: Sequence[Diagnosis], who: str, test: str) -> list[float]:
    """A test's accuracy, seed by seed; the fixed k's is that of the items that the reasoners were diagnosed with."""
    if who == CEILING:
        return [row.accuracy for one in diagnoses if (row := one.of(test, who))][:1]
    task, key = _TRAINED_ON.get(test, (test, "test"))
    return [one.tests[key] for one in best.get((who, task), ()) if key in one.tests]


def _cell(values: Sequence[float], seeds: bool) -> str:
    if not values or not seeds:
        return number(values[0] if values else None)
    spread = f" ± {number(stdev(values))}" if len(values) > 1 else ""
    return f"{number(mean(values))}{spread} ({len(values)})"


def _beside(test: str, ours: Mapping[tuple[str, str], Sequence[float]]) -> Markup:
    told = []
    for who, called in _NETWORKS.items():
        if (value := published(who, test)) is not None:
            told.append(Bar(called, value, series="published"))
        if values := ours[who, test]:
            low, high = (mean(values) + side * stdev(values) if len(values) > 1 else None for side in (-1, 1))
            told.append(Bar(called, mean(values), low, high, "ours"))
    return bars(told, title=f"{title_of(test)}: published and ours", x_label="accuracy")


def _accuracy_table(named: Named) -> Table:
    body: list[list[str]] = []
    for name, one in named:
        for row in one.accuracy:
            if row.group == (REASONER,):
                rules = [number(ruled.accuracy) if (ruled := one.of(row.test, rule)) else "" for rule in RULES]
                said = [number(row.accuracy), interval(row.low, row.high), f"{row.items:,}"]
                body.append([name, title_of(row.test), *said, *rules, number(published(one.network, row.test))])
    return Table(["reasoner", "test", "accuracy", "95 % interval", "items", *RULES.values(), "published"], body)


def _types_table(named: Named) -> Table:
    rows = [(name, row) for name, one in named for row in (*one.types, *one.colours)]
    body = [[name, title_of(row.test), ", ".join(row.group), *_numbers(row)] for name, row in rows]
    return Table(["reasoner", "test", "group", *_COLUMNS], body)


def _bins_table(named: Named, what: str) -> Table:
    """All bins of a reasoner, the hard tests' too."""
    rows: list[tuple[str, Bin]] = [(name, row) for name, one in named for row in getattr(one, what)]
    body = [
        [
            name, title_of(row.share.test), ", ".join(row.share.group), figures.between(row), number(row.mean),
            *_numbers(row.share), number(row.ceiling),
        ]
        for name, row in rows
    ]  # fmt: skip
    return Table(["reasoner", "test", "group", what, "mean", *_COLUMNS, "k = 0.29"], body)


def _unseen_table(diagnoses: Sequence[Diagnosis]) -> Table:
    body = [
        [NAMES.get(network, network), f"{count:,}", title_of(row.test), *_numbers(row)]
        for network, count, row in mixtures(diagnoses)
    ]  # fmt: skip
    return Table(["network", "unseen examples", "test", *_COLUMNS], body)


def _numbers(row: Share) -> list[str]:
    return [f"{row.right:,}", f"{row.items:,}", number(row.accuracy), interval(row.low, row.high)]


def _write(path: Path, title: str, sections: Sequence[Section], charts: Charts) -> list[Path]:
    files = {re.sub(r"[^\w+]+", "-", name.lower()).strip("-"): chart for name, chart in charts.items()}
    return [
        write_page(path, title, sections),
        *(svg_file(path.with_name(f"{path.stem}-{name}.svg"), chart) for name, chart in files.items()),
    ]
