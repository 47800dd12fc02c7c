"""Captions by image: COCO's JSON, JSON lines or plain text, gzipped or not, or from memory.

Bad rows are reported, and the others used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError
from seesay.data.json_stream import BrokenFileError, DuplicateKeys, entries, is_text
from seesay.data.lines import LONGEST_LINE, read_errors, read_head, read_lines
from seesay.data.rows import KEY_TWICE, Row, json_rows
from seesay.errors import UserError
from seesay.quantities import quantity
from seesay.questions import BadRow

MOST_ROWS = 2_000_000
# METEOR's search grows with the square of a text that repeats itself: a longer one is no caption.
MOST_WORDS = 2000
MOST_CHARACTERS = 20_000
# The keys under which published files hold the image and the text, in order of preference.
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
    """Captions by image."""

    source: str
    """The file's path, or what to call captions in memory."""
    single: bool = False
    """Whether an image has one caption only."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    """The rows that could not be used."""
    unit: str = "line"
    """What a row of the source is called."""
    plain: bool = False
    """Whether the source has no image ids: then a row's number is its image."""

    def add(self, row: int, image: str, texts: list[str]) -> None:
        """Add one row's captions, or note why they cannot be used."""
        try:
            self._validate(image, texts)
        except BadValueError as error:
            self.bad.append(BadRow(row, str(error)))
        else:
            self.texts.setdefault(image, []).extend(texts)

    def bad_rows(self) -> list[str]:
        """Return a sentence for each row that could not be used."""
        return [f"{self.source}, {self.unit} {row.row}: {row.reason}" for row in self.bad]

    def _validate(self, image: str, texts: list[str]) -> None:
        """Raise BadValueError if the captions of an image cannot be used."""
        if self.single and (image in self.texts or len(texts) != 1):
            raise BadValueError(f"a second caption for image {image}")
        if not _are_strings(texts):
            raise BadValueError("not a text")
        if not all(map(is_text, (image, *texts))):
            raise BadValueError("holds half of a surrogate pair")
        for text in texts:
            if len(text) > MOST_CHARACTERS or len(text.split()) > MOST_WORDS:
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


def _are_strings(texts: Iterable[object]) -> bool:
    """Return whether all of the values are text."""
    return all(isinstance(text, str) for text in texts)


def _parse_entry(entry: object) -> tuple[str, list[str]]:
    """Return the image of a JSON object and its captions."""
    if not isinstance(entry, dict):
        raise BadValueError("not a JSON object")
    if isinstance(entry, DuplicateKeys):
        raise BadValueError(KEY_TWICE)
    image = _first_value(entry, _IDS)
    texts = _first_value(entry, _TEXTS)
    if isinstance(texts, str):
        texts = [texts]
    # True is an int in Python, and no image.
    if isinstance(image, bool) or not isinstance(image, int | str):
        raise BadValueError("no 'image_id' (a number or a text)")
    if not isinstance(texts, list) or not texts or not _are_strings(texts):
        raise BadValueError("no 'caption' (a text) or 'captions' (a list of texts)")
    return str(image), texts


def _first_value(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return the value of the first key that the entry has."""
    return next((entry[key] for key in keys if key in entry), None)


def load_captions(source: CaptionSource) -> CaptionSet:
    """Load one caption per image, from a file or from memory."""
    if isinstance(source, str | Path):
        return read_captions(Path(source), single=True)
    captions = CaptionSet(
        "the captions",
        single=True,
        unit="entry",
        plain=not isinstance(source, Mapping),
    )
    for number, image, text in _rows_in_memory(source):
        captions.add(number, image, [text])
    return captions


def load_references(source: ReferenceSource) -> CaptionSet:
    """Load one or more references per image, from files or from memory."""
    if isinstance(source, str | Path):
        return read_references([Path(source)])
    if isinstance(source, Sequence):
        # Only Path objects are files: a text in a list may be a caption.
        paths = [path for path in source if isinstance(path, Path)]
        if paths and len(paths) == len(source):
            return read_references(paths)
    references = CaptionSet(
        "the references",
        unit="entry",
        plain=not isinstance(source, Mapping),
    )
    for number, image, texts in _rows_in_memory(source):
        if isinstance(texts, str | Path) or not isinstance(texts, Iterable):
            raise UserError(
                "Give the references of each caption as a list of texts, or files as Path objects."
            )
        references.add(number, image, list(texts))
    return references


def _rows_in_memory(source: Mapping[str, Any] | Sequence[Any]) -> Iterator[tuple[int, str, Any]]:
    """Return the number, the image and what is said of it, row by row."""
    if isinstance(source, Mapping):
        rows: Iterable[tuple[object, Any]] = source.items()
    else:
        rows = enumerate(source, 1)
    for number, (image, value) in enumerate(rows, 1):
        yield number, str(image), value


def read_captions(path: Path, *, single: bool = False) -> CaptionSet:
    """Read a file's captions; with `single`, one per image."""
    captions = CaptionSet(str(path), single)
    # Contents decide, not the name: published files are called .txt, .json and .token alike.
    head = read_head(path, LONGEST_LINE).decode("utf-8-sig", "replace")
    start = head.lstrip()[:1]
    if start == "[" or (start == "{" and not _is_json_lines(head)):
        _read_document(captions, path)
    elif start == "{":
        _read_json_lines(captions, path)
    else:
        _read_plain_text(captions, path)
    if not captions.texts:
        reason = "it is empty"
        if captions.bad:
            first = captions.bad[0]
            reason = f"{captions.unit} {first.row}: {first.reason}"
        raise UserError(f"{path} holds no caption that can be used ({reason}).")
    return captions


def read_references(paths: Sequence[Path]) -> CaptionSet:
    """Read references from one file of any kind, or several of plain text.

    Each plain-text file has one reference of each caption.
    """
    references = read_captions(paths[0])
    for path in paths[1:]:
        more = read_captions(path)
        if not (references.plain and more.plain):
            raise UserError(
                "Several files of references must all be plain text, one caption per line."
            )
        _validate_same_length(references, more)
        for image, texts in more.texts.items():
            references.texts.setdefault(image, []).extend(texts)
        for row in more.bad:
            references.bad.append(BadRow(row.row, f"{row.reason} (in {path.name})"))
    return references


def _validate_same_length(a: CaptionSet, b: CaptionSet) -> None:
    """Raise UserError if two sets that are paired row by row differ in rows."""
    # Bad rows count: each holds the place of a caption.
    rows_a = len(a.texts) + len(a.bad)
    rows_b = len(b.texts) + len(b.bad)
    if rows_a != rows_b:
        plural = "entries" if a.unit == "entry" else f"{a.unit}s"
        raise UserError(
            f"{a.source} has {quantity(rows_a, a.unit, plural)} and {b.source} has {rows_b}: "
            "without image ids they are paired in order."
        )


def pair(hypotheses: CaptionSet, references: CaptionSet) -> tuple[list[str], list[str]]:
    """Return the images that have both captions and references, and what was left out.

    Every row that was left out is a sentence.
    """
    if hypotheses.plain != references.plain:
        raise UserError(
            "Plain text has no image ids: captions and references must both be plain text, or "
            "neither."
        )
    if hypotheses.plain:
        _validate_same_length(hypotheses, references)
    left_out: list[str] = []
    reported_rows: set[str] = set()
    for captions in (hypotheses, references):
        left_out += captions.bad_rows()
        # Of plain text a row is an image: one sentence about it is enough.
        if hypotheses.plain:
            reported_rows |= {str(row.row) for row in captions.bad}
    for captions, other, lack in (
        (hypotheses, references, "reference"),
        (references, hypotheses, "caption"),
    ):
        name = Path(other.source).name
        for image in captions.texts:
            if image not in other.texts and image not in reported_rows:
                left_out.append(f"{captions.source}: image {image} has no {lack} in {name}")
    images = [image for image in hypotheses.texts if image in references.texts]
    if not images:
        raise UserError(f"{hypotheses.source} and {references.source} have no image in common.")
    return images, left_out


def _is_json_lines(head: str) -> bool:
    """Return whether a line by itself is an object with an image.

    COCO's annotations are one object, which may begin with a line that is an object as well.
    """
    rows = json_rows(enumerate(head.splitlines()[:3], 1))
    return any(isinstance(row, Row) and not row.cells.keys().isdisjoint(_IDS) for row in rows)


def _read_plain_text(captions: CaptionSet, path: Path) -> None:
    """Read one caption per line; references may stand side by side, separated by tabs."""
    captions.plain = True
    for number, line in read_lines(path, most=MOST_ROWS):
        if isinstance(line, BadRow):
            captions.bad.append(line)
        elif captions.single:
            captions.add(number, str(number), [line])
        else:
            captions.add(number, str(number), line.split("\t"))


def _read_json_lines(captions: CaptionSet, path: Path) -> None:
    """Read one JSON object per line, each with an image and its captions."""
    for row in json_rows(read_lines(path, most=MOST_ROWS)):
        if isinstance(row, BadRow):
            captions.bad.append(row)
        else:
            captions.add_entry(row.number, row.cells)


def _read_document(captions: CaptionSet, path: Path) -> None:
    """Read a JSON document entry by entry.

    It is COCO's annotations, a list of records, or an object of captions by image.
    """
    captions.unit = "entry"
    by_image: dict[str, list[object]] = {}
    duplicates: list[str] = []
    number = 0
    has_records = False
    try:
        with read_errors(path):
            for key, entry in entries(path, duplicates):
                number += 1
                if number > MOST_ROWS:
                    raise UserError(f"{path} has more than {MOST_ROWS:,} entries: split it.")
                if key in ("", "annotations"):
                    has_records = True
                    captions.add_entry(number, entry)
                elif not has_records:
                    # None is no text: the entry is then reported as bad.
                    text = entry if isinstance(entry, str) else None
                    by_image.setdefault(key, []).append(text)
    except BrokenFileError as error:
        raise UserError(f"{path} is not JSON: {error}.") from error
    # COCO's annotations have other keys beside the records: those are no images.
    if not has_records:
        for number, (image, texts) in enumerate(by_image.items(), 1):
            captions.add_entry(number, {"image_id": image, "captions": texts})
    for key in duplicates:
        captions.bad.append(BadRow(number, f"the key {key!r} occurs twice: the first is kept"))
