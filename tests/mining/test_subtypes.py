"""Subtypes: the published map, and the rule on names counted by hand."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.mining.choices import SubtypeRule
from seesay.mining.subtypes import subtype_facts, subtypes

COUNTS = {
    "table": 500,
    "kitchen table": 40,
    "old kitchen table": 12,
    "side table": 9,
    "tablecloth": 60,
    "table cloth": 50,
    "cloth": 200,
    "plaid tablecloth": 11,
    "lamp": 99,
    "table lamp": 30,
    "chair": 100,
}


def test_published_map_is_reproduced() -> None:
    names = json.loads(shared("viphy/data/object_names_c5.json").read_text())
    published = shared("viphy/data/object_subtypes_o100_s10.json").read_text()
    mined = subtypes(names, rule="published")
    assert len(mined) == 14_353
    # the order of names and subtypes, too
    assert json.dumps(mined) == json.dumps(json.loads(published))


def test_paper_rule() -> None:
    result = subtypes(COUNTS)
    assert result == {
        # "side table" was seen 9 times
        "table": {"table": 500, "kitchen table": 40, "old kitchen table": 12},
        "kitchen table": {"kitchen table": 40},  # itself seen less than 100 times
        "old kitchen table": {"old kitchen table": 12},
        "tablecloth": {"tablecloth": 110, "plaid tablecloth": 11},  # 60 + 50 in two spellings
        "cloth": {"cloth": 200, "tablecloth": 110},
        "plaid tablecloth": {"plaid tablecloth": 11},
        "lamp": {"lamp": 99},  # once too rarely for subtypes
        "table lamp": {"table lamp": 30},
        "chair": {"chair": 100},
    }
    assert list(result["table"]) == ["table", "kitchen table", "old kitchen table"]


def test_published_rule_doubles_a_parent_and_keeps_both_spellings() -> None:
    result = subtypes(COUNTS, rule="published")
    assert result["table"] == {"table": 1000, "kitchen table": 40, "old kitchen table": 12}
    assert result["cloth"] == {"cloth": 400, "tablecloth": 110}
    assert result["table cloth"] == {"table cloth": 50}
    assert result["tablecloth"] == {"tablecloth": 60}


def test_parent_of_several_words() -> None:
    result = subtypes({"wine glass": 100, "crystal wine glass": 16, "glass": 300})
    assert result["wine glass"] == {"wine glass": 100, "crystal wine glass": 16}
    assert result["glass"] == {"glass": 300, "wine glass": 100, "crystal wine glass": 16}


def test_lexicons_add_only_seen_names() -> None:
    lexicons = [{"chair": ["stool", "unseen"], "lamp": ["torch"]}, {"chair": ["chair", "throne"]}]
    result = subtypes(
        {"chair": 100, "stool": 20, "throne": 30, "lamp": 50, "torch": 40}, hyponyms=lexicons
    )
    assert result["chair"] == {"chair": 100, "throne": 30, "stool": 20}
    assert result["lamp"] == {"lamp": 50}  # seen less than 100 times


def test_lexicons_match_both_spellings() -> None:
    """The rarer spelling of a parent or of a hyponym is the same thing, and counts towards a
    parent's hundred."""
    counts = {"table cloth": 60, "tablecloth": 50, "tea towel": 30, "teatowel": 20, "linen": 200}
    lexicon = {"tablecloth": ["teatowel"], "linen": ["tablecloth", "table cloth", "linen"]}
    result = subtypes(counts, hyponyms=[lexicon])
    assert result["table cloth"] == {"table cloth": 110, "tea towel": 50}
    assert result["linen"] == {"linen": 200, "table cloth": 110}


def test_three_spellings_are_merged() -> None:
    result = subtypes({"base ball cap": 20, "baseball cap": 40, "baseballcap": 10})
    assert result == {"baseball cap": {"baseball cap": 70}}


def test_facts() -> None:
    rows = subtype_facts({"table": {"table": 500, "side table": 12}})
    assert [(row.object, row.subtype, row.count) for row in rows] == [
        ("table", "table", 500),
        ("table", "side table", 12),
    ]


words = st.lists(st.sampled_from(["a", "b", "ab", "c"]), min_size=1, max_size=3).map(" ".join)


@given(st.dictionaries(words, st.integers(1, 300)))
def test_laws(counts: dict[str, int]) -> None:
    """Every thing is its own subtype, rare names are nowhere, and the order is by count."""
    for rule in SubtypeRule:
        for parent, children in subtypes(counts, rule=rule).items():
            assert counts[parent] >= 10
            assert parent in children
            assert all(counts[name] >= 10 for name in children)
            assert list(children.values()) == sorted(children.values(), reverse=True)


@given(st.dictionaries(words, st.integers(10, 300)))
def test_paper_rule_keeps_the_total_count(counts: dict[str, int]) -> None:
    parent_counts = {parent: children[parent] for parent, children in subtypes(counts).items()}
    assert sum(parent_counts.values()) == sum(counts.values())
