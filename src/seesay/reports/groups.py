"""Runs in reading order: grouped by task, each with a label that is unique within its task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from seesay.condition import How
from seesay.grouping import group_by
from seesay.quantities import listed, quantity
from seesay.questions import Published, Question, Slice, Task
from seesay.reports.formatting import SAMPLE, count_range
from seesay.runs.compare import same_question
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Figure
from seesay.runs.run import Run, run_labels

PEOPLE = "people"
LAST_FAMILIES = (PEOPLE, "baseline")
"""Families whose runs come after the models', in this order."""


def is_people(model: str) -> bool:
    """Return whether a published row is of people.

    >>> is_people("Human majority"), is_people("people"), is_people("humanoid-7b")
    (True, True, False)
    """
    return re.search(r"\b(people|humans?)\b", model, re.IGNORECASE) is not None


def count_asked(families: Iterable[str]) -> str:
    """Return how many were asked, given the family of each: people are no models.

    >>> count_asked(["causal", "baseline", "people"])
    '1 model, 1 baseline and people'
    """
    counts = Counter(family if family in LAST_FAMILIES else "model" for family in families)
    parts = [quantity(counts[kind], kind) for kind in ("model", "baseline") if counts[kind]]
    if counts[PEOPLE]:
        parts.append(PEOPLE)
    return listed(parts)


def without_people(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs of models and baselines: people are no rivals of theirs."""
    return tuple(run for run in runs if run.manifest.family != PEOPLE)


def unite_names(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs with one name per model, known by its fingerprint; of runs that differ in
    nothing but the name, the latest.

    The name is the shortest, of equally short ones the first: a path says where a model lies, not
    which it is.
    """
    shortest: dict[str, str] = {}
    for run in runs:
        name = run.manifest.model
        # min takes the first of equally short names
        shortest[_identity(run)] = min(shortest.get(_identity(run), name), name, key=len)
    latest: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: run.manifest.created):
        latest[_nameless_signature(run)] = run
    united = []
    for run in runs:
        if latest[_nameless_signature(run)] is run:
            name = shortest[_identity(run)]
            manifest = run.manifest.model_copy(update={"model": name})
            united.append(replace(run, manifest=manifest))
    return tuple(united)


def _identity(run: Run) -> str:
    """Return what tells one model from another: the digest of its weights, else its name."""
    fingerprint = run.manifest.model_fingerprint
    # a model of another package may state something that is no digest, and then so may two
    if re.match(r"[0-9a-f]{16}", fingerprint):
        return fingerprint
    return run.manifest.model


def _nameless_signature(run: Run) -> str:
    """Return all that shapes the run's figures, whatever the model is called."""
    manifest = run.manifest
    signature = manifest.signature.replace(f"|model:{manifest.model}@", "|model:@")
    return f"{_identity(run)} {signature}"


def family_place(family: str) -> int:
    """Return a key that puts models before people, and baselines last."""
    if family not in LAST_FAMILIES:
        return 0
    return 1 + LAST_FAMILIES.index(family)


@dataclass(frozen=True, eq=False)
class LabelledRun:
    """A run under the name shown for it.

    `series` gives its color and mark, the same throughout a report.
    """

    run: Run
    label: str
    series: int

    def figure(
        self,
        metric: str,
        template: str | None = None,
        part: Slice | None = None,
    ) -> Figure | None:
        """Return the figure of a metric, for one template or all, for one slice or the whole."""
        return self._figures.get((metric, template, part))

    def figures_by(self, tag: str, *metrics: str) -> Iterator[tuple[str, Figure]]:
        """Yield the figures of some metrics over all templates for every value of a tag."""
        for figure in self.run.figures:
            if figure.metric not in metrics or figure.template is not None:
                continue
            if figure.slice and figure.slice.tags == (tag,):
                yield figure.slice[tag], figure

    @cached_property
    def _figures(self) -> dict[tuple[str, str | None, Slice | None], Figure]:
        # in reverse, so that of several figures with one key the first counts
        return {
            (figure.metric, figure.template, figure.slice): figure
            for figure in reversed(self.run.figures)
        }

    @property
    def metrics(self) -> tuple[str, ...]:
        """The plain metrics of the run.

        They are in the task's order, then come any that the task does not name.
        """
        metrics = dict.fromkeys(figure.metric for figure in self.run.figures)
        plain = [metric for metric in metrics if not metric.startswith(CALIBRATED)]
        in_order = [metric for metric in self.run.task.metrics if metric in plain]
        return tuple(dict.fromkeys((*in_order, *plain)))


@dataclass(frozen=True, eq=False)
class TaskRuns:
    """The runs of one task, and the questions that any of them asked."""

    task: Task
    title: str
    anchor: str
    entries: tuple[LabelledRun, ...]

    @property
    def name(self) -> str:
        """The task's name, which is shorter than its title, and what tells it from others of its
        name."""
        words = self.title.removeprefix(self.task.title or self.task.name)
        return self.task.name + words.removesuffix(self.sample)

    @property
    def headline(self) -> str:
        """The task's first metric."""
        return self.task.metrics[0]

    @property
    def how(self) -> How:
        """How the runs were asked.

        Where a task is asked by choice in the templates of its cloze questions, how the first of
        them was.
        """
        return self.entries[0].run.manifest.condition.how

    @property
    def sample(self) -> str:
        """What says that all runs asked the same limited number of questions, and whether they are
        the same questions, or nothing.

        Where runs have different limits their labels say so.
        """
        return limit_words(entry.run for entry in self.entries)

    @cached_property
    def parts(self) -> tuple[Slice | None, ...]:
        """What the headline covers: all questions (None), or each set of nested ones."""
        return self.task.parts

    def parts_of(self, metric: str) -> tuple[Slice | None, ...]:
        """Return what the metric is shown for.

        These are the headline's parts, then the slices of which figures are published.
        """
        published = (row.slice for row in self.task.published if row.metric == metric and row.slice)
        return tuple(dict.fromkeys((*self.parts, *published)))

    def crossed(self, tags: Sequence[str]) -> list[Slice]:
        """Return the slices by exactly these tags that have a headline figure.

        The tag by which questions are nested always belongs to them.
        """
        all_tags = {*tags}
        if self.task.nested_by:
            all_tags.add(self.task.nested_by)
        ordered_tags = tuple(sorted(all_tags))
        return [part for part in self.slices if part.tags == ordered_tags]

    @cached_property
    def slices(self) -> list[Slice]:
        """Every slice of which a run has a headline figure over all templates."""
        figures = [figure for entry in self.entries for figure in entry.run.figures]
        headlines = [
            figure for figure in figures if figure.metric == self.headline and not figure.template
        ]
        return list(dict.fromkeys(figure.slice for figure in headlines if figure.slice))

    def headline_figures(self, part: Slice | None = None) -> dict[LabelledRun, Figure]:
        """Return the headline figures of the runs that have one, for one slice or the whole."""
        figures = {}
        for entry in self.entries:
            figure = entry.figure(self.headline, part=part)
            if figure:
                figures[entry] = figure
        return figures

    @cached_property
    def other_samples(self) -> dict[tuple[LabelledRun, Slice | None], int]:
        """The runs whose headline figure of a part is of fewer or of other questions than others:
        easier ones, maybe, so that a higher figure is no better.

        Each comes with how many questions it shares with those others: the runs that asked the
        most, and of equally large samples the one that most runs asked, or the first.
        """
        shared = {}
        for part in self.parts:
            figures = self.headline_figures(part)
            if not figures:
                continue
            samples = {entry: _question_ids(entry.run, part) for entry in figures}
            most = max(figure.n for figure in figures.values())
            largest = [samples[entry] for entry, figure in figures.items() if figure.n == most]
            ((reference, _),) = Counter(largest).most_common(1)
            for entry, figure in figures.items():
                if figure.n < most or samples[entry] != reference:
                    shared[entry, part] = len(samples[entry] & reference)
        return shared

    def published(self, part: Slice | None = None) -> list[Published]:
        """Return the published figures of the headline metric, for one slice or the whole."""
        return [
            row for row in self.task.published if row.metric == self.headline and row.slice == part
        ]


def _question_ids(run: Run, part: Slice | None) -> frozenset[str]:
    """Return which questions of a part, or of the whole, a run asked."""
    tags = part.items if part else ()
    return frozenset(
        question.id
        for question in run.task.questions
        if all(question.tags.get(tag) == value for tag, value in tags)
    )


def sample_note(groups: Iterable[TaskRuns]) -> str:
    """Return what the mark of other samples means, if any figure has it."""
    shared = [count for group in groups for count in group.other_samples.values()]
    if not shared:
        return ""
    return (
        f"{SAMPLE} Of fewer questions than others of its column, or of other questions "
        f"({count_range(shared)} shared): not compared with them for bold."
    )


def headline_parts(runs: Iterable[Run]) -> Iterator[Figure]:
    """Yield the figures of what headlines cover: of all questions, or of each nested set."""
    for run in runs:
        parts = run.task.parts
        yield from (figure for figure in run.figures if figure.slice in parts)


def limit_words(runs: Iterable[Run]) -> str:
    """Return in words the limit that all runs have: " · a sample (limit 20)", or nothing."""
    samples = {(run.manifest.limit, _question_ids(run, None)) for run in runs}
    limits = {limit for limit, _ in samples}
    if len(limits) != 1:
        return ""
    (limit,) = limits
    if limit is None:
        return ""
    sample = "a sample" if len(samples) == 1 else "different samples"
    return f" · {sample} (limit {limit})"


def template_names(task: Task) -> str:
    """Return the names of a task's templates, as one text."""
    return ", ".join(template.name for template in task.templates)


def tell_apart(how: How, templates: str, alternatives: Collection[tuple[How, str]]) -> str:
    """Return what tells a group from others of its task, each given by how it was asked and by the
    names of its templates; "" where there is nothing to tell.

    Templates are named only where several groups were asked alike.
    """
    if len({other for other, _ in alternatives}) > 1:
        words = [str(how)]
    else:
        words = []
    if len({names for other, names in alternatives if other is how}) > 1:
        words.append(templates)
    return ": ".join(words)


def group_runs(runs: Sequence[Run]) -> tuple[TaskRuns, ...]:
    """Return runs by task, in order of first appearance, models before people and baselines.

    A limited run and a full one are of one task. Runs that share its name but not its templates,
    its headline or what its questions say form groups of their own: their figures are not
    comparable.
    """
    merged: list[_Members] = []
    for run in runs:
        members = next((members for members in merged if members.accepts(run)), None)
        if members is None:
            members = _Members([])
            merged.append(members)
        members.add(run)
    for members in merged:
        members.runs.sort(key=lambda run: family_place(run.manifest.family))
    labels = [run_labels(members.runs) for members in merged]
    # a label has one color and one mark throughout the report, whatever tasks it was asked
    all_labels = dict.fromkeys(label for names in labels for label in names)
    series = {label: place for place, label in enumerate(all_labels)}
    by_name = group_by(merged, lambda members: members.runs[0].task.name)
    groups: list[TaskRuns] = []
    for index, (members, names) in enumerate(zip(merged, labels, strict=True), start=1):
        task = members.task
        same_name = by_name[task.name]
        sample = limit_words(members.runs)
        # what says that it is a sample says how large it is
        if len(same_name) > 1 and not sample:
            size = f" · {quantity(len(task.questions), 'question')}"
        else:
            size = ""
        alternatives = [(other.how, template_names(other.runs[0].task)) for other in same_name]
        distinction = tell_apart(members.how, template_names(task), alternatives)
        suffix = f" · asked as: {distinction}" if distinction else ""
        slug = re.sub(r"[^a-z0-9]+", "-", task.name.lower()).strip("-")[:40]
        # a name in another script has no letters that an address could show
        anchor = f"task-{slug or index}"
        if any(other.anchor == anchor for other in groups):
            anchor = f"{anchor}-{index}"
        entries = tuple(
            LabelledRun(run, name, series[name])
            for run, name in zip(members.runs, names, strict=True)
        )
        title = (task.title or task.name) + suffix + size + sample
        groups.append(TaskRuns(task, title, anchor, entries))
    return tuple(groups)


@dataclass
class _Members:
    """The runs of one task, and every question that any of them asked."""

    runs: list[Run]
    questions: dict[str, Question] = field(default_factory=dict)
    fingerprints: set[str] = field(default_factory=set)

    def accepts(self, run: Run) -> bool:
        """Return whether the run is of this task."""
        task = self.runs[0].task
        other = run.task
        if (task.name, task.version) != (other.name, other.version):
            return False
        if task.metrics[0] != other.metrics[0]:
            return False
        if run.manifest.task_fingerprint in self.fingerprints:
            return True
        if task.templates != other.templates:
            return False
        # questions have ids, but an id may mean another question in other data: what they say is
        # compared
        shared = [question for question in other.questions if question.id in self.questions]
        # two limited runs may have drawn none of the same questions
        is_limited = any(member.manifest.limit is not None for member in (run, *self.runs))
        if not shared and not is_limited:
            return False
        return all(same_question(question, self.questions[question.id]) for question in shared)

    def add(self, run: Run) -> None:
        """Take a run in, with the questions that no other has asked."""
        self.runs.append(run)
        if run.manifest.task_fingerprint not in self.fingerprints:
            self.fingerprints.add(run.manifest.task_fingerprint)
            for question in run.task.questions:
                self.questions.setdefault(question.id, question)

    @property
    def how(self) -> How:
        """How the first of the runs was asked."""
        return self.runs[0].manifest.condition.how

    @property
    def task(self) -> Task:
        """The fullest of the runs' tasks, with the questions of all."""
        tasks = [run.task for run in self.runs]
        fullest = max(tasks, key=lambda task: (len(task.questions), len(task.metrics)))
        if len(fullest.questions) < len(self.questions):
            return replace(fullest, questions=tuple(self.questions.values()))
        return fullest
