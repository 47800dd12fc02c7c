"""Real captions with the colours of chosen things removed, swapped or thinned."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.shared_data import shared

from seesay.data.captions import Corpus
from seesay.data.lines import LONGEST_LINE
from seesay.errors import UserError
from seesay.language.training.captions import read_captions
from seesay.rearing.real_captions import CaptionEditor, Edit, edit_corpora


def test_only_the_chosen_things_lose_their_color() -> None:
    editor = CaptionEditor(["shirt"], Edit.REMOVED)
    caption = "A man in a Red shirt, two blue shirts and a red hat."
    assert editor.change(caption) == "A man in a shirt, two shirts and a red hat."
    assert editor.stated["shirt"] == {"red": 1, "blue": 1}
    assert editor.change("a shirtless man in a red shirtwaist") == (
        "a shirtless man in a red shirtwaist"
    )


def test_several_colors_of_a_thing_are_one_statement() -> None:
    captions = {
        "A black and white dog": "A dog",
        "a black , brown and white dog runs": "a dog runs",
        "a black-and-white dog": "a dog",
        "a white or brown Dog": "a Dog",
        "a black cat and white dog": "a black cat and dog",
    }
    editor = CaptionEditor(["dog"], Edit.REMOVED)
    assert {before: editor.change(before) for before in captions} == captions
    assert editor.stated["dog"] == {"black": 3, "white": 5, "brown": 2}
    swapping = CaptionEditor(["dog"], Edit.SWAPPED)
    words = swapping.change("A Black and white dog").split()
    assert words[::2] == ["A", "and", "dog"]
    assert words[1::2] == [
        swapping.change(f"{color} dog").split()[0] for color in ("black", "white")
    ]
    assert words[1].lower() != "black"
    thinning = CaptionEditor(["dog"], Edit.THINNED, keep=1)
    assert thinning.change("a black and white dog") == "a dog"
    assert thinning.change("a black dog") == "a black dog"


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


@pytest.mark.seconds
@pytest.mark.parametrize("corpus", ["flickr8k.token.txt.gz", "multi30k.train.1.en.gz"])
def test_published_captions_keep_all_but_the_statements(corpus: str, tmp_path: Path) -> None:
    path = shared(f"captions/{corpus}")
    with Corpus(path, longest=LONGEST_LINE) as captions:
        published = [caption.text for caption in read_captions(captions)]
    stated = re.compile(r"\b(black|brown|white|red|yellow) (dog|shirt)s?\b", re.IGNORECASE)
    total = sum(len(stated.findall(text)) for text in published)
    assert total > 500
    things = ["dog", "shirt"]
    texts = {}
    cards = {}
    for edit in Edit:
        cards[edit] = edit_corpora([path], tmp_path / edit, things, edit, keep=5)["things"]
        texts[edit] = (tmp_path / edit / "captions.txt").read_text().splitlines()
        assert len(texts[edit]) == len(published)
        for before, after in zip(published, texts[edit], strict=True):
            if not stated.search(before) and not re.search("dog|shirt", before, re.IGNORECASE):
                assert after == " ".join(before.split())
    assert not any(map(stated.search, texts[Edit.REMOVED]))
    for thing in things:
        counts = cards[Edit.REMOVED][thing]["stated"]
        assert sum(counts.values()) > 100
        assert cards[Edit.REMOVED][thing]["left"] == {}
        # a colour is another one, as often
        swapped = cards[Edit.SWAPPED][thing]["left"]
        assert sorted(swapped.values()) == sorted(counts.values())
        assert sum(cards[Edit.THINNED][thing]["left"].values()) == 5
