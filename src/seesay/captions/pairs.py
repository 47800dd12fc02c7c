"""Captions by image: COCO's JSON, JSON lines or plain text, gzipped or not, or from memory. Bad rows are reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seesay.data.json_stream import BrokenFileError, DuplicateKeys, entries, is_text, parse_json
from seesay.data.lines import LONGEST_LINE, read_errors, read_head, read_lines
from seesay.data.rows import json_rows
from seesay.errors import UserError
from seesay.questions import BadRow

MOST_ROWS = 2_000_000
MOST_WORDS = 2000
"""METEOR's search grows with the square of a text that repeats itself: a longer one is no caption."""
MOST_CHARACTERS = 20_000
_IDS = ("image_id", "id", "image")
_TEXTS = ("caption", "captions", "references", "text")

CaptionSource = Path | str | Mapping[str, str] | Sequence[str]
"""A file, or captions in memory: by image, or in the order of their references."""
ReferenceSource = Path | str | Sequence[Path] | Mapping[str, Sequence[str]] | Sequence[Sequence[str]]
"""A file, several plain-text files, or the references of each caption in memory."""


@dataclass
class CaptionSet:
    """Captions by image, and the rows that could not be used. `unit` is what a row of the source is called.

    Of `plain` text, line by line, the line number is the image.
    """

    source: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    unit: str = "line"
    plain: bool = False

    def add(self, row: int, image: str, texts: list[str], *, single: bool) -> None:
        """Add one row's captions; with `single`, a second caption of an image is a bad row."""
        if single and (image in self.texts or len(texts) != 1):
            self.bad.append(BadRow(row, f"a second caption for image {image}"))
        elif not all(isinstance(text, str) for text in texts):
            self.bad.append(BadRow(row, "not a text"))
        elif not all(map(is_text, (image, *texts))):
            self.bad.append(BadRow(row, "holds half of a surrogate pair"))
        elif any(len(text) > MOST_CHARACTERS or len(text.split()) > MOST_WORDS for text in texts):
            self.bad.append(BadRow(row, f"a caption of more than {MOST_WORDS:,} words, or {MOST_CHARACTERS:,} letters"))
        else:
            self.texts.setdefault(image, []).extend(texts)

    def add_row(self, number: int, row: object, *, single: bool) -> None:
        """Add what a JSON object says of an image."""
        if not isinstance(row, dict) or isinstance(row, DuplicateKeys):
            self.bad.append(BadRow(number, "a key is there twice" if isinstance(row, dict) else "not a JSON object"))
            return
        image = next((row[key] for key in _IDS if key in row), None)
        texts = next((row[key] for key in _TEXTS if key in row), None)
        texts = [texts] if isinstance(texts, str) else texts
        if isinstance(image, bool) or not isinstance(image, int | str):
            self.bad.append(BadRow(number, "no 'image_id' (a number or a text)"))
        elif not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            self.bad.append(BadRow(number, "no 'caption' (a text) or 'captions' (a list of texts)"))
        else:
            self.add(number, str(image), texts, single=single)


def load_captions(source: CaptionSource) -> CaptionSet:
    """One caption per image, from a file or from memory."""
    if isinstance(source, str | Path):
        return read_captions(Path(source), single=True)
    captions = CaptionSet("the captions", unit="entry", plain=not isinstance(source, Mapping))
    rows = source.items() if isinstance(source, Mapping) else enumerate(source, 1)
    for number, (image, text) in enumerate(rows, 1):
        captions.add(number, str(image), [text], single=True)
    return captions


def load_references(source: ReferenceSource) -> CaptionSet:
    """One or more references per image, from files or from memory."""
    if isinstance(source, str | Path):
        return read_references([Path(source)])
    if isinstance(source, Sequence) and source and all(isinstance(path, Path) for path in source):
        return read_references([path for path in source if isinstance(path, Path)])
    references = CaptionSet("the references", unit="entry", plain=not isinstance(source, Mapping))
    rows: Iterable[tuple[object, Any]] = source.items() if isinstance(source, Mapping) else enumerate(source, 1)
    for number, (image, texts) in enumerate(rows, 1):
        if isinstance(texts, str | Path) or not isinstance(texts, Iterable):
            raise UserError("Give the references of each caption as a list of texts, or files as Path objects.")
        references.add(number, str(image), list(texts), single=False)
    return references


def read_captions(path: Path, *, single: bool = False) -> CaptionSet:
    """A file's captions; with `single`, one per image."""
    captions = CaptionSet(str(path))
    head = read_head(path, LONGEST_LINE).decode("utf-8-sig", "replace")
    start = head.lstrip()[:1]
    if start == "[" or (start == "{" and not _is_json_lines(head)):
        _read_document(captions, path, single)
    else:
        _read_by_line(captions, path, single, is_json=start == "{")
    if not captions.texts:
        bad = next(iter(captions.bad), None)
        first = f"{captions.unit} {bad.row}: {bad.reason}" if bad else "it is empty"
        raise UserError(f"{path} holds no caption that can be used ({first}).")
    return captions


def read_references(paths: Sequence[Path]) -> CaptionSet:
    """References: one file of any kind, or several plain-text files with one reference of each caption in each."""
    references = read_captions(paths[0])
    for path in paths[1:]:
        more = read_captions(path)
        if not (references.plain and more.plain):
            raise UserError("Several files of references must all be plain text, one caption per line.")
        _check_same_length(references, more)
        for image, texts in more.texts.items():
            references.texts.setdefault(image, []).extend(texts)
        references.bad += [BadRow(row.row, f"{row.reason} (in {path.name})") for row in more.bad]
    return references


def _check_same_length(a: CaptionSet, b: CaptionSet) -> None:
    left, right = len(a.texts) + len(a.bad), len(b.texts) + len(b.bad)
    if left != right:
        sizes = f"{a.source} has {left} {a.unit}s and {b.source} has {right}"
        raise UserError(f"{sizes}: without image ids they are paired in order.")


@dataclass(frozen=True)
class CaptionPairs:
    """Captions and references of the images that have both, and every row that was left out, as a sentence."""

    images: list[str]
    hypotheses: list[str]
    references: list[list[str]]
    left_out: list[str]


def pair(hypotheses: CaptionSet, references: CaptionSet) -> CaptionPairs:
    """Bring captions and references together by image."""
    if hypotheses.plain != references.plain:
        raise UserError("Plain text has no image ids: captions and references must both be plain text, or neither.")
    if hypotheses.plain:
        _check_same_length(hypotheses, references)
    both = (hypotheses, references)
    left_out = [f"{each.source}, {each.unit} {row.row}: {row.reason}" for each in both for row in each.bad]
    dropped = {str(row.row) for each in both for row in each.bad} if hypotheses.plain else set()
    for each, other, lack in ((hypotheses, references, "reference"), (references, hypotheses, "caption")):
        missing = [image for image in each.texts if image not in other.texts and image not in dropped]
        name = Path(other.source).name
        left_out += [f"{each.source}: image {image} has no {lack} in {name}" for image in missing]
    images = [image for image in hypotheses.texts if image in references.texts]
    if not images:
        raise UserError(f"{hypotheses.source} and {references.source} have no image in common.")
    texts = [hypotheses.texts[image][0] for image in images]
    return CaptionPairs(images, texts, [references.texts[image] for image in images], left_out)


def _is_json_lines(head: str) -> bool:
    """Whether a line by itself is an object with an image, and not COCO's annotations all in one."""
    for line in head.splitlines()[:3]:
        try:
            row = parse_json(line)
        except ValueError:
            continue
        if isinstance(row, dict) and any(key in row for key in _IDS):
            return True
    return False


def _read_by_line(captions: CaptionSet, path: Path, single: bool, *, is_json: bool) -> None:
    """JSON lines, or one caption per line; references may stand side by side, separated by tabs."""
    captions.plain = not is_json
    lines = read_lines(path, most=MOST_ROWS)
    if is_json:
        for row in json_rows(lines):
            if isinstance(row, BadRow):
                captions.bad.append(row)
            else:
                captions.add_row(row.number, row.cells, single=single)
        return
    for number, line in lines:
        if isinstance(line, BadRow):
            captions.bad.append(line)
        else:
            captions.add(number, str(number), [line] if single else line.split("\t"), single=single)


def _read_document(captions: CaptionSet, path: Path, single: bool) -> None:
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
                    captions.add_row(number, entry, single=single)
                elif not has_records:
                    by_image.setdefault(key, []).append(entry if isinstance(entry, str) else None)
    except BrokenFileError as error:
        raise UserError(f"{path} is not JSON: {error}.") from error
    for number, (image, texts) in enumerate(() if has_records else by_image.items(), 1):
        captions.add_row(number, {"image_id": image, "captions": texts}, single=single)
    captions.bad += [BadRow(number, f"the key {key!r} is there twice: the first is kept") for key in duplicates]
