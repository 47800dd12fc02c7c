"""What the figures say, in a sentence that claims no more than they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seesay.condition import How
from seesay.grouping import group_by
from seesay.quantities import listed
from seesay.reports.chance import LIKE_CHANCE, WORSE, standings
from seesay.reports.formatting import (
    FEW,
    NONE,
    interval,
    is_shown,
    lower_is_better,
    metric_name,
    number,
)
from seesay.reports.groups import PEOPLE, LabelledRun, TaskRuns
from seesay.reports.unanswered import unanswered_words
from seesay.runs.layers import LayerCurve, LayerFigure
from seesay.runs.records import Comparison, Figure
from seesay.runs.request import is_baseline
from seesay.runs.run import Run

AHEAD = "ahead on"
BEHIND = "behind on"
NEITHER = "not shown to differ on"
ABOVE = "above chance on"
BELOW = "below chance on"
AT = "not shown to differ from chance on"
FROM_CHANCE = {"": ABOVE, LIKE_CHANCE: AT, WORSE: BELOW}
VERDICTS = (AHEAD, ABOVE, NEITHER, AT, BEHIND, BELOW)


def results_in_words(groups: Sequence[TaskRuns], comparisons: Sequence[Comparison]) -> str:
    """Return what is to be said of each model that is no baseline, and of people, by the headline
    metrics: on which tasks it is ahead of the baseline that it was compared with, or of chance
    where there is none. Chance is tested as for the grey of figures, with the same correction.

    Models of which the same is to be said share a sentence.
    """
    from_chance = _verdicts_on_chance(groups)
    few = _of_few_objects(groups)
    entries = [entry for group in groups for entry in group.entries]
    labels_by_words: dict[tuple[str, str], list[str]] = {}
    for label, runs in group_by(entries, lambda entry: entry.label).items():
        if is_baseline(label):
            continue
        tasks: dict[tuple[str, str], list[str]] = {}
        for entry in runs:
            rival, verdict, contrary = _verdict(entry, comparisons, from_chance)
            if verdict:
                mark = FEW if entry in few else ""
                words = f"{entry.run.manifest.task}{mark}{contrary}{_unanswered(entry.run)}"
                tasks.setdefault((rival, verdict), []).append(words)
        for rival in dict.fromkeys(rival for rival, _ in tasks):
            parts = []
            for verdict in VERDICTS:
                if (rival, verdict) in tasks:
                    parts.append(f"{verdict} {listed(tasks[rival, verdict])}")
            against = f"Compared with {rival}, " if rival else ""
            labels_by_words.setdefault((against, listed(parts)), []).append(label)
    people = {entry.label for entry in entries if entry.run.manifest.family == PEOPLE}
    sentences = []
    for (against, words), labels in labels_by_words.items():
        verb = "are" if len(labels) > 1 or labels[0] in people else "is"
        sentences.append(f"{against}{listed(labels)} {verb} {words}.")
    return " ".join(sentences)


def _unanswered(run: Run) -> str:
    """Return in brackets how many prompts a run has no answer to, if it is worth a word."""
    words = unanswered_words(run)
    return f" ({words} without an answer count as wrong)" if words else ""


def _of_few_objects(groups: Sequence[TaskRuns]) -> set[LabelledRun]:
    """Return the runs whose headline figure rests on too few objects, as its mark says."""
    figures = [item for group in groups for item in group.headline_figures().items()]
    return {entry for entry, figure in figures if figure.too_few}


def _verdicts_on_chance(groups: Sequence[TaskRuns]) -> dict[LabelledRun, str]:
    """Return how each headline figure that has a chance stands to it, of tasks without parts."""
    verdicts = {}
    for group in groups:
        if None not in group.parts:
            continue
        by_figure = standings(group)
        for entry, figure in group.headline_figures().items():
            if figure.chance is not None:
                verdicts[entry] = FROM_CHANCE[by_figure.get((entry, None), "")]
    return verdicts


def _verdict(
    entry: LabelledRun, comparisons: Sequence[Comparison], from_chance: Mapping[LabelledRun, str]
) -> tuple[str, str, str]:
    """Return the baseline that a run is compared with, how it stands by the task's headline metric,
    and by which other metrics it stands the other way round; with chance where no baseline is."""
    manifest = entry.run.manifest
    metric = entry.run.task.metrics[0]
    headline = (manifest.task, metric, None)
    candidates = []
    for comparison in comparisons:
        rivals = {comparison.signature_a: comparison.b, comparison.signature_b: comparison.a}
        rival = rivals.get(manifest.signature, "")
        is_headline = (comparison.task, comparison.metric, comparison.slice) == headline
        if is_headline and is_baseline(rival):
            candidates.append((comparison, rival))
    if candidates:
        # a baseline may have a smaller sample, too, which says less
        comparison, rival = max(candidates, key=lambda candidate: candidate[0].n)
        verdict = _standing(comparison, manifest.signature)
        return rival, verdict, _contrary(comparison, comparisons, manifest.signature)
    return "", from_chance.get(entry, ""), ""


def _standing(comparison: Comparison, signature: str) -> str:
    """Return how the run of this signature stands in a comparison."""
    if not is_shown(comparison):
        return NEITHER
    is_first = comparison.signature_a == signature
    is_higher = (comparison.difference > 0) == is_first
    return AHEAD if is_higher != lower_is_better(comparison.metric) else BEHIND


def _contrary(headline: Comparison, comparisons: Sequence[Comparison], signature: str) -> str:
    """Return the metrics by which one of the same two runs is ahead where the headline does not say
    so, in brackets."""
    standing = _standing(headline, signature)
    rivals = {headline.signature_a, headline.signature_b}
    by_standing = group_by(
        (
            other
            for other in comparisons
            if {other.signature_a, other.signature_b} == rivals and other.slice is None
        ),
        lambda other: _standing(other, signature),
    )
    parts = []
    for word in (AHEAD, BEHIND):
        if word != standing and word in by_standing:
            names = [metric_name(other.metric) for other in by_standing[word]]
            parts.append(f"{word.removesuffix(' on')} by {listed(names)}")
    if not parts:
        return ""
    return f" ({metric_name(headline.metric)}; {'; '.join(parts)})"


def asked_figure(curve: LayerCurve, runs: Sequence[Run]) -> Figure | None:
    """Return what the model of a curve gets on its task when all its questions are put to it as
    they stand; None where it was not asked."""
    first = curve.figures[0]
    for run in runs:
        manifest = run.manifest
        is_same = (manifest.model, manifest.task) == (first.model, first.task)
        condition = manifest.condition
        is_plain = condition.how is How.CLOZE and condition.chat is None and not condition.shots
        if not is_same or not is_plain or manifest.limit is not None:
            continue
        for figure in run.figures:
            if figure.metric == first.metric and figure.template is None and figure.slice is None:
                return figure
    return None


def _beyond_second(figure: LayerFigure) -> str:
    """Return by how much both things give more than the second alone, with its interval."""
    if figure.beyond_second is None:
        return NONE
    low = number(figure.beyond_second_low)
    high = number(figure.beyond_second_high)
    return f"{number(figure.beyond_second, sign=True)}, {low} to {high}"


def layers_in_words(curve: LayerCurve, answer: Figure | None = None) -> str:
    """Return what the layers of a model hold beyond its embedding, a control task and its own
    answers."""
    first = curve.figures[0]
    best = max(curve.figures, key=lambda figure: figure.value)
    last = curve.figures[-1]
    reader = "what the output head reads out" if curve.how == How.LENS else "a linear probe"
    beside = []
    if first.layer == 0 and first is not last:
        beside.append(f"the embedding alone {_with_interval(first)}")
    if last.second_thing is not None:
        alone = f"a probe that is shown the second thing alone {number(last.second_thing)}"
        beside.append(f"{alone} (both give {_beyond_second(last)})")
    if last.control is not None:
        beside.append(f"labels that mean nothing {number(last.control)}")
    if answer is not None:
        beside.append(f"the model's answers to all {answer.n:,} questions {_with_interval(answer)}")
    if first.chance is not None:
        beside.append(f"chance {number(first.chance)}")
    text = (
        f"On {first.task} ({metric_name(first.metric)}), {reader} of {first.model}'s layer "
        f"{last.layer} gets {_with_interval(last)}"
    )
    if beside:
        text += f"; beside it, {listed(beside)}"
    text += "."
    if best is not last:
        text += (
            f" The best of {len(curve.figures)} layers on these questions is {best.layer}: "
            f"{_with_interval(best)}."
        )
    return text


def _with_interval(figure: LayerFigure | Figure) -> str:
    return f"{number(figure.value)} ({interval(figure.low, figure.high)})"
