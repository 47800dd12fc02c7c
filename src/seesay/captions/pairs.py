"""Captions by image: COCO's JSON, JSON lines or plain text, gzipped or not, or from memory. Bad
rows are reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError
from seesay.data.json_stream import BrokenFileError, DuplicateKeys, entries, is_text
from seesay.data.lines import LONGEST_LINE, read_errors, read_head, read_lines
from seesay.data.rows import Row, json_rows
from seesay.errors import UserError
from seesay.questions import BadRow

MOST_ROWS = 2_000_000
MOST_WORDS = 2000
"""METEOR's search grows with the square of a text that repeats itself: a longer one is no
caption."""
MOST_CHARACTERS = 20_000
_IDS = ("image_id", "id", "image")
_TEXTS = ("caption", "captions", "references", "text")

CaptionSource = Path | str | Mapping[str, str] | Sequence[str]
"""A file, or captions in memory: by image, or in the order of their references."""
ReferenceSource = (
    Path | str | Sequence[Path] | Mapping[str, Sequence[str]] | Sequence[Sequence[str]]
)
"""A file, several plain-text files, or the references of each caption in memory."""


@dataclass
class CaptionSet:
    """Captions by image, and the rows that could not be used. `unit` is what a row of the source is
    called.

    Of `plain` text, line by line, the line number is the image. In a `single` set, an image has one
    caption.
    """

    source: str
    single: bool = False
    texts: dict[str, list[str]] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    unit: str = "line"
    plain: bool = False

    def add(self, row: int, image: str, texts: list[str]) -> None:
        """Add one row's captions, or note why they cannot be used."""
        try:
            self._validate(image, texts)
        except BadValueError as error:
            self.bad.append(BadRow(row, str(error)))
        else:
            self.texts.setdefault(image, []).extend(texts)

    def _validate(self, image: str, texts: list[str]) -> None:
        if self.single and (image in self.texts or len(texts) != 1):
            raise BadValueError(f"a second caption for image {image}")
        if not all(isinstance(text, str) for text in texts):
            raise BadValueError("not a text")
        if not all(map(is_text, (image, *texts))):
            raise BadValueError("holds half of a surrogate pair")
        if any(len(text) > MOST_CHARACTERS or len(text.split()) > MOST_WORDS for text in texts):
            raise BadValueError(
                f"a caption of more than {MOST_WORDS:,} words, or {MOST_CHARACTERS:,} letters"
            )

    def add_entry(self, number: int, entry: object) -> None:
        """Add what a JSON object says of an image."""
        try:
            image, texts = _parse_entry(entry)
        except BadValueError as error:
            self.bad.append(BadRow(number, str(error)))
        else:
            self.add(number, image, texts)


def _parse_entry(entry: object) -> tuple[str, list[str]]:
    if not isinstance(entry, dict):
        raise BadValueError("not a JSON object")
    if isinstance(entry, DuplicateKeys):
        raise BadValueError("a key is there twice")
    image = next((entry[key] for key in _IDS if key in entry), None)
    texts = next((entry[key] for key in _TEXTS if key in entry), None)
    texts = [texts] if isinstance(texts, str) else texts
    if isinstance(image, bool) or not isinstance(image, int | str):
        raise BadValueError("no 'image_id' (a number or a text)")
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadValueError("no 'caption' (a text) or 'captions' (a list of texts)")
    return str(image), texts


def load_captions(source: CaptionSource) -> CaptionSet:
    """One caption per image, from a file or from memory."""
    if isinstance(source, str | Path):
        return read_captions(Path(source), single=True)
    captions = CaptionSet(
        "the captions", single=True, unit="entry", plain=not isinstance(source, Mapping)
    )
    for number, image, text in _rows_in_memory(source):
        captions.add(number, image, [text])
    return captions


def load_references(source: ReferenceSource) -> CaptionSet:
    """One or more references per image, from files or from memory."""
    if isinstance(source, str | Path):
        return read_references([Path(source)])
    if isinstance(source, Sequence) and source and all(isinstance(path, Path) for path in source):
        return read_references([path for path in source if isinstance(path, Path)])
    references = CaptionSet("the references", unit="entry", plain=not isinstance(source, Mapping))
    for number, image, texts in _rows_in_memory(source):
        if isinstance(texts, str | Path) or not isinstance(texts, Iterable):
            raise UserError(
                "Give the references of each caption as a list of texts, or files as Path objects."
            )
        references.add(number, image, list(texts))
    return references


def _rows_in_memory(source: Mapping[str, Any] | Sequence[Any]) -> Iterator[tuple[int, str, Any]]:
    """The number, the image and what is said of it, row by row."""
    if isinstance(source, Mapping):
        rows: Iterable[tuple[object, Any]] = source.items()
    else:
        rows = enumerate(source, 1)
    for number, (image, value) in enumerate(rows, 1):
        yield number, str(image), value


def read_captions(path: Path, *, single: bool = False) -> CaptionSet:
    """A file's captions; with `single`, one per image."""
    captions = CaptionSet(str(path), single)
    head = read_head(path, LONGEST_LINE).decode("utf-8-sig", "replace")
    start = head.lstrip()[:1]
    if start == "[" or (start == "{" and not _is_json_lines(head)):
        _read_document(captions, path)
    elif start == "{":
        _read_json_lines(captions, path)
    else:
        _read_plain_text(captions, path)
    if not captions.texts:
        bad = next(iter(captions.bad), None)
        first = f"{captions.unit} {bad.row}: {bad.reason}" if bad else "it is empty"
        raise UserError(f"{path} holds no caption that can be used ({first}).")
    return captions


def read_references(paths: Sequence[Path]) -> CaptionSet:
    """References: one file of any kind, or several plain-text files with one reference of each
    caption in each."""
    references = read_captions(paths[0])
    for path in paths[1:]:
        more = read_captions(path)
        if not (references.plain and more.plain):
            raise UserError(
                "Several files of references must all be plain text, one caption per line."
            )
        _check_same_length(references, more)
        for image, texts in more.texts.items():
            references.texts.setdefault(image, []).extend(texts)
        references.bad += [BadRow(row.row, f"{row.reason} (in {path.name})") for row in more.bad]
    return references


def _check_same_length(a: CaptionSet, b: CaptionSet) -> None:
    left = len(a.texts) + len(a.bad)
    right = len(b.texts) + len(b.bad)
    if left != right:
        sizes = f"{a.source} has {left} {a.unit}s and {b.source} has {right}"
        raise UserError(f"{sizes}: without image ids they are paired in order.")


def pair(hypotheses: CaptionSet, references: CaptionSet) -> tuple[list[str], list[str]]:
    """The images that have both captions and references, and every row that was left out, as a
    sentence."""
    if hypotheses.plain != references.plain:
        raise UserError(
            "Plain text has no image ids: captions and references must both be plain text, or "
            "neither."
        )
    if hypotheses.plain:
        _check_same_length(hypotheses, references)
    both = (hypotheses, references)
    left_out = [
        f"{each.source}, {each.unit} {row.row}: {row.reason}" for each in both for row in each.bad
    ]
    if hypotheses.plain:
        dropped = {str(row.row) for each in both for row in each.bad}
    else:
        dropped = set()
    for each, other, lack in (
        (hypotheses, references, "reference"),
        (references, hypotheses, "caption"),
    ):
        missing = [
            image for image in each.texts if image not in other.texts and image not in dropped
        ]
        name = Path(other.source).name
        left_out += [f"{each.source}: image {image} has no {lack} in {name}" for image in missing]
    images = [image for image in hypotheses.texts if image in references.texts]
    if not images:
        raise UserError(f"{hypotheses.source} and {references.source} have no image in common.")
    return images, left_out


def _is_json_lines(head: str) -> bool:
    """Whether a line by itself is an object with an image, and not COCO's annotations all in
    one."""
    rows = json_rows(enumerate(head.splitlines()[:3], 1))
    return any(key in row.cells for row in rows if isinstance(row, Row) for key in _IDS)


def _read_plain_text(captions: CaptionSet, path: Path) -> None:
    """One caption per line; references may stand side by side, separated by tabs."""
    captions.plain = True
    for number, line in read_lines(path, most=MOST_ROWS):
        if isinstance(line, BadRow):
            captions.bad.append(line)
        else:
            captions.add(number, str(number), [line] if captions.single else line.split("\t"))


def _read_json_lines(captions: CaptionSet, path: Path) -> None:
    for row in json_rows(read_lines(path, most=MOST_ROWS)):
        if isinstance(row, BadRow):
            captions.bad.append(row)
        else:
            captions.add_entry(row.number, row.cells)


def _read_document(captions: CaptionSet, path: Path) -> None:
    """COCO's annotations, a list of records, or an object of captions by image, entry by entry."""
    captions.unit = "entry"
    by_image: dict[str, list[object]] = {}
    duplicates: list[str] = []
    number = 0
    has_records = False
    try:
        with read_errors(path):
            for key, entry in entries(path, duplicates):
                if (number := number + 1) > MOST_ROWS:
                    raise UserError(f"{path} has more than {MOST_ROWS:,} entries: split it.")
                if key in ("", "annotations"):
                    has_records = True
                    captions.add_entry(number, entry)
                elif not has_records:
                    by_image.setdefault(key, []).append(entry if isinstance(entry, str) else None)
    except BrokenFileError as error:
        raise UserError(f"{path} is not JSON: {error}.") from error
    for number, (image, texts) in enumerate(() if has_records else by_image.items(), 1):
        captions.add_entry(number, {"image_id": image, "captions": texts})
    captions.bad += [
        BadRow(number, f"the key {key!r} is there twice: the first is kept") for key in duplicates
    ]
