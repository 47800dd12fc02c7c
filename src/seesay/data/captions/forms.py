"""The forms in which corpora of captions are published.

A file is recognised by what it holds, not by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

from seesay.data.captions.records import Caption, Fields, captions_of, find_fields, texts_of
from seesay.data.json_stream import parse_json
from seesay.data.lines import Line
from seesay.data.rows import Rows as RecordRows
from seesay.data.rows import json_rows, table_rows
from seesay.quantities import quantity
from seesay.questions import BadRow

HEAD = 1 << 16
"""Bytes by which a text file is recognised."""
KNOWN = (
    "text with one caption per line, Flickr's tokens, Conceptual Captions (TSV), COCO captions, "
    "Visual Genome's region descriptions or questions, VQA v2, GQA, SBU, a table or JSON lines "
    "with a field 'caption', or the folder of a Hugging Face data set"
)
# A damaged line or two must not make a corpus unknown.
_MOST = 0.9
_FLICKR = re.compile(r"(\S+)#\d+[\t ]+(.*)")
_COLUMN_NAME = re.compile(r"[\w -]{1,40}")
_URL = re.compile(r"https?://\S+")
_JSON = re.compile(r'\s*(\{\s*["}]|\[\s*[\[{"\]])')
_MARKUP = re.compile(r"\s*<(\?xml|!doctype|html)\b", re.IGNORECASE)

Rows = Iterator[Caption | BadRow]


class UnknownFormError(Exception):
    """Why a file is of no known form."""


class TextForm(NamedTuple):
    """A form of text files, and how their lines are read."""

    name: str
    read: Callable[[Iterator[Line], str], Rows]


def recognise_text(head: bytes, *, whole: bool) -> TextForm | None:
    """Return the form of a text file by its first bytes.

    None for JSON that has to be read to be recognised.
    """
    raw_lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    # The last line of a head may be cut off, and looks like no form.
    if not whole and len(raw_lines) > 1:
        del raw_lines[-1]
    filled = [line for line in raw_lines if line.strip()]
    lines = [line.decode("utf-8", errors="replace").rstrip("\r") for line in filled]
    if not lines:
        return PLAIN
    # An only line that is cut off may end in half a character, which says nothing of the file.
    if len(raw_lines) > 1 or whole:
        lines = _refuse_unreadable(lines)
    if _JSON.match("\n".join(lines[:2])):
        return _json_lines(lines)
    if _MARKUP.match(lines[0]):
        raise UnknownFormError("it is XML or HTML")
    if _most(lines, _FLICKR.fullmatch):
        return FLICKR
    form = _table_with_header(lines) or _table_with_addresses(lines)
    if form is not None:
        return form
    if _most(lines, lambda line: _URL.fullmatch(line.strip())):
        raise UnknownFormError("its lines are addresses")
    return PLAIN


def _refuse_unreadable(lines: Sequence[str]) -> list[str]:
    """Return the lines that are text; a file of which most are not is refused."""
    readable = [line for line in lines if not ("\0" in line or "\N{REPLACEMENT CHARACTER}" in line)]
    if 2 * len(readable) < len(lines):
        raise UnknownFormError("it is not text in UTF-8")
    return readable


def _most(lines: Sequence[str], test: Callable[[str], object]) -> bool:
    """Return whether nearly all lines pass a test."""
    return sum(map(bool, map(test, lines))) >= _MOST * len(lines)


def _json_lines(lines: Sequence[str]) -> TextForm | None:
    """Return the form of JSON lines: the first is an object by itself, and others follow."""
    try:
        record = parse_json(lines[0])
    except ValueError:
        return None
    # A single line may be a whole JSON document: that is recognised by its entries.
    if not isinstance(record, dict) or len(lines) == 1:
        return None
    fields = find_fields(record)
    if fields is None:
        raise UnknownFormError(f"its records hold {_list(record)}")
    return TextForm("JSON lines", partial(_read_records, read=json_rows, fields=fields))


def _table_with_header(lines: Sequence[str]) -> TextForm | None:
    """Return the form of a table whose header names captions; None if there is no such header."""
    for delimiter in "\t,|":
        names = [name.strip().strip('"') for name in lines[0].split(delimiter)]
        is_header = len(names) > 1 and all(_COLUMN_NAME.fullmatch(name) for name in names)
        fields = find_fields(names) if is_header else None
        if fields is None:
            continue
        # A sentence may have commas, and a word "caption" between them: only tabs are no chance.
        if delimiter == "\t" or fields.picture or fields.answers:
            read = partial(table_rows, path="The table", delimiter=delimiter)
            return TextForm("table with a header", partial(_read_records, read=read, fields=fields))
    return None


def _table_with_addresses(lines: Sequence[str]) -> TextForm | None:
    """Return the form of a table with one column of addresses; None if the lines are no table."""
    columns = lines[0].count("\t") + 1
    if columns == 1 or not _most(lines, lambda line: line.count("\t") + 1 == columns):
        return None
    rows = [line.split("\t") for line in lines]
    rows = [row for row in rows if len(row) == columns]
    addresses = [
        column for column in range(columns) if _most([row[column] for row in rows], _URL.fullmatch)
    ]
    if len(addresses) != 1:
        raise UnknownFormError("it is a table without a header that names its captions")
    parse = partial(_conceptual, columns=columns, address=addresses[0])
    return TextForm("Conceptual Captions", partial(_read_by_line, parse=parse))


def _read_by_line(
    lines: Iterator[Line],
    file: str,
    parse: Callable[[str, int, str], Caption | BadRow],
) -> Rows:
    """Yield the captions of a form in which a line is a caption."""
    for number, line in lines:
        if isinstance(line, BadRow):
            yield line
        else:
            yield parse(line, number, file)


def _plain(
    line: str,
    number: int,
    file: str,
) -> Caption:
    """Take a line as the caption of the picture that has its number."""
    return Caption(line, f"{file}:{number}", number)


def _flickr(
    line: str,
    number: int,
    file: str,
) -> Caption | BadRow:
    """Parse a line of Flickr's tokens: `picture.jpg#0`, a tab, the caption."""
    line = line.strip()
    if not line:
        return Caption("", "", number)
    match = _FLICKR.fullmatch(line)
    if match is None:
        return BadRow(number, "not 'picture#number', tab, caption")
    picture, text = match.groups()
    return Caption(text.strip(), picture, number)


def _conceptual(
    line: str,
    number: int,
    file: str,
    columns: int,
    address: int,
) -> Caption | BadRow:
    """Parse a line of Conceptual Captions, with the address last, or of 12M, with it first."""
    if not line.strip():
        return Caption("", "", number)
    cells = line.split("\t")
    if len(cells) != columns:
        return BadRow(number, f"{quantity(len(cells), 'column')}, not {columns}")
    # The caption is the first of the other columns; labels may follow it.
    text = cells[1] if address == 0 else cells[0]
    return Caption(" ".join(text.split()), cells[address], number)


def _read_records(
    lines: Iterator[Line],
    file: str,
    read: Callable[[Iterator[Line]], RecordRows],
    fields: Fields,
) -> Rows:
    """Yield the captions of a form in which a row has named fields."""
    for row in read(lines):
        if isinstance(row, BadRow):
            yield row
        else:
            yield from captions_of(fields, row.cells, row.number, file)


PLAIN = TextForm("plain text", partial(_read_by_line, parse=_plain))
FLICKR = TextForm("Flickr tokens", partial(_read_by_line, parse=_flickr))


class JsonForm(NamedTuple):
    """A form of JSON documents.

    `array` has the entries (None: they are the values of an object), `fields` are theirs, and
    `pictures` says who numbered their pictures: those of two corpora about the same pictures are
    held out together.
    """

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
    """Return the form of a JSON document, by its first usable entry, and its numbered entries.

    Numbers are from 1. Entries before the first usable one are None: unusable.
    """
    unusable: Counter[str] = Counter()
    for key, entry in entries:
        form = _form_of(key, entry)
        if form is None:
            unusable[key] += 1
            continue
        array = form.array
        skipped = unusable.total() if array is None else unusable[key]
        following = (value for name, value in entries if array is None or name == array)
        return form, enumerate(chain(repeat(None, skipped), [entry], following), 1)
    if any(unusable):
        raise UnknownFormError(f"it is JSON with {_list(unusable)}")
    raise UnknownFormError("it is JSON without captions")


def _form_of(key: str, entry: object) -> JsonForm | None:
    """Return the form of a document that has this entry under this key; None for no known one."""
    if key == "captions" and isinstance(entry, str):
        return SBU
    if not isinstance(entry, Mapping):
        return None
    for form in JSON_FORMS:
        if form.array in (key, None) and all(name in entry for name in form.needs):
            return form
    # A plain array of records, whose fields tell what they are.
    if key == "" and (fields := find_fields(entry)):
        return JsonForm("JSON records", "", fields, (), "")
    return None


def read_json(
    form: JsonForm,
    entries: Iterable[tuple[int, Any]],
    file: str,
    answers: Mapping[Any, str],
) -> Rows:
    """Yield the captions of a document's entries.

    `answers` are by the number of their question, for VQA.
    """
    pictures = form.pictures or file
    for number, entry in entries:
        if form is SBU:
            text = next(texts_of(entry), None)
            if text is None:
                yield BadRow(number, "not a text")
            else:
                yield Caption(text, f"sbu:{number}", number)
        elif form is VQA and isinstance(entry, Mapping):
            identity = entry.get("question_id")
            # a list or an object in its place is no key
            answer = answers.get(identity) if isinstance(identity, int | str) else None
            question = {**entry, "answer": answer}
            yield from captions_of(form.fields, question, number, pictures)
        else:
            yield from captions_of(form.fields, entry, number, pictures)


def _list(names: Iterable[str]) -> str:
    """Return the first few names for a message: a broken file may have thousands."""
    return ", ".join(repr(name) for name in islice(names, 8))
