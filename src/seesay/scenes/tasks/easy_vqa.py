"""easy-VQA (Zhou 2019): what shape, what colour, is there one? Pictures of one shape each."""

from __future__ import annotations

from pathlib import Path

from seesay.data.task_files.texts import capital
from seesay.errors import UserError
from seesay.questions import Provenance, Question, Task, Template
from seesay.scenes import easy_vqa

VERSION = "1"
TEMPLATES = (Template("question", "{question} Answer: [MASK]."),)
CITATION = (
    "Victor Zhou. 2019. easy-VQA: an easy visual question answering data set. "
    "https://victorzhou.com/blog/easy-vqa/"
)


def load(data: Path | None = None) -> Task:
    """Load the package's test questions; its pictures are where it is installed."""
    if data is not None:
        raise UserError(
            "easy-vqa is read from its package (pip install easy-vqa): it takes no --data."
        )
    names = easy_vqa.answers()
    questions = tuple(
        Question(
            id=f"test/{number}",
            fields={"question": capital(item.question)},
            options=names,
            gold={item.answer: 1.0},
            object=str(item.image),
            tags={"answer": item.answer, "kind": _kind(item.answer, item.question)},
            picture=item.path,
        )
        for number, item in enumerate(easy_vqa.read("test"))
    )
    return Task(
        name="easy-vqa",
        version=VERSION,
        title="",
        templates=TEMPLATES,
        questions=questions,
        metrics=("accuracy",),
        provenance=Provenance(notes=(f"easy-vqa {easy_vqa.release()}",), citation=CITATION),
    )


def _kind(answer: str, question: str) -> str:
    """Return what is asked for: colour, shape, or whether there is such a thing."""
    if answer in ("yes", "no"):
        return "presence"
    return "colour" if "color" in question else "shape"
