"""seesay as a user runs it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seesay.cli import main
from seesay.condition import label
from seesay.questions import Slice
from seesay.runs.records import Record

SEESAY = (sys.executable, "-m", "seesay")


def seesay(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    return subprocess.run(
        [*SEESAY, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "200", **environment},
    )


def error_of(*arguments: str | Path, **environment: str) -> str:
    """The one sentence of a command that fails by the user's mistake."""
    done = seesay(*arguments, **environment)
    return _sentence(done.returncode, done.stdout, done.stderr)


def error_here(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The same in this process, which costs no start."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return _sentence(ended.value.code, out, err)


def usage_error(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What the parser of the command line says to an option or a choice that does not exist, on one
    line."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err, err
    assert (ended.value.code, out) == (2, ""), err
    return " ".join(err.split())


def json_records(text: str) -> list[Record]:
    """The records that `seesay probe --json` printed, where a slice is a text."""
    rows = json.loads(text)
    for row in rows:
        row["slice"] = row["slice"] and Slice.parse(row["slice"])
    return [Record(**row) for row in rows]


def record_label(record: Record) -> str:
    """The model of a record and how it was asked, as tables print them."""
    assert record.condition is not None
    return label(record.model, record.condition)


def json_labels(text: str) -> set[str]:
    """The labels of the records that `seesay probe --json` printed."""
    return set(map(record_label, json_records(text)))


def _sentence(code: object, out: str, err: str) -> str:
    assert "Traceback" not in err, err
    assert (code, out) == (2, ""), err
    sentences = [line for line in err.splitlines() if line.startswith("seesay: ")]
    assert len(sentences) == 1, err
    assert err.endswith(sentences[0] + "\n")
    return sentences[0].removeprefix("seesay: ")
