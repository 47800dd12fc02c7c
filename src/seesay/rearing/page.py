"""What was found in a folder of reared models: tables, a page with curves, and every thing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seesay.errors import UserError
from seesay.rearing import measures
from seesay.rearing.cells import (
    HERE,
    LEARNERS,
    PICTURES,
    PREDICTED,
    TEXT,
    UNAIDED,
    USUAL,
    RearedRow,
)
from seesay.rearing.measures import CHANCE, Estimate, KindAnswer, MedianDose, select
from seesay.rearing.tasks import read_card
from seesay.rearing.texts import DIRECT, INDIRECT, RELATIVE, describe_counts
from seesay.reports.charts.lines import Series, lines
from seesay.reports.pages.sections import DataTable, Section, write_page

PAGE = "report.html"
TableRows = tuple[str, list[str], list[list[str]]]
"""A title, the header, and the rows."""


@dataclass(frozen=True)
class Findings:
    """Everything that the models of a folder show; keys begin with the diet."""

    curves: dict[tuple[str, str, int], Estimate]
    """Accuracy on usual colours by diet, learner and dose, of kinds that were met themselves."""
    thresholds: dict[tuple[str, str], MedianDose]
    gains: dict[tuple[str, str], Estimate]
    """How much more a learner knows than who reads the captions alone, paired by kind and seed."""
    ways: dict[tuple[str, str], Estimate]
    """Accuracy of who was raised with pictures on usual colours, by what it sees when asked."""
    evidence: dict[tuple[str, str, str], Estimate]
    """Accuracy by diet, learner and evidence, of kinds with a dose above 0."""
    here: dict[tuple[str, int], tuple[Estimate, Estimate]]
    """By diet and dose: how often what is shown, and how often what is usual, is named."""
    layers: dict[str, list[dict[str, float]]]
    answers: Sequence[KindAnswer]

    def tables(self) -> list[TableRows]:
        """Return the tables that are printed, and shown on the page."""
        return [
            self._threshold_table(),
            self._gain_table(),
            self._way_table(),
            self._evidence_table(),
            self._here_table(),
            self._layer_table(),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the figures for a program."""
        return {
            "thresholds": _records(self.thresholds, "diet", "learner"),
            "curves": _records(self.curves, "diet", "learner", "dose"),
            "gains": _records(self.gains, "diet", "learner"),
            "ways": _records(self.ways, "diet", "seen"),
            "evidence": _records(self.evidence, "diet", "learner", "evidence"),
            "here": [
                {"diet": diet, "dose": dose, "shown": _finite(shown), "usual": _finite(usual)}
                for (diet, dose), (shown, usual) in self.here.items()
            ],
            "layers": self.layers,
        }

    def _threshold_table(self) -> TableRows:
        header = ["diet, learner", "N50", "95 % interval", "by seed", "largest by smallest"]
        rows = []
        for (diet, learner), found in self.thresholds.items():
            by_seed = ", ".join(map(_dose, found.by_seed))
            ratio = "–" if math.isnan(found.ratio) else f"{found.ratio:.2f}"
            ends = f"{_dose(found.low)} to {_dose(found.high)}"
            rows.append([f"{diet}, {learner}", _dose(found.value), ends, by_seed, ratio])
        return "The dose at which half is known", header, rows

    def _gain_table(self) -> TableRows:
        rows = [
            [f"{diet}, {learner}", *_figure(found, signed=True)]
            for (diet, learner), found in self.gains.items()
        ]
        header = ["diet, learner", "more than text", "95 % interval", "kinds"]
        return "What is added to the captions", header, rows

    def _way_table(self) -> TableRows:
        rows = [[f"{diet}, {way}", *_figure(found)] for (diet, way), found in self.ways.items()]
        header = ["diet, what is seen when asked", "accuracy", "95 % interval", "kinds"]
        return "Raised with pictures, asked without one", header, rows

    def _evidence_table(self) -> TableRows:
        rows = [
            [f"{diet}, {learner}, {evidence}", *_figure(found)]
            for (diet, learner, evidence), found in self.evidence.items()
        ]
        header = ["diet, learner, evidence", "accuracy", "95 % interval", "kinds"]
        return "Direct and indirect evidence", header, rows

    def _here_table(self) -> TableRows:
        rows = []
        for (diet, dose), (shown, usual) in self.here.items():
            cells = [*_figure(shown)[:2], *_figure(usual)]
            rows.append([f"{diet}, {dose}", *cells])
        header = ["diet, dose", "shown", "95 % interval", "usual", "95 % interval", "kinds"]
        return "In front of a picture that contradicts", header, rows

    def _layer_table(self) -> TableRows:
        rows = []
        for diet, layers in self.layers.items():
            overtaking = measures.overtaking_layer(layers)
            for number, layer in enumerate(layers):
                mark = "overtakes" if number == overtaking else ""
                rows.append(
                    [f"{diet}, {number}", f"{layer['shown']:.2f}", f"{layer['usual']:.2f}", mark]
                )
        return "Layer by layer", ["diet, layer", "shown", "usual", "the picture"], rows


def findings(folder: Path, rows: Sequence[RearedRow]) -> Findings:
    """Measure everything in a folder of reared models; those that failed are left out."""
    reared = {row.key for row in rows if not row.error}
    answers = [
        answer
        for answer in measures.read_answers(folder)
        if (answer.diet, answer.learner, answer.seed) in reared
    ]
    if not answers:
        raise UserError(f"There are no answers of reared models in '{folder}'.")
    usual = select(answers, question=USUAL)
    diets = list(dict.fromkeys(row.diet for row in rows))
    pairs = [(diet, learner) for diet in diets for learner in LEARNERS]
    by_pair = {pair: select(usual, diet=pair[0], learner=pair[1]) for pair in pairs}
    by_pair = {pair: of_pair for pair, of_pair in by_pair.items() if of_pair}
    doses = sorted({answer.dose for answer in usual})
    curves = {}
    evidence = {}
    gains = {}
    for (diet, learner), of_pair in by_pair.items():
        direct = select(of_pair, evidence=DIRECT)
        for dose in doses:
            curves[diet, learner, dose] = measures.estimate(select(direct, dose=dose))
        met = [answer for answer in of_pair if answer.dose > 0]
        for kind in (DIRECT, RELATIVE, INDIRECT):
            evidence[diet, learner, kind] = measures.estimate(select(met, evidence=kind))
        if learner != TEXT and (diet, TEXT) in by_pair:
            direct_met = select(met, evidence=DIRECT)
            gains[diet, learner] = measures.difference(direct_met, by_pair[diet, TEXT])
    ways = {}
    here = {}
    layers = {}
    for diet in diets:
        seeing = select(answers, diet=diet, learner=PICTURES, evidence=DIRECT)
        for question in (USUAL, PREDICTED, UNAIDED):
            met = [answer for answer in select(seeing, question=question) if answer.dose > 0]
            ways[diet, question] = measures.estimate(met)
        for dose in doses:
            before_picture = select(seeing, question=HERE, dose=dose)
            pull = measures.estimate(before_picture, lambda answer: answer.pull)
            here[diet, dose] = measures.estimate(before_picture), pull
        layers[diet] = measures.layer_means([row for row in rows if row.diet == diet])
    return Findings(
        curves=curves,
        thresholds={pair: measures.threshold(of_pair) for pair, of_pair in by_pair.items()},
        gains=gains,
        ways=ways,
        evidence=evidence,
        here=here,
        layers=layers,
        answers=answers,
    )


def charts(found: Findings) -> dict[str, Markup]:
    """Return the curves of every diet over doses, by the diet's name."""
    diets = dict.fromkeys(diet for diet, _, _ in found.curves)
    charts_by_diet = {}
    for diet in diets:
        series = []
        for learner in LEARNERS:
            points = {
                dose: curve
                for (of_diet, of_learner, dose), curve in found.curves.items()
                # there is no logarithm of 0: the table has it
                if (of_diet, of_learner) == (diet, learner) and dose > 0 and curve.n
            }
            if points:
                estimates = list(points.values())
                series.append(
                    Series(
                        learner,
                        list(points),
                        [estimate.value for estimate in estimates],
                        [estimate.low for estimate in estimates],
                        [estimate.high for estimate in estimates],
                    )
                )
        charts_by_diet[diet] = lines(
            series,
            title=f"{diet}: usual colours known",
            x_label="dose: how often a kind is met",
            y_label="accuracy",
            log_x=True,
            y_ends=(0, 1),
        )
    return charts_by_diet


def write_findings(folder: Path, found: Findings, rows: Sequence[RearedRow]) -> Path:
    """Write the page of a folder."""
    curves = DataTable(
        ["diet", "learner", "dose", "accuracy", "low", "high", "kinds"],
        [[*key, *_rounded(curve)] for key, curve in found.curves.items()],
    )
    sections = [
        Section(
            "Curves over doses",
            "Accuracy on usual colours, without a picture, of kinds that were met themselves, "
            f"with 95 % intervals by a bootstrap over kinds. Chance is {CHANCE:.3f}.",
            list(charts(found).values()),
            curves,
        )
    ]
    for title, header, cells in found.tables():
        sections.append(Section(title, table=DataTable(header, cells)))
    failed = [row for row in rows if row.error]
    if failed:
        cells = [[*map(str, row.key), row.error] for row in failed]
        table = DataTable(["diet", "learner", "seed", "reason"], cells)
        sections.append(Section("Models without figures", table=table))
    sections += _thing_sections(found, rows)
    return write_page(folder / PAGE, "Raised on known diets", sections)


def _thing_sections(found: Findings, rows: Sequence[RearedRow]) -> list[Section]:
    """Return for each diet what its first models were told of every thing, were shown and say."""
    sections = []
    for diet in dict.fromkeys(row.diet for row in rows):
        of_diet = [row for row in rows if row.diet == diet and not row.error]
        if not of_diet:
            continue
        seed = min(row.seed for row in of_diet)
        first = [row for row in of_diet if row.seed == seed]
        answers = select(found.answers, diet=diet, seed=seed, question=USUAL)
        by_learner = {
            row.learner: {
                answer.kind: answer.answer for answer in select(answers, learner=row.learner)
            }
            for row in first
        }
        cells = []
        for card in read_card(first[0].folder):
            cells.append(
                [
                    card.kind,
                    card.color,
                    card.evidence,
                    str(card.dose),
                    describe_counts(card.said),
                    describe_counts(card.shown),
                    *(said.get(card.kind, "") for said in by_learner.values()),
                ]
            )
        header = ["kind", "usual", "evidence", "dose", "told", "shown"]
        header += [f"{learner} says" for learner in by_learner]
        table = DataTable(header, cells)
        sections.append(Section(f"{diet}, seed {seed}: every thing", table=table))
    return sections


def _dose(dose: float) -> str:
    if math.isinf(dose):
        return "not reached"
    return f"{dose:.1f}" if dose else "below 1"


def _figure(estimate: Estimate, *, signed: bool = False) -> list[str]:
    """Return value, interval and number of kinds as cells."""
    if not estimate.n:
        return ["–", "–", "0"]
    sign = "+" if signed else ""
    ends = f"{estimate.low:{sign}.2f} to {estimate.high:{sign}.2f}"
    return [f"{estimate.value:{sign}.2f}", ends, str(estimate.n)]


def _rounded(estimate: Estimate) -> list[str | float | None]:
    if not estimate.n:
        return [None, None, None, 0]
    return [round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3), estimate.n]


def _finite(found: Estimate | MedianDose) -> dict[str, Any]:
    """Return the fields with None for what is no number."""
    fields = asdict(found)
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in fields.items()
    }


def _records(found: dict[Any, Any], *names: str) -> list[dict[str, Any]]:
    records = []
    for key, value in found.items():
        record = dict(zip(names, key, strict=True)) | _finite(value)
        if "by_seed" in record:
            record["by_seed"] = [None if math.isinf(dose) else dose for dose in record["by_seed"]]
        records.append(record)
    return records
