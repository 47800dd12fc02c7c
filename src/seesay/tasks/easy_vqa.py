"""easy-VQA: what shape, what colour, is there one? Questions about a picture of one shape (Zhou 2019)."""

from __future__ import annotations

from pathlib import Path

from seesay.data import easy_vqa
from seesay.errors import UserError
from seesay.questions import Question, Task, Template

VERSION = "1"
TEMPLATES = (Template("question", "{question} Answer: [MASK]."),)
CITATION = (
    "Victor Zhou. 2019. easy-VQA: an easy visual question answering data set. https://victorzhou.com/blog/easy-vqa/"
)


def load(data: Path | None = None) -> Task:
    """The package's test questions; its pictures stand where it is installed."""
    if data is not None:
        raise UserError("easy-vqa is read from its package (pip install easy-vqa): it takes no --data.")
    names = easy_vqa.answers()
    questions = tuple(
        Question(
            id=f"test/{number}",
            fields={"question": f"{one.question[:1].upper()}{one.question[1:]}"},
            options=names,
            gold={one.answer: 1.0},
            object=str(one.image),
            tags={"answer": one.answer, "kind": _kind(one.answer, one.question)},
            picture=one.path,
        )
        for number, one in enumerate(easy_vqa.read("test"))
    )
    return Task(
        name="easy-vqa",
        version=VERSION,
        title="What shape, what colour, is there one? A picture of one shape",
        templates=TEMPLATES,
        questions=questions,
        metrics=("accuracy",),
        citation=CITATION,
        data=(f"easy-vqa {easy_vqa.release()}",),
    )


def _kind(answer: str, question: str) -> str:
    """What is asked for: colour, shape, or whether there is such a thing."""
    if answer in ("yes", "no"):
        return "presence"
    return "colour" if "color" in question else "shape"
