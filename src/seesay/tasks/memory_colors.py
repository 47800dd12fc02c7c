"""Memory Colors: 109 things, each with the one colour that people remember it by, in 13 templates.

Norlund et al. 2021; the templates and the figures are those of Hagström & Johansson 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seesay.data import store
from seesay.data.catalogue import CATALOGUE
from seesay.data.cells import BadValueError, Cells, text_field
from seesay.data.colors import COLORS
from seesay.data.rows import parse_json_lines
from seesay.questions import Published, Question, Task, Template

COLORS_AS_PUBLISHED = tuple(sorted("grey" if color == "gray" else color for color in COLORS))

TEMPLATES = (
    Template("q-a", "Q: What is the color of {thing}? A: It is [MASK]."),
    Template("q-sep-a", "Q: What is the color of {thing}? [SEP] A: It is [MASK]."),
    Template("q-a-colour", "Q: What is the colour of {thing}? A: It is [MASK]."),
    Template("what", "What is the color of {thing}? [MASK]."),
    Template("what-sep", "What is the color of {thing}? [SEP] [MASK]."),
    Template("what-colour", "What is the colour of {thing}? [MASK]."),
    Template("the-color-is", "The color of {thing} is [MASK]."),
    Template("the-usual-color-is", "The usual color of {thing} is [MASK]."),
    Template("usually-has", "{thing} usually has the color of [MASK]."),
    Template("what-usual", "What is the usual color of {thing}? [MASK]."),
    Template("what-usual-sep", "What is the usual color of {thing}? [SEP] [MASK]."),
    Template("what-typical", "What is the typical color of {thing}? [MASK]."),
    Template("what-typical-sep", "What is the typical color of {thing}? [SEP] [MASK]."),
)

SOURCE = "Hagström & Johansson 2022"

# Mean and standard deviation of the accuracy over the 13 templates (Hagström & Johansson 2022).
PUBLISHED = tuple(
    Published(model, "accuracy", mean, SOURCE, spread)
    for model, mean, spread in (
        ("CLIP-BERT-explicit", 0.882, 0.066),
        ("BERT-LXMERT-train", 0.761, 0.028),
        ("CLIP-BERT-implicit", 0.741, 0.068),
        ("BERT-CLIP-BERT-train", 0.724, 0.112),
        ("BERT-LXMERT-train-scratch", 0.690, 0.039),
        ("LXMERT", 0.495, 0.094),
        ("VisualBERT", 0.275, 0.075),
        ("BERT-base", 0.252, 0.102),
    )
)


@dataclass(frozen=True, slots=True)
class _Row:
    descriptor: str
    item: str
    label: str


def _parse(record: Cells) -> _Row:
    row = _Row(
        text_field(record, "descriptor", empty=True),
        text_field(record, "item"),
        text_field(record, "label").lower(),
    )
    if row.label not in COLORS_AS_PUBLISHED:
        raise BadValueError(f"'{row.label}' is not one of the eleven colours")
    return row


def load(data: Path | None = None) -> Task:
    """The task from `memory_colors.jsonl`: a path, a folder that holds it, or the data folder's."""
    path = store.require_file("memory-colors", "memory_colors.jsonl", data)
    rows, bad = parse_json_lines(path, _parse, key=lambda row: row.item)
    questions = [
        Question(
            id=row.item,
            fields={"thing": f"{row.descriptor} {row.item}".strip()},
            options=COLORS_AS_PUBLISHED,
            gold={row.label: 1.0},
            object=row.item,
            tags={"colour": row.label},
        )
        for row in rows.values()
    ]
    return Task(
        name="memory-colors",
        version="1",
        title="",
        templates=TEMPLATES,
        questions=tuple(questions),
        metrics=("accuracy",),
        neutral={"thing": "something"},
        published=PUBLISHED,
        citation=CATALOGUE["memory-colors"].citation,
        bad_rows=tuple(bad),
    )
