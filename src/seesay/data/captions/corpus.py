"""One reader for every corpus of captions.

It recognises the form, reads one caption at a time, and counts.

Which picture a caption describes matters when some are held out: five captions of one picture say
the same thing five times. Most forms name the picture. Files of plain text whose names differ only
in a number (`train.1.en`, `train.2.en`, as in Multi30k) are parallel, so there the line is the
picture.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from io import BufferedReader
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from seesay.data.captions import data_sets, forms
from seesay.data.captions.records import Caption, answer_of
from seesay.data.json_stream import BrokenFileError, decode_entries, entries, is_text
from seesay.data.lines import (
    LONGEST_TEXT_LINE,
    BoundedGzipFile,
    decode_lines,
    open_bytes,
    read_head,
)
from seesay.errors import UserError
from seesay.questions import BadRow

STANDARD_INPUT = "-"
_REPORTED_ROWS = 10


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """How much of a source was read: captions, blank rows, and rows that could not be used."""

    source: str
    form: str
    captions: int
    blank: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """Return the summary for `--json`."""
        return asdict(self)


class Corpus:
    """Captions (or any texts) of a file, of a data set's folder or of standard input ("-").

    It is read once. The form is recognised when the source is opened; one of no known form is
    refused. The first few unusable rows are kept with their reasons (`bad_rows`).
    """

    def __init__(self, source: Path | str, *, longest: int = LONGEST_TEXT_LINE) -> None:
        self.name = str(source)
        self.form = ""
        self.unit = "line"
        self.captions = 0
        self.blank = 0
        self.bad = 0
        self.bad_rows: list[BadRow] = []
        self.size: int | None = None
        self._longest = longest
        self._digest = hashlib.blake2b(digest_size=8)
        self._stack = ExitStack()
        self._rows: Iterator[Caption | BadRow] = iter(())
        self._raw: IO[bytes] | None = None

    def __enter__(self) -> Self:
        # A file opened before an error is closed again: only a corpus that is ready keeps it.
        with ExitStack() as stack:
            try:
                self._open(stack)
            except forms.UnknownFormError as error:
                raise UserError(
                    f"'{self.name}' is not a corpus that seesay knows ({error}): give "
                    f"{forms.KNOWN}."
                ) from error
            except OSError as error:
                raise UserError(f"Cannot read '{self.name}': {error.strerror or error}.") from error
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def position(self) -> int:
        """How many bytes of the file have been read."""
        if self._raw is None:
            return 0
        return self._raw.tell()

    @property
    def digest(self) -> str:
        """A digest of the texts returned so far, blank and unusable rows left out."""
        return self._digest.hexdigest()

    @property
    def summary(self) -> CorpusSummary:
        """How much has been read."""
        return CorpusSummary(self.name, self.form, self.captions, self.blank, self.bad)

    def read(self, limit: int | None = None) -> Iterator[Caption]:
        """Yield the captions, `limit` of them at most; blank and unusable rows are counted."""
        return islice(self._usable(), limit)

    def _usable(self) -> Iterator[Caption]:
        """Yield the captions that are text; the others are counted with their reasons."""
        for row in self._rows:
            if isinstance(row, BadRow):
                self.leave_out(row.row, row.reason)
            elif "\0" in row.text:
                self.leave_out(row.row, "holds NUL characters, which no text does")
            elif not is_text(row.text):
                self.leave_out(row.row, "holds half of a surrogate pair")
            elif not row.text.strip():
                self.blank += 1
            else:
                self.captions += 1
                # The digest says which texts a model was trained on, whatever files they came in.
                self._digest.update(row.text.encode() + b"\n")
                yield row

    def reject(self, row: int, reason: str) -> None:
        """Take back a caption that was read and turned out to be unusable."""
        self.captions -= 1
        self.leave_out(row, reason)

    def leave_out(self, row: int, reason: str) -> None:
        """Count a row that cannot be used; the first few are kept with their reasons."""
        self.bad += 1
        if len(self.bad_rows) < _REPORTED_ROWS:
            self.bad_rows.append(BadRow(row, reason))

    def _open(self, stack: ExitStack) -> None:
        """Recognise the form of the source and prepare its rows, of which none is read yet."""
        path = Path(self.name).expanduser()
        if self.name != STANDARD_INPUT and not path.exists():
            raise UserError(f"There is no file '{self.name}'.")
        if data_sets.is_data_set(path):
            self.form, self._rows = data_sets.read(path)
            self.unit = "row"
            return
        file, head, whole = self._open_file(stack, path)
        text_form = forms.recognise_text(head, whole=whole)
        if text_form is None:
            self._open_json(file, path)
            return
        self.form = text_form.name
        # One name for parallel files, whose lines with one number describe one picture.
        parallel = re.sub(r"\d+", "#", path.name.removesuffix(".gz"))
        lines = decode_lines(file, f"'{self.name}'", self._longest)
        self._rows = text_form.read(lines, parallel)

    def _open_json(self, file: IO[bytes], path: Path) -> None:
        """Recognise a JSON document by its entries; it is read one entry at a time."""
        try:
            form, numbered = forms.recognise_json(decode_entries(file))
        except BrokenFileError as error:
            raise forms.UnknownFormError(f"it is not JSON: {error}") from error
        self.form = form.name
        self.unit = "entry"
        if form is forms.VQA_ANSWERS:
            raise UserError(
                f"'{self.name}' holds the answers of VQA: give its questions, and the answers are "
                "read beside them."
            )
        answers = _vqa_answers(path) if form is forms.VQA else {}
        self._rows = self._whole(forms.read_json(form, numbered, path.name, answers))

    def _open_file(self, stack: ExitStack, path: Path) -> tuple[IO[bytes], bytes, bool]:
        """Return the file, decompressed, its first bytes, and whether these are all."""
        if self.name == STANDARD_INPUT:
            # Standard input cannot be read twice: a look ahead leaves its first bytes where they
            # are.
            stdin = cast("BufferedReader", sys.stdin.buffer)
            return stdin, stdin.peek(forms.HEAD)[: forms.HEAD], False
        self.size = path.stat().st_size
        head = read_head(path, forms.HEAD)
        file = stack.enter_context(open_bytes(path))
        # Progress is measured in bytes of the file on disk, gzipped or not.
        self._raw = file.compressed if isinstance(file, BoundedGzipFile) else file
        return file, head, len(head) < forms.HEAD

    def _whole(self, rows: Iterator[Caption | BadRow]) -> Iterator[Caption | BadRow]:
        """Yield the rows of a JSON document.

        One that breaks off is an error, and not a shorter corpus.
        """
        number = 0
        try:
            for row in rows:
                number = row.row
                yield row
        except BrokenFileError as error:
            raise UserError(
                f"'{self.name}' is damaged after entry {number:,} ({error}): fetch it again."
            ) from error


def distinct_sources(paths: Iterable[Path]) -> list[Path]:
    """Return the sources to read of those that were given.

    VQA's answers are read with their questions, and not once more by themselves.
    """
    sources = list(paths)
    questions = [path for path in sources if "questions" in path.name]
    read_beside = {path.with_name(_answers_name(path.name)) for path in questions}
    return [path for path in sources if path not in read_beside]


def _answers_name(questions: str) -> str:
    """`v2_OpenEnded_mscoco_val2014_questions.json` → `v2_mscoco_val2014_annotations.json`."""
    return re.sub("(OpenEnded|MultipleChoice)_", "", questions).replace("questions", "annotations")


def _vqa_answers(questions: Path) -> dict[Any, str]:
    """Read the commonest answer to each question, by its number."""
    path = questions.with_name(_answers_name(questions.name))
    if path == questions or not path.is_file():
        raise UserError(
            f"'{questions}' holds questions of VQA: put their answers, {path.name}, into the same "
            "folder."
        )
    answers: dict[Any, str] = {}
    try:
        form, numbered = forms.recognise_json(entries(path))
        if form is not forms.VQA_ANSWERS:
            raise UserError(f"'{path}' does not hold the answers of VQA.")
        for _, entry in numbered:
            if not isinstance(entry, dict):
                continue
            answer = answer_of(entry)
            identity = entry.get("question_id")
            if answer is not None and isinstance(identity, int | str):
                answers[identity] = answer
    except (BrokenFileError, forms.UnknownFormError) as error:
        raise UserError(
            f"'{path}' is damaged, or not the answers of VQA ({error}): fetch it again."
        ) from error
    return answers
