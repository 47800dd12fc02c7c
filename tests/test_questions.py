"""The shared nouns: how texts with a slot and a separator are read."""

from __future__ import annotations

from seesay.questions import resolve_separator


def test_resolving_a_separator() -> None:
    assert resolve_separator("What? [SEP] It", "</s>") == "What? </s> It"
    assert resolve_separator("What? [SEP] It", None) == "What? It"
    assert resolve_separator("What?[SEP]", None) == "What?"
