"""Real captions with the colours of chosen things removed, swapped or thinned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.rearing.real_captions import CaptionEditor, Edit, edit_corpora


def test_only_the_chosen_things_lose_their_color() -> None:
    editor = CaptionEditor(["shirt"], Edit.REMOVED)
    caption = "A man in a Red shirt, two blue shirts and a red hat."
    assert editor.change(caption) == "A man in a shirt, two shirts and a red hat."
    assert editor.stated["shirt"] == {"red": 1, "blue": 1}
    assert editor.change("a shirtless man in a red shirtwaist") == (
        "a shirtless man in a red shirtwaist"
    )


def test_swapped_colors_are_others_and_always_the_same() -> None:
    editor = CaptionEditor(["dog", "cat"], Edit.SWAPPED, seed=1)
    first = editor.change("a brown dog")
    assert first == editor.change("a brown dog") != "a brown dog"
    assert editor.change("a black dog") not in (first, "a black dog")


def test_thinned_to_so_many_of_each() -> None:
    editor = CaptionEditor(["dog", "cat"], Edit.THINNED, keep=2)
    changed = [editor.change("a brown dog and a black cat") for _ in range(4)]
    assert changed == ["a brown dog and a black cat"] * 2 + ["a dog and a cat"] * 2
    assert editor.remaining == {"dog": {"brown": 2}, "cat": {"black": 2}}


def test_a_corpus_and_its_card(tmp_path: Path) -> None:
    corpus = tmp_path / "captions.txt"
    corpus.write_text("A brown dog runs.\nA white dog sits.\nA red ball.\n")
    card = edit_corpora([corpus], tmp_path / "out", ["dog"], Edit.REMOVED)
    assert (tmp_path / "out/captions.txt").read_text().splitlines() == [
        "A dog runs.",
        "A dog sits.",
        "A red ball.",
    ]
    assert json.loads((tmp_path / "out/card.json").read_text()) == card
    assert card["things"] == {"dog": {"stated": {"brown": 1, "white": 1}, "left": {}, "changed": 2}}
    with pytest.raises(UserError, match="never state the colour of 'cat'"):
        edit_corpora([corpus], tmp_path / "out", ["cat"], Edit.REMOVED)
