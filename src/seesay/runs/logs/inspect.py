"""Logs of inspect_ai: `.eval`, a zip file, or JSON.

Of a zip file only the header and the summaries of samples are read, which hold the scores. A
summary shortens long texts: these are not used to find the same item in another log. A sample that
was asked in several epochs is one item, whose score is their mean, as inspect has it by default.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from seesay.data.cells import Cells
from seesay.data.json_stream import BrokenFileError, Member, decode_entries, entries
from seesay.data.lines import read_errors
from seesay.data.rows import Row, Rows, bound_rows, parse_rows
from seesay.errors import UserError, first_line
from seesay.grouping import group_by
from seesay.questions import BadRow
from seesay.runs.logs.items import Log, LogItem, LogKeys, Source, as_mean, chat_text, make_item

VERSIONS = (1, 2)
"""The versions of inspect's format that are known."""
_HEADERS = ("header.json", "_journal/start.json")
_SUMMARIES = "summaries.json"
_PARTIAL_SUMMARIES = "_journal/summaries/"
# RuntimeError: a member that says it is encrypted
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    struct.error,
)
_ZSTD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
"""What stands before a member of a zip file, with the lengths of its name and of its extras."""
_LARGEST_MEMBER = 1 << 30
_SHORTENED = 1000
"""A summary shortens texts to 1,024 characters, at a space, and ends them with dots."""
_FIGURES = ("accuracy", "mean")
"""The metrics of inspect that are means of scores."""


class _Sample(NamedTuple):
    """An item as it was asked in one epoch."""

    id: str
    epoch: str
    item: LogItem


def is_zip(path: Path) -> bool:
    """Return whether a file begins like a zip file."""
    with read_errors(path), path.open("rb") as file:
        return file.read(2) == b"PK"


def read(path: Path, keys: LogKeys) -> Log:
    """Read a log of inspect."""
    header: dict[str, Any] = {}
    members = _zip_members(path) if is_zip(path) else entries(path)
    rows = bound_rows(path, _rows(path, members, header))
    good, bad = parse_rows(path, rows, lambda cells: _sample(cells, header, keys))
    about = Source((header,))
    log = Log(
        path,
        program="inspect",
        model=str(about.get("eval.model")),
        task=str(about.get("eval.task")),
        metric=_scorer(header, keys) or "score",
        items=_join_epochs(list(good.values())),
        bad=bad,
        reported=_reported(header, keys),
    )
    status = about.get("status") or "unfinished"
    if status != "success":
        log.notes.append(f"inspect calls this run '{status}': it may lack items")
    return log


def _rows(path: Path, members: Iterator[Member], header: dict[str, Any]) -> Rows:
    """Yield the samples, and gather what stands beside them in the header."""
    number = 0
    with read_errors(path):
        try:
            for key, value in members:
                if key != "samples":
                    header[key] = value
                    continue
                number += 1
                _refuse_unknown(path, header)
                if isinstance(value, dict):
                    yield Row(number, value)
                else:
                    yield BadRow(number, "not a JSON object")
        except BrokenFileError as error:
            yield BadRow(number + 1, f"the log is cut or damaged from here on ({error})")
        except _DAMAGE as error:
            raise UserError(
                f"{path} is cut or damaged ({first_line(error)}): copy it again."
            ) from error
    _refuse_unknown(path, header)


def _refuse_unknown(path: Path, header: Mapping[str, Any]) -> None:
    """Refuse what is no log of inspect, or one of a version that nobody here knows."""
    if "eval" not in header:
        raise UserError(f"{path} is not a log of inspect: it does not say what was evaluated.")
    version = header.get("version")
    if version not in VERSIONS:
        raise UserError(
            f"{path} is of version {version} of inspect's format; this seesay reads "
            f"{' and '.join(map(str, VERSIONS))}."
        )


def _zip_members(path: Path) -> Iterator[Member]:
    """Yield the entries of the header, then the summaries of samples."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        header = next((name for name in _HEADERS if name in names), None)
        if header is None:
            raise UserError(f"{path} is not a log of inspect: it has no {_HEADERS[0]}.")
        yield from decode_entries(_open(path, archive, header))
        # A run that was broken off has only those that it wrote on the way.
        summaries = [name for name in names if name.startswith(_PARTIAL_SUMMARIES)]
        if _SUMMARIES in names:
            summaries = [_SUMMARIES]
        for name in summaries:
            for _, summary in decode_entries(_open(path, archive, name)):
                yield "samples", summary


def _open(path: Path, archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member; inspect compresses with Zstandard, which Python's zipfile may not know."""
    member = archive.getinfo(name)
    if member.compress_type != _ZSTD:
        return cast("IO[bytes]", _Bounded(archive.open(member)))
    import pyarrow as pa

    with path.open("rb") as file:
        file.seek(member.header_offset)
        lengths = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        file.seek(sum(lengths), 1)
        content = file.read(member.compress_size)
    return cast("IO[bytes]", _Bounded(pa.CompressedInputStream(pa.BufferReader(content), "zstd")))


class _Bounded:
    """A member that is damaged, for its readers, where it unpacks to more than any log has."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._size = 0

    def read(self, size: int) -> bytes:
        """Read bytes, up to the bound."""
        content: bytes = self._file.read(size)
        self._size += len(content)
        if self._size > _LARGEST_MEMBER:
            raise zipfile.BadZipFile(f"it unpacks to more than {_LARGEST_MEMBER >> 20:,} MB")
        return content


def _scorer(header: Mapping[str, Any], keys: LogKeys) -> str | None:
    """Return which of several scorers counts: the user's, the log's headline, or its first."""
    source = Source((header,))
    scored = source.get("results.scores")
    first = scored[0] if isinstance(scored, list) and scored else None
    name = source.get("results.headline.score") or Source((first,)).get("name")
    return keys.score or (name if isinstance(name, str) else None)


def _sample(cells: Cells, header: Mapping[str, Any], keys: LogKeys) -> _Sample:
    """Return the item of one sample."""
    scores = cells.get("scores")
    if not isinstance(scores, Mapping):
        scores = {}
    # a run that was broken off has no results
    name = _scorer(header, keys) or next(iter(scores), None)
    score = Source((scores.get(name),)).get("value")
    # a scorer may give several values, each under a name
    if score is None:
        values = (Source((scored,)).get(f"value.{name}") for scored in scores.values())
        score = next((value for value in values if value is not None), None)
    text = chat_text(cells.get("input"))
    number = cells.get("id")
    item = make_item(
        Source((cells, cells.get("metadata"))),
        keys,
        # inspect counts samples that have no id: such a number says nothing in another log
        id=None if str(number).isdecimal() else number,
        text=None if len(text) > _SHORTENED and text.endswith("...") else text,
        score=score,
        choices=cells.get("choices"),
        right=cells.get("target"),
    )
    return _Sample(str(number), str(cells.get("epoch", 1)), item)


def _join_epochs(samples: Sequence[_Sample]) -> list[LogItem]:
    """Return one item for the epochs of each sample; a sample twice in one epoch stays twice."""
    items: list[LogItem] = []
    for asked in group_by(samples, lambda sample: sample.id).values():
        epochs = {sample.epoch for sample in asked}
        if len(epochs) < len(asked):
            items += [sample.item for sample in asked]
        else:
            mean = sum(sample.item.score for sample in asked) / len(asked)
            items.append(asked[0].item._replace(score=mean))
    return items


def _reported(header: Mapping[str, Any], keys: LogKeys) -> float | None:
    """Return the mean that inspect itself reports."""
    results = Source((header,)).get("results.scores")
    for scored in results if isinstance(results, list) else []:
        if Source((scored,)).get("name") != _scorer(header, keys):
            continue
        for name in _FIGURES:
            value = as_mean(Source((scored,)).get(f"metrics.{name}.value"))
            if value is not None:
                return value
    return None
