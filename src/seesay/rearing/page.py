"""What was found in a folder of reared models: tables, a page with curves, and every thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seesay.errors import UserError
from seesay.files import json_value
from seesay.rearing import measures
from seesay.rearing.cells import HERE, PICTURES, QUESTIONS, TEXT, USUAL, RearedRow
from seesay.rearing.measures import CHANCE, Estimate, KindAnswer, MedianDose, group, select
from seesay.rearing.tasks import read_card
from seesay.rearing.texts import DIRECT, EVIDENCE, describe_counts
from seesay.reports.charts.lines import Series, lines
from seesay.reports.pages.sections import DataTable, Section, write_page

PAGE = "report.html"
Figures = Mapping[tuple[Any, ...], Estimate | MedianDose]
"""Figures by what they are about, the diet first."""


@dataclass(frozen=True)
class Finding:
    """What one measure gives, figure by figure."""

    title: str
    column: str
    """What the figures are."""
    fields: Sequence[str]
    """What they are about, as in diet, learner and dose."""
    figures: Figures

    def table(self) -> DataTable:
        """Return the figures as a table."""
        rows = []
        for key, figure in self.figures.items():
            about = ", ".join(map(str, key))
            rows.append([about, *figure.cells()])
        # all figures of a measure are of one kind
        columns = next(iter(self.figures.values())).COLUMNS
        return DataTable([", ".join(self.fields), self.column, *columns], rows, self.title)

    def records(self) -> list[dict[str, Any]]:
        """Return the figures for a program; None for what is no number."""
        records = []
        for key, figure in self.figures.items():
            about = dict(zip(self.fields, key, strict=True))
            records.append(json_value(about | asdict(figure)))
        return records


@dataclass(frozen=True)
class Findings:
    """Everything that the models of a folder show."""

    measured: Mapping[str, Finding]
    """By the name of the measure, in the order of the page."""
    layers: Mapping[str, list[dict[str, float]]]
    """By diet: how often each layer names what is shown, and what is usual."""
    answers: Sequence[KindAnswer]

    def tables(self) -> list[DataTable]:
        """Return the tables that are printed, and shown on the page."""
        tables = [finding.table() for finding in self.measured.values() if finding.figures]
        return [*tables, self._layer_table()]

    def as_json(self) -> dict[str, Any]:
        """Return the figures for a program."""
        records = {name: finding.records() for name, finding in self.measured.items()}
        return {**records, "layers": self.layers}

    def _layer_table(self) -> DataTable:
        rows = []
        for diet, layers in self.layers.items():
            overtaking = measures.overtaking_layer(layers)
            for number, layer in enumerate(layers):
                mark = "overtakes" if number == overtaking else ""
                shares = [f"{layer[name]:.2f}" for name in ("shown", "usual")]
                rows.append([f"{diet}, {number}", *shares, mark])
        return DataTable(["diet, layer", "shown", "usual", "the picture"], rows, "Layer by layer")


def findings(folder: Path, rows: Sequence[RearedRow]) -> Findings:
    """Measure everything in a folder of reared models; those that failed are left out."""
    answers = _read_in_order(folder, rows)
    if not answers:
        raise UserError(f"There are no answers of reared models in '{folder}'.")
    # what was never met can only be guessed: it belongs to no mean but that of its dose
    dosed_answers = [answer for answer in answers if answer.dose > 0]
    usual = select(answers, question=USUAL)
    usual_met = select(dosed_answers, question=USUAL)
    direct_met = select(dosed_answers, evidence=DIRECT)
    here = select(answers, question=HERE, evidence=DIRECT)
    blind = [answer for answer in select(direct_met, learner=PICTURES) if answer.question != HERE]
    measured = {
        "thresholds": _find(
            "The dose at which half is known", "N50", measures.threshold, usual, "diet", "learner"
        ),
        "curves": _find(
            "Usual colours, of kinds that were met themselves",
            "accuracy",
            measures.estimate,
            select(usual, evidence=DIRECT),
            "diet",
            "learner",
            "dose",
        ),
        "gains": Finding(
            "What is added to the captions",
            "more than text",
            ("diet", "learner"),
            _gains(select(direct_met, question=USUAL)),
        ),
        "ways": _find(
            "Raised with pictures, asked without one",
            "accuracy",
            measures.estimate,
            blind,
            "diet",
            "question",
        ),
        "evidence": _find(
            "Direct and indirect evidence",
            "accuracy",
            measures.estimate,
            usual_met,
            "diet",
            "learner",
            "evidence",
        ),
        "shown": _find(
            "In front of a picture that contradicts: says what is shown",
            "accuracy",
            measures.estimate,
            here,
            "diet",
            "dose",
        ),
        "usual": _find(
            "In front of a picture that contradicts: says what is usual",
            "prior pull",
            measures.estimate_pull,
            here,
            "diet",
            "dose",
        ),
    }
    layers = {}
    for diet in _diets(rows):
        layers[diet] = measures.layer_means([row for row in rows if row.diet == diet])
    return Findings(measured, layers, answers)


def _read_in_order(folder: Path, rows: Sequence[RearedRow]) -> list[KindAnswer]:
    """Read the answers of all models that did not fail, in the order in which tables have them."""
    places = {row.key: place for place, row in enumerate(rows) if not row.error}
    answers = [answer for answer in measures.read_answers(folder) if answer.model in places]

    def order(answer: KindAnswer) -> tuple[int, ...]:
        question = QUESTIONS.index(answer.question)
        evidence = EVIDENCE.index(answer.evidence)
        return places[answer.model], question, evidence, answer.dose

    return sorted(answers, key=order)


def _find(
    title: str,
    column: str,
    measure: Callable[[Sequence[KindAnswer]], Estimate | MedianDose],
    answers: Sequence[KindAnswer],
    *fields: str,
) -> Finding:
    """Measure answers for all values that they have in these fields."""
    figures = {key: measure(part) for key, part in group(answers, *fields).items()}
    return Finding(title, column, fields, figures)


def _gains(answers: Sequence[KindAnswer]) -> Figures:
    """Return what learners know more than who reads the captions alone, where both are there."""
    parts = group(answers, "diet", "learner")
    gains = {}
    for (diet, learner), part in parts.items():
        # a text model that failed has no answers to pair with
        gain = measures.difference(part, parts.get((diet, TEXT), []))
        if learner != TEXT and gain.n:
            gains[diet, learner] = gain
    return gains


def _diets(rows: Sequence[RearedRow]) -> list[str]:
    """Return the names of all diets, each once."""
    return list(dict.fromkeys(row.diet for row in rows))


def charts(found: Findings) -> dict[str, Markup]:
    """Return the curves of every diet over doses, by the diet's name."""
    points: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    for (diet, learner, dose), figure in found.measured["curves"].figures.items():
        # there is no logarithm of 0: the table has it
        if dose > 0:
            point = (dose, figure.value, figure.low, figure.high)
            points.setdefault(diet, {}).setdefault(learner, []).append(point)
    charts_by_diet = {}
    for diet, curves in points.items():
        charts_by_diet[diet] = lines(
            [Series(learner, *zip(*curve, strict=True)) for learner, curve in curves.items()],
            title=f"{diet}: usual colours known",
            x_label="dose: how often a kind is met",
            y_label="accuracy",
            log_x=True,
            y_ends=(0, 1),
        )
    return charts_by_diet


def write_findings(folder: Path, found: Findings, rows: Sequence[RearedRow]) -> Path:
    """Write the page of a folder."""
    curves = Section(
        "Curves over doses",
        "Accuracy on usual colours, without a picture, of kinds that were met themselves, "
        f"with 95 % intervals by a bootstrap over kinds. Chance is {CHANCE:.3f}.",
        list(charts(found).values()),
    )
    sections = [curves]
    for table in found.tables():
        sections.append(Section(table.title, table=DataTable(table.header, table.rows)))
    failures = [[*map(str, row.key), row.error] for row in rows if row.error]
    if failures:
        table = DataTable(["diet", "learner", "seed", "reason"], failures)
        sections.append(Section("Models without figures", table=table))
    sections += _thing_sections(found, rows)
    return write_page(folder / PAGE, "Raised on known diets", sections)


def _thing_sections(found: Findings, rows: Sequence[RearedRow]) -> list[Section]:
    """Return for each diet what its first models were told of every thing, were shown and say."""
    sections = []
    for diet in _diets(rows):
        reared = [row for row in rows if row.diet == diet and not row.error]
        if not reared:
            continue
        first = min(reared, key=lambda row: row.seed)
        answers = select(found.answers, diet=diet, seed=first.seed, question=USUAL)
        colors = {(answer.learner, answer.kind): answer.answer for answer in answers}
        learners = list(dict.fromkeys(answer.learner for answer in answers))
        cells = []
        for card in read_card(first.folder):
            told_colors = describe_counts(card.said)
            shown_colors = describe_counts(card.shown)
            replies = [colors[learner, card.kind] for learner in learners]
            facts = [card.kind, card.color, card.evidence, str(card.dose)]
            cells.append([*facts, told_colors, shown_colors, *replies])
        header = ["kind", "usual", "evidence", "dose", "told", "shown"]
        header += [f"{learner} says" for learner in learners]
        heading = f"{diet}, seed {first.seed}: every thing"
        sections.append(Section(heading, table=DataTable(header, cells)))
    return sections
