"""A tree of tokens spells its sentences, shares what they share, and keeps them from seeing each
other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seesay.models.hf.prefix_tree import build, split

SENTENCES = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=8).map(tuple), min_size=1, max_size=12
)


@given(SENTENCES)
def test_paths_spell_the_sentences(sentences: list[tuple[int, ...]]) -> None:
    tree = build(sentences)
    assert [tuple(tree.ids[path].tolist()) for path in tree.paths] == sentences
    assert [tree.depths[path].tolist() for path in tree.paths] == [
        list(range(len(s))) for s in sentences
    ]


@given(SENTENCES)
def test_there_is_one_node_for_each_distinct_beginning(sentences: list[tuple[int, ...]]) -> None:
    beginnings = {s[:length] for s in sentences for length in range(1, len(s) + 1)}
    assert len(build(sentences).ids) == len(beginnings)


@given(SENTENCES)
def test_a_node_sees_its_ancestors_and_itself_only(sentences: list[tuple[int, ...]]) -> None:
    tree = build(sentences)
    visible = tree.visible()
    for path in tree.paths:
        for depth, node in enumerate(path):
            assert visible[node].nonzero()[0].tolist() == sorted(path[: depth + 1])
    assert all(parent < node for node, parent in enumerate(tree.parents))


@given(SENTENCES, st.integers(1, 30))
def test_groups_hold_every_sentence_once_and_keep_the_budget(
    sentences: list[tuple[int, ...]], budget: int
) -> None:
    groups = split(sentences, budget)
    assert sorted(i for group in groups for i in group) == list(range(len(sentences)))
    for group in groups:
        assert len(group) == 1 or len(build([sentences[i] for i in group]).ids) <= budget


def test_one_group_suffices_where_all_fits() -> None:
    assert split([(1, 2, 3), (9, 9), (1, 2, 4)], 6) == [[0, 2, 1]]
