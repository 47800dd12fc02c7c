"""Finding the one relation of a caption, and the contexts that come of it."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.language.relations.contexts import (
    Context,
    collect_contexts,
    seen_in_training,
    with_min_contexts,
)
from seesay.language.relations.inventory import (
    ANTONYMS,
    GROUPS,
    phrases,
    relations,
    shown_contexts,
    shown_relations,
    variants,
)
from seesay.language.relations.lexicon import (
    RelationLexicon,
    RelationMatch,
    read_lexicon,
    spellings,
)
from seesay.language.relations.matrix import SEEN_WARNINGS
from seesay.language.training.captions import split
from seesay.models import Model
from seesay.training.checkpoint import check_settings

LEXICON = RelationLexicon()


def test_the_published_words_are_all_there() -> None:
    assert (len(phrases()), len(shown_relations()), len(shown_contexts())) == (97, 67, 57)
    assert set(shown_contexts()) < set(shown_relations()) < set(phrases())
    known = variants(phrases())
    assert all(word in known[word] for group in (*ANTONYMS, *GROUPS) for word in group)
    assert known["left"] == (
        "left",
        "left of",
        "on left of",
        "on left side of",
        "on the left of",
        "on the left side of",
        "to left of",
        "to the left of",
    )
    assert all(relation.simple for relation in relations())


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A dog sits ON TOP OF a car .", RelationMatch("a dog sits ", "on top of", " a car .")),
        ("a cat to the  left of a bowl", RelationMatch("a cat ", "to the left of", " a bowl")),
        ("inside, two men", RelationMatch("", "inside", ", two men")),
        ("a house with no roof", RelationMatch("a house ", "with", " no roof")),
    ],
)
def test_the_longest_relation_is_found(caption: str, expected: RelationMatch) -> None:
    assert LEXICON.find(caption) == [expected]
    assert expected.before + expected.relation + expected.after == " ".join(caption.lower().split())


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("a man in a hat on a horse", ["in", "on"]),
        ("a man standing", []),
        ("in-line skates and a built-in oven", []),
        ("the inn's window, tonight", []),
        ("on the left side of the road", ["on the left side of"]),
        ("a boy on the lawn", ["on"]),
        ("the top off", ["top", "off"]),
    ],
)
def test_every_relation_of_a_caption(caption: str, expected: list[str]) -> None:
    assert [match.relation for match in LEXICON.find(caption)] == expected


@given(st.sampled_from(phrases()), st.sampled_from(phrases()))
def test_a_relation_between_other_words_is_found_whole(relation: str, other: str) -> None:
    """Whatever it is put in the place of: substitution gives a sentence that holds the new relation
    alone."""
    (match,) = LEXICON.find(f"a bottle {relation} tables")
    assert match.relation == relation
    assert [
        other_match.relation for other_match in LEXICON.find(match.before + other + match.after)
    ] == [other]


def test_contexts_are_collected_and_pictures_held_out_together(tmp_path: Path) -> None:
    captions = tmp_path / "captions.token.gz"
    lines = [
        f"{i}.jpg#{j}\tthing {i} {word} place {j}"
        for i in range(200)
        for j, word in enumerate(("in", "under"))
    ]
    lines += ["1.jpg#7\ta thing", "2.jpg#8\tin and out"]
    with gzip.open(captions, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    corpus = collect_contexts([captions], LEXICON, held_out=0.25, seed=3)
    assert (corpus.captions, corpus.without, corpus.several) == (402, 1, 1)
    assert corpus.occurrences == {"in": 201, "under": 200, "out": 1}
    assert corpus.words(minimum=200) == ("in", "under")
    held = {context.before for context in corpus.held_out["in"]}
    assert held == {context.before for context in corpus.held_out["under"]}
    assert held.isdisjoint(context.before for context in corpus.train["in"])
    assert 20 < len(held) < 80
    assert sorted(corpus.part("all")["in"]) == sorted(corpus.train["in"] + corpus.held_out["in"])
    assert collect_contexts([captions], LEXICON, held_out=0.25, seed=3) == corpus
    assert collect_contexts([captions], LEXICON, held_out=0.25, seed=4).held_out != corpus.held_out


def test_a_repeated_caption_is_one_context(tmp_path: Path) -> None:
    """Corpora overlap: the same caption with other case and punctuation, under another picture's
    name."""
    path = tmp_path / "captions.txt"
    path.write_text(
        "A dog in a car .\na cat under a bed\na dog in a car\nA dog, in a car!\n", encoding="utf-8"
    )
    corpus = collect_contexts([path], LEXICON, held_out=0.0)
    assert corpus.train == {
        "in": [Context("a dog ", " a car .")],
        "under": [Context("a cat ", " a bed")],
    }
    assert (corpus.captions, corpus.repeated, corpus.occurrences["in"]) == (4, 2, 1)


@pytest.mark.parametrize(
    ("part", "seed", "seen"),
    [
        ("held-out", 0, "no"),
        ("train", 0, "yes"),
        ("all", 0, "partly"),
        ("held-out", 1, "other"),
        ("all", None, "unknown"),
    ],
)
def test_whether_a_model_has_read_the_contexts(
    tmp_path: Path, part: str, seed: int | None, seen: str
) -> None:
    path = tmp_path / "captions.txt"
    path.write_text("".join(f"thing {i} in a place\n" for i in range(40)), encoding="utf-8")
    if seed is not None:  # what `pretrain` writes down
        check_settings(tmp_path / "training", {"captions": split([path], seed=seed).fingerprint})
    assert seen_in_training(tmp_path, collect_contexts([path], LEXICON), part) == seen
    assert (seen in SEEN_WARNINGS) == (seen in ("yes", "partly", "other"))


def test_too_few_contexts_and_too_many() -> None:
    contexts = {
        "in": [Context(f"a {i} ", " b") for i in range(9)],
        "on": [Context("a ", f" {i}") for i in range(5)],
        "at": [],
    }
    frequent = with_min_contexts(contexts, minimum=5, most=6, seed=1)
    assert list(frequent) == ["in", "on"]
    assert len(frequent["in"]) == 6
    assert [c for c in contexts["in"] if c in frequent["in"]] == frequent["in"]
    assert (
        with_min_contexts({**contexts, "in": contexts["in"][::-1]}, 5, 6, 1)["in"]
        == frequent["in"][::-1]
    )
    with pytest.raises(
        UserError, match=r"Only one relation has 6 contexts or more \(the most frequent one has 9\)"
    ):
        with_min_contexts(contexts, minimum=6)


def test_a_corpus_without_any_relation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.write_text("two dogs\na man sleeps\n\n", encoding="utf-8")
    with pytest.raises(
        UserError, match=r"None of the 2 captions in .* holds exactly one spatial relation"
    ):
        collect_contexts([path], LEXICON)


def test_custom_list_of_relations(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Near  By\nnear\n\n", encoding="utf-8")
    lexicon = read_lexicon(path)
    assert lexicon.relations == ("near by", "near")
    assert [match.relation for match in lexicon.find("a man near by a dog near us in a car")] == [
        "near by",
        "near",
    ]
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(UserError, match="one relation per line"):
        read_lexicon(path)


class Knows(Model):
    whole_words = True

    def __init__(self, *words: str) -> None:
        self.known = set(words)

    def knows(self, word: str) -> bool:
        return word in self.known


def test_phrases_are_spelt_as_the_model_learnt_them() -> None:
    words = ("in", "in front of", "off")
    assert spellings(Model(), words) == (words, words, ())
    joined = spellings(Knows("in", "front", "of", "in_front_of"), words)
    assert joined == (("in", "in front of"), ("in", "in_front_of"), ("off",))
    apart = spellings(Knows("in", "front", "of"), words)
    assert apart == (("in", "in front of"), ("in", "in front of"), ("off",))
    with pytest.raises(UserError, match="fewer than two"):
        spellings(Knows("in"), words)


@pytest.mark.seconds
def test_a_corpus_of_185000_captions_takes_seconds() -> None:
    begun = time.process_time()
    corpus = collect_contexts(sorted(shared("captions").glob("*.gz")), LEXICON)
    assert time.process_time() - begun < 20
    assert corpus.captions > 185_000
    used = sum(map(len, corpus.part("all").values()))
    assert corpus.captions == corpus.without + corpus.several + corpus.repeated + used
    assert corpus.repeated > 35_381  # so many of Flickr8k's captions stand in Multi30k too
    assert {"in", "on", "in front of", "above", "under"} <= set(
        with_min_contexts(corpus.part("all"))
    )
