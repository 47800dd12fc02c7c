"""What is imported before a local model is loaded."""

from __future__ import annotations

from threading import Event

import pytest

from seesay.models import libraries

SECONDS = 60


def test_imports_go_on_while_the_block_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    has_begun, is_fetched = Event(), Event()
    imported = []

    def import_module(name: str) -> None:
        has_begun.set()
        assert is_fetched.wait(SECONDS)
        imported.append(name)

    monkeypatch.setattr(libraries, "import_module", import_module)
    with libraries.importing_meanwhile():
        assert has_begun.wait(SECONDS)
        assert not imported
        is_fetched.set()
    assert imported == ["transformers.modeling_utils"]


def test_an_import_that_fails_is_left_to_whoever_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    has_begun = Event()

    def import_module(name: str) -> None:
        has_begun.set()
        raise ImportError(name)

    monkeypatch.setattr(libraries, "import_module", import_module)
    with libraries.importing_meanwhile():
        assert has_begun.wait(SECONDS)
