"""Captions from files: COCO's JSON, JSON lines or plain text, gzipped or not. A bad row is reported, never fatal."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from seesay.errors import UserError
from seesay.questions import BadRow

LONGEST_LINE = 1 << 16
LONGEST_FILE = 1 << 30
MOST_WORDS = 2000
"""METEOR's search grows with the square of a text that repeats itself: a longer one is no caption."""
_IDS = ("image_id", "id", "image")
_TEXTS = ("caption", "captions", "references", "text")


@dataclass
class Captions:
    """Captions by image, and the rows that could not be used. `unit` is what a row of the file is called."""

    path: Path
    texts: dict[str, list[str]] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    unit: str = "line"
    plain: bool = False

    def add(self, row: int, image: str, texts: list[str], *, single: bool) -> None:
        """One row's captions; a second caption of an image is a bad row where there is to be one."""
        if single and (image in self.texts or len(texts) != 1):
            self.bad.append(BadRow(row, f"a second caption for image {image}"))
        elif any(len(text.split()) > MOST_WORDS for text in texts):
            self.bad.append(BadRow(row, f"a caption of more than {MOST_WORDS:,} words"))
        else:
            self.texts.setdefault(image, []).extend(texts)


def read_captions(path: Path, *, single: bool = False) -> Captions:
    """A file's captions; with `single`, one an image."""
    found = Captions(path)
    head = b"".join(raw for _, raw in zip(range(3), _raw_lines(path), strict=False)).decode("utf-8", "replace")
    start = head.lstrip("\ufeff \t\r\n")[:1]
    if start == "[" or (start == "{" and not _is_lines(head)):
        _read_document(found, single)
    elif start == "{":
        _read_lines(found, single)
    else:
        _read_plain(found, single)
    if not found.texts:
        first = f" ({found.unit} {found.bad[0].row}: {found.bad[0].reason})" if found.bad else " (it is empty)"
        raise UserError(f"{path} holds no caption that can be used{first}.")
    return found


def read_references(paths: Sequence[Path]) -> Captions:
    """References: one file of any kind, or several plain ones with a reference of each caption in each."""
    first = read_captions(paths[0])
    for path in paths[1:]:
        more = read_captions(path)
        if not (first.plain and more.plain):
            raise UserError("Several files of references must all be plain text, one caption a line.")
        _same_length(first, more)
        for image, texts in more.texts.items():
            first.texts.setdefault(image, []).extend(texts)
        first.bad += [BadRow(row.row, f"{row.reason} (in {path.name})") for row in more.bad]
    return first


def _same_length(a: Captions, b: Captions) -> None:
    left, right = len(a.texts) + len(a.bad), len(b.texts) + len(b.bad)
    if left != right:
        raise UserError(f"{a.path} has {left} lines and {b.path} has {right}: plain text goes line by line.")


def pair(
    hypotheses: Captions, references: Captions
) -> tuple[list[str], list[str], list[list[str]], list[tuple[Path, str, BadRow]]]:
    """Images that have both: their names, captions and references; and every bad row with its file and unit."""
    if hypotheses.plain != references.plain:
        raise UserError("Plain text has no image ids: captions and references must be plain text both, or neither.")
    if hypotheses.plain:
        _same_length(hypotheses, references)
    bad = [(one.path, one.unit, row) for one in (hypotheses, references) for row in one.bad]
    images = [image for image in hypotheses.texts if image in references.texts]
    dropped = {str(row.row) for one in (hypotheses, references) for row in one.bad} if hypotheses.plain else set()
    for one, other, lack in ((hypotheses, references, "reference"), (references, hypotheses, "caption")):
        missing = [image for image in one.texts if image not in other.texts and image not in dropped]
        bad += [
            (one.path, "image", BadRow(0, f"image {image} has no {lack} in {other.path.name}")) for image in missing
        ]
    if not images:
        raise UserError(f"{hypotheses.path} and {references.path} have no image in common.")
    texts = [hypotheses.texts[image][0] for image in images]
    return images, texts, [references.texts[image] for image in images], bad


def _raw_lines(path: Path) -> Iterator[bytes]:
    try:
        with cast("IO[bytes]", gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")) as file:
            while raw := file.readline(LONGEST_FILE):
                yield raw
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error


def _is_lines(head: str) -> bool:
    """Whether a line by itself is an object, and not COCO's annotations all in one."""
    for line in head.lstrip("\ufeff").splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and any(key in row for key in _IDS):
            return True
    return False


def _numbered(found: Captions) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(_raw_lines(found.path), 1):
        if len(raw) > LONGEST_LINE:
            found.bad.append(BadRow(number, f"longer than {LONGEST_LINE:,} bytes"))
            continue
        try:
            yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            found.bad.append(BadRow(number, "not UTF-8 text"))


def _read_plain(found: Captions, single: bool) -> None:
    """A caption a line; references may stand side by side, parted by tabs."""
    found.plain = True
    for number, line in _numbered(found):
        found.add(number, str(number), [line] if single else line.split("\t"), single=single)


def _read_lines(found: Captions, single: bool) -> None:
    for number, line in _numbered(found):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            found.bad.append(BadRow(number, "not JSON"))
            continue
        _take(found, number, row, single)


def _read_document(found: Captions, single: bool) -> None:
    found.unit = "entry"
    try:
        document = json.loads(b"".join(_raw_lines(found.path)).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{found.path} is not JSON: {error}.") from error
    if isinstance(document, dict) and isinstance(document.get("annotations"), list):
        document = document["annotations"]
    if isinstance(document, dict):
        document = [{"image_id": image, "captions": texts} for image, texts in document.items()]
    for number, row in enumerate(document, 1):
        _take(found, number, row, single)


def _take(found: Captions, number: int, row: object, single: bool) -> None:
    if not isinstance(row, dict):
        found.bad.append(BadRow(number, "not a JSON object"))
        return
    image = next((row[key] for key in _IDS if key in row), None)
    texts = next((row[key] for key in _TEXTS if key in row), None)
    texts = [texts] if isinstance(texts, str) else texts
    if isinstance(image, bool) or not isinstance(image, int | str):
        found.bad.append(BadRow(number, "no 'image_id' (a number or a text)"))
    elif not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        found.bad.append(BadRow(number, "no 'caption' (a text) or 'captions' (a list of texts)"))
    else:
        found.add(number, str(image), texts, single=single)
