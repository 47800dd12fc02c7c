"""What a study says around its items, by language: consent, instructions, check, practice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from seesay.documents import Document
from seesay.errors import UserError
from seesay.judge.items import StudyItem

_MAX_TEXT = 50_000


class ContactDetails(Document):
    """Who is responsible for a study, as the consent page says."""

    researcher: str = Field(default="", max_length=200)
    """The researcher's name."""
    institution: str = Field(default="", max_length=200)
    """The university, company or office."""
    contact: str = Field(default="", max_length=200)
    """An e-mail address or a telephone number."""
    ethics: str = Field(default="", max_length=200)
    """The number of the ethics approval."""
    withdrawal: str = Field(default="", max_length=2000)
    """How people withdraw their answers later."""


class CheckQuestion(Document):
    """A question about the instructions.

    Whoever answers it wrong reads the explanation and tries once more.
    """

    question: str = Field(min_length=1, max_length=1000)
    options: tuple[str, ...] = Field(min_length=2, max_length=10)
    answer: str
    """The right one of the options."""
    explanation: str = Field(default="", max_length=2000)

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> CheckQuestion:
        if self.answer not in self.options:
            raise ValueError(f"the answer '{self.answer}' is not one of the options")
        return self


class PracticeItem(Document):
    """An item before the first page, whose answer is explained; people's answers are not stored."""

    item: StudyItem
    explanation: str = Field(default="", max_length=2000)


class StudyTexts(Document):
    """The texts of a study in one language.

    What is empty is taken from the study's first language.
    """

    title: str = Field(default="", max_length=300)
    consent: str = Field(default="", max_length=_MAX_TEXT)
    """Markdown."""
    instructions: str = Field(default="", max_length=_MAX_TEXT)
    """Markdown."""
    low: str = Field(default="", max_length=60)
    high: str = Field(default="", max_length=60)
    options: Mapping[str, str] = Field(default_factory=dict)
    """The options as people read them."""
    items: Mapping[str, str] = Field(default_factory=dict)
    """Sentences by item; [MASK] marks the blank."""
    check: tuple[CheckQuestion, ...] = ()
    practice: tuple[PracticeItem, ...] = ()

    @field_validator("items")
    @classmethod
    def _sentences_have_a_blank(cls, items: Mapping[str, str]) -> Mapping[str, str]:
        for name, text in items.items():
            if text.count("[MASK]") != 1:
                raise ValueError(f"the sentence of '{name}' needs one [MASK]")
        return items


def read_texts(path: Path, kind: str) -> dict[str, StudyTexts]:
    """Read the texts in a YAML file with one block per language.

    Practice items are of the study's kind.
    """
    try:
        blocks = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"'{path}' cannot be read: {' '.join(str(error).split())}.") from error
    blocks_of_texts = blocks.values() if isinstance(blocks, dict) else [blocks]
    if not all(isinstance(block, dict) for block in blocks_of_texts):
        raise UserError(f"'{path}' needs one block of texts per language, such as `de:`.")
    texts: dict[str, StudyTexts] = {}
    for language, block in blocks.items():
        try:
            entries = block.pop("practice", [])
            if not isinstance(entries, list):
                raise TypeError("`practice` needs a list of items")
            practice = []
            for number, entry in enumerate(entries, start=1):
                practice.append(_practice(entry, kind, f"practice|{number}"))
            texts[str(language)] = StudyTexts(**block, practice=tuple(practice))
        except ValidationError as error:
            # One mistake at a time: the others may follow from it.
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise UserError(f"'{path}', {language}, {where}: {first['msg']}.") from None
        except TypeError as error:
            raise UserError(f"'{path}', {language}: {error}.") from None
    return texts


def _practice(entry: Any, kind: str, name: str) -> PracticeItem:
    """Return an entry of the file as a practice item.

    `answer` is what is right, of a slider the part `from` … `to`.
    """
    if not isinstance(entry, dict):
        raise TypeError(
            "an item of `practice` needs a text and an answer, or words and the part of the slider"
        )
    # What remains after the known keys goes to the item, which rejects unknown ones.
    entry = dict(entry)
    explanation = entry.pop("explanation", "")
    item: dict[str, Any] = {"kind": kind, "id": name, "base": name}
    if kind == "rating":
        item |= {
            "words": entry.pop("words", None),
            "expected": (entry.pop("from", 0.0), entry.pop("to", 1.0)),
        }
    else:
        answer = entry.pop("answer", [])
        options = entry.pop("options", [])
        labels = answer if isinstance(answer, list) else [answer]
        # YAML reads a label such as 3 as a number.
        item |= {
            "known": [str(label) for label in labels],
            "options": options,
            "option_texts": options,
        }
    return PracticeItem.model_validate({"item": item | entry, "explanation": explanation})
