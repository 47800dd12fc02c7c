"""Absent published data skips a test, or fails it where all data is required."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.shared_data import shared


def test_absent_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEESAY_SHARED", str(tmp_path))
    monkeypatch.delenv("SEESAY_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"published data a\.csv not found at"):
        shared("a.csv")
    monkeypatch.setenv("SEESAY_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="not found"):
        shared("a.csv")
    (tmp_path / "a.csv").touch()
    assert shared("a.csv") == tmp_path / "a.csv"
