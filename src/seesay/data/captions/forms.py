"""The forms in which corpora of captions are published. A file is recognised by what it holds, not
by its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

from seesay.data.captions.records import Caption, Fields, captions_of, find_fields, texts_of
from seesay.data.json_stream import parse_json
from seesay.data.lines import Line
from seesay.data.rows import Rows as RecordRows
from seesay.data.rows import json_rows, table_rows
from seesay.questions import BadRow

HEAD = 1 << 16
"""Bytes by which a text file is recognised."""
KNOWN = (
    "text with one caption per line, Flickr's tokens, Conceptual Captions (TSV), COCO captions, "
    "Visual Genome's region "
    "descriptions or questions, VQA v2, GQA, SBU, a table or JSON lines with a field 'caption', or "
    "the folder of a "
    "Hugging Face data set"
)
_MOST = 0.9
_FLICKR = re.compile(r"(\S+)#\d+[\t ]+(.*)")
_URL = re.compile(r"https?://\S+")
_JSON = re.compile(r'\s*(\{\s*["}]|\[\s*[\[{"\]])')
_MARKUP = re.compile(r"\s*<(\?xml|!doctype|html)\b", re.IGNORECASE)

Rows = Iterator[Caption | BadRow]


class UnknownFormError(Exception):
    """Why a file is of no known form."""


class TextForm(NamedTuple):
    """A form of text files, and how their lines are read; `pictures` is a name for the file."""

    name: str
    read: Callable[[Iterator[Line], str], Rows]


def recognise_text(head: bytes, *, whole: bool) -> TextForm | None:
    """The form of a text file by its first bytes; None for JSON that has to be read to be
    recognised."""
    raw = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    raw = raw if whole or len(raw) == 1 else raw[:-1]
    lines = [line.decode("utf-8", errors="replace").rstrip("\r") for line in raw if line.strip()]
    if not lines:
        return PLAIN
    if len(raw) > 1 or whole:  # a cut line may end in half a character
        readable = [
            line for line in lines if "\0" not in line and "\N{REPLACEMENT CHARACTER}" not in line
        ]
        if 2 * len(readable) < len(lines):
            raise UnknownFormError("it is not text in UTF-8")
        lines = readable
    if _JSON.match("\n".join(lines[:2])):
        return _json_lines(lines)
    if _MARKUP.match(lines[0]):
        raise UnknownFormError("it is XML or HTML")
    if _most(lines, _FLICKR.fullmatch):
        return FLICKR
    if form := _table(lines):
        return form
    if _most(lines, lambda line: _URL.fullmatch(line.strip())):
        raise UnknownFormError("its lines are addresses")
    return PLAIN


def _most(lines: Sequence[str], test: Callable[[str], object]) -> bool:
    return sum(map(bool, map(test, lines))) >= _MOST * len(lines)


def _json_lines(lines: Sequence[str]) -> TextForm | None:
    """JSON lines with captions: the first line is an object by itself, and others follow."""
    try:
        record = parse_json(lines[0])
    except ValueError:
        return None
    if not isinstance(record, dict) or len(lines) == 1:
        return None
    fields = find_fields(record)
    if fields is None:
        raise UnknownFormError(f"its records hold {_list(record)}")
    return TextForm("JSON lines", partial(_read_records, read=json_rows, fields=fields))


def _table(lines: Sequence[str]) -> TextForm | None:
    """A table with a header that names captions, or with a column of addresses; None if the lines
    are no table."""
    for delimiter in "\t,|":
        names = [name.strip().strip('"') for name in lines[0].split(delimiter)]
        if len(names) > 1 and all(re.fullmatch(r"[\w -]{1,40}", name) for name in names):
            fields = find_fields(names)
            if fields and (delimiter == "\t" or fields.picture or fields.answers):
                read = partial(table_rows, path="The table", delimiter=delimiter)
                return TextForm(
                    "table with a header", partial(_read_records, read=read, fields=fields)
                )
    columns = lines[0].count("\t") + 1
    if columns == 1 or not _most(lines, lambda line: line.count("\t") + 1 == columns):
        return None
    cells = [row for line in lines if len(row := line.split("\t")) == columns]
    addresses = [
        column for column in range(columns) if _most([row[column] for row in cells], _URL.fullmatch)
    ]
    if len(addresses) != 1:
        raise UnknownFormError("it is a table without a header that names its captions")
    parse = partial(_conceptual, columns=columns, address=addresses[0])
    return TextForm("Conceptual Captions", partial(_read_by_line, parse=parse))


def _read_by_line(
    lines: Iterator[Line], file: str, parse: Callable[[str, int, str], Caption | BadRow]
) -> Rows:
    for number, line in lines:
        yield line if isinstance(line, BadRow) else parse(line, number, file)


def _plain(line: str, number: int, file: str) -> Caption:
    return Caption(line, f"{file}:{number}", number)


def _flickr(line: str, number: int, file: str) -> Caption | BadRow:
    if match := _FLICKR.fullmatch(line.strip()):
        return Caption(match[2].strip(), match[1], number)
    if line.strip():
        return BadRow(number, "not 'picture#number', tab, caption")
    return Caption("", "", number)


def _conceptual(line: str, number: int, file: str, columns: int, address: int) -> Caption | BadRow:
    """Conceptual Captions has the address last, Conceptual 12M first; labels may follow."""
    cells = line.split("\t")
    if len(cells) != columns and line.strip():
        return BadRow(number, f"{len(cells)} columns, not {columns}")
    text = next((cell for index, cell in enumerate(cells) if index != address), "")
    return Caption(" ".join(text.split()), cells[min(address, len(cells) - 1)], number)


def _read_records(
    lines: Iterator[Line], file: str, read: Callable[[Iterator[Line]], RecordRows], fields: Fields
) -> Rows:
    for row in read(lines):
        if isinstance(row, BadRow):
            yield row
        else:
            yield from captions_of(fields, row.cells, row.number, file)


PLAIN = TextForm("plain text", partial(_read_by_line, parse=_plain))
FLICKR = TextForm("Flickr tokens", partial(_read_by_line, parse=_flickr))


class JsonForm(NamedTuple):
    """A form of JSON documents: the array of its entries (None: they are the values of an object),
    their fields, and who numbered their pictures: those of two corpora about the same pictures are
    held out together."""

    name: str
    array: str | None
    fields: Fields
    needs: tuple[str, ...]
    pictures: str


VQA = JsonForm(
    "VQA questions with answers",
    "questions",
    Fields(("question",), ("answer",), "image_id"),
    ("question", "question_id", "image_id"),
    "coco",
)
VQA_ANSWERS = JsonForm("VQA answers", "annotations", Fields(()), ("question_id", "answers"), "coco")
SBU = JsonForm("SBU captions", "captions", Fields(()), (), "sbu")
JSON_FORMS = (
    JsonForm(
        "COCO captions",
        "annotations",
        Fields(("caption",), (), "image_id"),
        ("caption", "image_id"),
        "coco",
    ),
    JsonForm(
        "Visual Genome region descriptions", "", Fields(("regions",), (), "id"), ("regions",), "vg"
    ),
    JsonForm(
        "Visual Genome questions with answers", "", Fields(("qas",), (), "id"), ("qas",), "vg"
    ),
    JsonForm(
        "GQA questions with answers",
        None,
        Fields(("question",), ("answer",), "imageId"),
        ("question", "imageId"),
        "vg",
    ),
    VQA,
    VQA_ANSWERS,
)


def recognise_json(
    entries: Iterator[tuple[str, Any]],
) -> tuple[JsonForm, Iterator[tuple[int, Any]]]:
    """The form of a JSON document, by its first usable entry; and its entries with their numbers
    (from 1).

    Entries before that one are None: unusable.
    """
    before: Counter[str] = Counter()
    for key, entry in entries:
        if form := _form_of(key, entry):
            array = form.array
            skipped = before.total() if array is None else before[key]
            rest = (value for name, value in entries if array is None or name == array)
            return form, enumerate(chain(repeat(None, skipped), [entry], rest), 1)
        before[key] += 1
    raise UnknownFormError(
        f"it is JSON with {_list(before)}" if any(before) else "it is JSON without captions"
    )


def _form_of(key: str, entry: object) -> JsonForm | None:
    if isinstance(entry, str):
        return SBU if key == "captions" else None
    if not isinstance(entry, Mapping):
        return None
    fits = (
        form
        for form in JSON_FORMS
        if form.array in (key, None) and all(name in entry for name in form.needs)
    )
    fields = None if key else find_fields(entry)
    return next(fits, fields and JsonForm("JSON records", "", fields, (), ""))


def read_json(
    form: JsonForm, entries: Iterable[tuple[int, Any]], file: str, answers: Mapping[Any, str]
) -> Rows:
    """The captions of a document's entries; `answers` by the number of their question, for VQA."""
    pictures = form.pictures or file
    for number, entry in entries:
        if form is SBU:
            text = next(texts_of(entry), None)
            yield (
                BadRow(number, "not a text")
                if text is None
                else Caption(text, f"sbu:{number}", number)
            )
        elif form is VQA and isinstance(entry, Mapping):
            joined = {**entry, "answer": answers.get(entry.get("question_id"))}
            yield from captions_of(form.fields, joined, number, pictures)
        else:
            yield from captions_of(form.fields, entry, number, pictures)


def _list(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name, _ in zip(names, range(8), strict=False))
