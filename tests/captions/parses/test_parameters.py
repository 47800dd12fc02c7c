from __future__ import annotations

from pathlib import Path

import pytest

from seesay.captions.parses import EvalbParameters, read_parameters
from seesay.errors import UserError

COLLINS = """
## Debug mode ##
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
# EQ_WORD  Example example
"""


def test_collins_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "COLLINS.prm").write_text(COLLINS)
    assert read_parameters(tmp_path / "COLLINS.prm") == EvalbParameters()
    (tmp_path / "windows.prm").write_text(COLLINS.lstrip(), encoding="utf-8-sig")
    assert read_parameters(tmp_path / "windows.prm") == EvalbParameters()


def test_equal_is_not_directional() -> None:
    assert EvalbParameters().same_label("PRT", "ADVP")
    assert EvalbParameters().same_label("ADVP", "PRT")
    assert not EvalbParameters().same_label("NP", "PRT")


@pytest.mark.parametrize(
    "line", ["DELETE_LABEL", "EQ_LABEL A", "CUTOFF_LEN x", "NONSENSE 1", "LABELED 1 2"]
)
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "x.prm").write_text(f"DEBUG 0\n{line}\n")
    with pytest.raises(UserError, match="Line 2"):
        read_parameters(tmp_path / "x.prm")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Cannot read"):
        read_parameters(tmp_path / "nowhere")
