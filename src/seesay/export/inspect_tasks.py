"""seesay's tasks in inspect_ai: `inspect eval seesay/core_color --model …`, nothing exported.

inspect_ai imports this module by its entry point, at every start: what is heavy is imported where
it is needed. Nothing else in seesay imports it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ContentImage, ContentText
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    accuracy,
    metric,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import TaskState, generate, multiple_choice

from seesay.errors import UserError
from seesay.tasks import TASKS

if TYPE_CHECKING:
    from seesay import questions

CHOICE = "choice"
GENERATE = "generate"


def build(
    name: str,
    how: str = CHOICE,
    template: str | None = None,
    rotations: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    data: str | None = None,
) -> Task:
    """Return a task of seesay, or a task file, as one of inspect.

    With `how=choice` the options are lettered, with `how=generate` a free answer is asked for, as
    by `seesay probe --how generate`. Each question is shown with its options in as many orders as
    there are `rotations`, 0 for the task's own order alone; the first order differs from question
    to question. `limit` and `seed` draw the questions that `seesay probe` would.
    """
    from seesay.runs.ask import limit_questions
    from seesay.tasks import load_task

    try:
        asked = load_task(name, None if data is None else Path(data))
        if limit is not None:
            asked = limit_questions(asked, limit, seed)
        samples = list(_samples(asked, how, template, rotations))
    except UserError as error:
        # inspect prints it without a traceback
        from inspect_ai._util.error import PrerequisiteError

        raise PrerequisiteError(str(error)) from error
    is_lettered = how == CHOICE
    return Task(
        dataset=MemoryDataset(samples, name=asked.name),
        solver=multiple_choice() if is_lettered else generate(),
        scorer=named_option(lettered=is_lettered),
        # of nested sets of questions there is no figure over all
        metrics=[interval()] if asked.nested_by else None,
        version=asked.version,
        metadata={"fingerprint": asked.fingerprint, "citation": asked.provenance.citation},
    )


def _samples(
    asked: questions.Task,
    how: str,
    template_name: str | None,
    rotations: int | None,
) -> Iterator[Sample]:
    """Yield every question in every template and order, as a sample."""
    from seesay.export import refuse
    from seesay.export.lettered import choice_templates, refuse_many_options

    if how not in (CHOICE, GENERATE):
        raise UserError(f"how is '{how}': choose {CHOICE} or {GENERATE}.")
    refuse(asked, "inspect")
    templates = asked.templates
    if how == CHOICE:
        refuse_many_options(asked, "inspect")
        templates = choice_templates(asked)
    names = [template.name for template in templates]
    if template_name not in (None, *names):
        raise UserError(f"template is '{template_name}': choose one of {', '.join(names)}.")
    # what is asked for a free answer is what `seesay probe` asks
    orders = int(how == CHOICE) if rotations is None else rotations
    fewest = min(len(question.options) for question in asked.questions)
    # as many for each question: all of them weigh the same
    if not 0 <= orders <= fewest:
        raise UserError(f"rotations is {orders}: choose a number from 0 to {fewest}.")
    for number, question in enumerate(asked.questions):
        width = len(question.options)
        starts = [(number + order * width // orders) % width for order in range(orders)] or [0]
        for template in templates:
            if template_name in (None, template.name):
                for start in starts:
                    yield _sample(asked, template, question, start, how)


def _sample(
    asked: questions.Task,
    template: questions.Template,
    question: questions.Question,
    rotation: int,
    how: str,
) -> Sample:
    """Return a question in one template and order."""
    from seesay.export.lettered import lettered_row
    from seesay.models.chat import user_turn
    from seesay.probes.generated import request_text

    row = lettered_row(asked, template, question, rotation)
    choices = row["choices"]
    if len(set(choices)) < len(choices):
        raise UserError(
            f"Two options of '{question.id}' are the same text ({', '.join(choices)}): no reply "
            "could tell them apart."
        )
    prompt = template.ask(question).text
    text = row["input"]
    target: str | list[str] = row["target"]
    if how == GENERATE:
        text = user_turn(request_text(prompt, choices))
        target = row["metadata"]["right"]
    content: str | list[ChatMessage] = text
    if question.picture is not None:
        shown: list[Content] = [ContentImage(image=question.picture), ContentText(text=text)]
        content = [ChatMessageUser(content=shown)]
    metadata = {
        **row["metadata"],
        "part": question.tags.get(asked.nested_by, ""),
        "prompt": prompt,
    }
    return Sample(id=row["id"], input=content, choices=choices, target=target, metadata=metadata)


@metric
def interval() -> Metric:
    """The ends of seesay's interval: a seeded bootstrap of objects, Wilson's where all are alike.

    Where a task's questions are nested sets, each set has its accuracy and its ends.
    """
    to_float = value_to_float()

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:
            # inspect asks before the first sample is scored
            return {"low": math.nan, "high": math.nan}
        values = [to_float(score.score.value) for score in scores]
        return _intervals(values, [score.sample_metadata or {} for score in scores])

    return compute


def _intervals(values: Sequence[float], samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of each part of the samples, given their values and metadata."""
    import numpy as np

    from seesay.metrics.bootstrap import Resamples, not_degenerate
    from seesay.metrics.relaxed_accuracy import RELAXED_ACCURACY
    from seesay.questions import THINGS_JOINT

    objects = [sample["object"] for sample in samples]
    things = [name.split(THINGS_JOINT) for name in objects]
    draw = Resamples(objects, things=things)
    parts = np.array([sample["part"] for sample in samples])
    statistics = np.stack([np.array(values, dtype=np.float64), np.ones(len(values))], axis=1)
    figures: dict[str, Any] = {}
    for part in sorted(set(parts.tolist())):
        sums = draw.sums(statistics[None], parts == part)
        (resampled,) = draw.intervals(
            [(sums, RELAXED_ACCURACY.value)], bounds=[RELAXED_ACCURACY.bounds]
        )
        ends = not_degenerate(resampled, draw.count_objects(sums))
        prefix = f"{part} " if part else ""
        if part:
            figures[f"{prefix}accuracy"] = ends.value
        figures[f"{prefix}low"] = ends.low
        figures[f"{prefix}high"] = ends.high
    return figures


# answers about one object are not independent, nor are those to several templates
@scorer(metrics=[accuracy(), stderr(cluster="object"), interval()])
def named_option(lettered: bool = True) -> Scorer:
    """Score the options that a reply names: by the letter asked for, else by `seesay.matching`.

    Of several named options each counts for its share, and a reply that names none is wrong.
    """

    async def score(state: TaskState, target: Target) -> Score:
        from seesay.matching import match
        from seesay.models.multiple_choice import letter

        reply = state.output.completion
        options = [choice.value for choice in state.choices]
        picked = [choice.value for choice in state.choices if choice.correct is True]
        reason = ""
        if not picked:
            letters = [letter(place) for place in range(len(options))] if lettered else []
            named = match(reply, options, question=state.metadata["prompt"], letters=letters)
            picked = list(named.labels)
            reason = named.reason
        right = sum(option in state.metadata["right"] for option in picked)
        return Score(
            value=right / max(len(picked), 1),
            answer=", ".join(picked),
            explanation=reply,
            metadata={"reason": reason},
        )

    return score


def _register(name: str) -> None:
    """Register a task under its name, as inspect writes names."""
    factory = partial(build, name)
    # by the module, inspect knows whose task it is
    factory.__module__ = __name__
    task(name=name.replace("-", "_"))(factory)


@task
def core_color(
    how: str = CHOICE,
    template: str | None = None,
    rotations: int | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Task:
    """The colours of things, as `build` describes the parameters.

    Inspect Evals lists tasks that it finds in a file as functions of this decorator.
    """
    return build("core-color", how, template, rotations, limit, seed)


task(name="task")(build)
for task_name in TASKS.ours:
    if task_name != "core-color":
        _register(task_name)
