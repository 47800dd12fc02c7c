"""Small made-up runs for the report, with names that try to break out of it."""

from __future__ import annotations

import random
from pathlib import Path

from seesay.condition import Condition, How
from seesay.questions import (
    Answer,
    BadRow,
    Provenance,
    Published,
    Question,
    Scores,
    Slice,
    Task,
    Template,
)
from seesay.runs.answer_table import AnswerTable
from seesay.runs.records import Comparison, Figure, Manifest
from seesay.runs.run import Run

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(2)</script>",
    "' onmouseover='alert(3)",
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
    "]]>\u2028\u2029&amp;",
    "x" * 3000,
    "🍋🏳️‍🌈",
    "\u202eתפוח ליים",
    "\x1b[31mred\x07",
)
COLORS = (
    "black",
    "blue",
    "brown",
    "green",
    "grey",
    "orange",
    "pink",
    "purple",
    "red",
    "white",
    "yellow",
)


def task(
    name: str = "made-up", objects: tuple[str, ...] = ("lemon", "crow", "grass"), count: int = 3
) -> Task:
    """A colour task; the gold label of question i is colour i."""
    questions = tuple(
        Question(
            id=f"q{i}",
            fields={"object": objects[i % len(objects)] + (f" {i}" if i >= len(objects) else "")},
            options=COLORS,
            gold={COLORS[i % len(COLORS)]: 1.0},
            object=objects[i % len(objects)] + (f" {i}" if i >= len(objects) else ""),
            tags={"half": "first" if i % 2 else "second", "colour": COLORS[i % len(COLORS)]},
        )
        for i in range(count)
    )
    templates = (
        Template("is", "The {object} is [MASK]."),
        Template("asked", "What colour is the {object}? [MASK]."),
    )
    return Task(
        name,
        "1",
        f"Task {name}",
        templates,
        questions,
        ("accuracy", "true_confidence"),
        provenance=Provenance(citation=f"Cite {name}"),
    )


def run(
    task: Task,
    model: str = "a-model",
    seed: int = 0,
    length: str = "sum",
    signature: str = "",
    how: How = How.CLOZE,
    too_few: bool = False,
) -> Run:
    """A run with seeded scores and plausible figures."""
    condition = Condition(how=how, scope="sentence", length=length)
    draw = random.Random(seed)
    answers = []
    for template in task.templates:
        for question in task.questions:
            n = len(question.options)
            scores = Scores(
                tuple(draw.gauss(-4, 2) for _ in range(n)),
                (1,) * n,
                tuple(map(len, question.options)),
            )
            answers.append(Answer(question.id, template.name, question.options, scores, scores))
    signature = signature or f"task:{task.name}|model:{model}|length:{length}"

    def figure(
        metric: str, value: float, template: str | None = None, part: Slice | None = None
    ) -> Figure:
        return Figure(
            model=model,
            condition=condition,
            task=task.name,
            metric=metric,
            template=template,
            slice=part,
            value=value,
            low=value - 0.05,
            high=value + 0.05,
            n=len(task.questions),
            objects=len({question.object for question in task.questions}),
            too_few=too_few,
            signature=signature,
            spread=None if template else 0.021,
            chance=1 / len(COLORS),
        )

    figures = []
    for name, value in zip(task.metrics, (0.412, 0.303), strict=False):
        figures += [figure(name, value), figure(f"calibrated_{name}", value + 0.1)]
        figures += [figure(name, value + 0.01 * i, t.name) for i, t in enumerate(task.templates)]
    for tag, part in dict.fromkeys(
        (tag, value) for q in task.questions for tag, value in q.tags.items()
    ):
        figures.append(figure(task.metrics[0], 0.5, part=Slice.of({tag: part})))
    manifest = Manifest(
        seesay="0.1.0",
        created="2026-01-02T03:04:05Z",
        command=f"seesay probe {model}",
        model=model,
        family="masked",
        model_fingerprint="0123456789abcdef",
        condition=condition,
        task=task.name,
        task_version=task.version,
        task_fingerprint=task.fingerprint,
        templates=[template.name for template in task.templates],
        questions=len(task.questions),
        limit=None,
        seed=0,
        resamples=1000,
        signature=signature,
        environment={"python": "3.11"},
        citation=task.provenance.citation,
        bad_rows=[BadRow(7, "no gold")],
    )
    return Run(Path("runs") / model[:20], manifest, task, AnswerTable.of(answers), tuple(figures))


def hostile_run() -> Run:
    """A run in which every name that a file could hold is hostile."""
    questions = tuple(
        Question(f"q{i}", {"object": text}, HOSTILE, {text: 1.0}, text, {text[:40]: text[:40]})
        for i, text in enumerate(HOSTILE)
    )
    templates = (
        Template(HOSTILE[0], "<b>{object}</b> & </script> [MASK].", {HOSTILE[1]: HOSTILE[2]}),
    )
    published = (
        Published(HOSTILE[1], "accuracy", 0.5, HOSTILE[2]),
        Published(HOSTILE[0], "accuracy", 0.4, "x"),
    )
    hostile_task = Task(
        HOSTILE[2],
        HOSTILE[0],
        HOSTILE[1],
        templates,
        questions,
        ("accuracy",),
        {},
        published,
        provenance=Provenance(citation=HOSTILE[0] + HOSTILE[7]),
    )
    return run(hostile_task, model=HOSTILE[1], signature="|".join(HOSTILE))


def comparison(
    a: str = "a-model",
    b: str = "b-model",
    difference: float = 0.05,
    metric: str = "accuracy",
    too_few: bool = False,
) -> Comparison:
    """A difference with an interval of ± 0.03."""
    return Comparison(
        task="made-up",
        metric=metric,
        a=a,
        b=b,
        value_a=0.5 + difference,
        value_b=0.5,
        difference=difference,
        low=difference - 0.03,
        high=difference + 0.03,
        p_bootstrap=0.0004,
        p_holm=0.02,
        p_signflip=0.012,
        p_mcnemar=None,
        n=3,
        objects=9 if too_few else 30,
        too_few=too_few,
        signature_a="a",
        signature_b="b",
    )
