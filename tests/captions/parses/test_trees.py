from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.captions.parses import BadTreeError, Bracket, parse, read_trees
from seesay.errors import UserError
from seesay.questions import BadRow


def test_words_tags_and_brackets() -> None:
    tree = parse("( (S (NP (PRP it)) (VP (VBD was) (-LRB- -LRB-))) )")
    assert tree.words == ["it", "was", "-LRB-"]
    assert tree.tags == ["PRP", "VBD", "-LRB-"]
    assert tree.brackets == [
        Bracket("NP", 0, 1),
        Bracket("VP", 1, 3),
        Bracket("S", 0, 3),
        Bracket("", 0, 3),
    ]


def test_no_depth_is_too_deep() -> None:
    depth = 100_000
    tree = parse("(A " * depth + "(N x)" + ")" * depth)
    assert len(tree.brackets) == depth


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(S (N x)", "1 bracket not closed"),
        ("((S (N x)", "2 brackets not closed"),
        ("(S (N x)))", "closes that was not opened"),
        (")", "closes that was not opened"),
        ("word", "'word' has no tag"),
        ("(S word (N x))", "'word' has no tag"),
        ("(S (N a b))", "'a' has no tag"),
    ],
)
def test_bad_brackets_say_why(text: str, reason: str) -> None:
    with pytest.raises(BadTreeError, match=reason):
        parse(text)


@settings(deadline=None)
@given(st.text(st.sampled_from("() ab\n")))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree = parse(text)
    except BadTreeError:
        return
    assert len(tree.words) == len(tree.tags)
    assert all(0 <= bracket.start <= bracket.end <= len(tree.words) for bracket in tree.brackets)


def test_one_parse_per_line(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("(S (N a))\n\n(S (N b)\n(S (N c))\n\n")
    (one, first), (two, second), (three, third), (four, fourth) = read_trees(path)
    assert (one, two, three, four) == (1, 2, 3, 4)
    assert second is None
    assert third == BadRow(3, "1 bracket not closed")
    assert [tree.words for tree in (first, fourth) if tree and not isinstance(tree, BadRow)] == [
        ["a"],
        ["c"],
    ]


def test_a_parse_over_several_lines(tmp_path: Path) -> None:
    """As in the treebank's .mrg files; a parse with a bracket too few costs only itself."""
    path = tmp_path / "x.mrg"
    path.write_text("\n( (S\n    (N a) ))\n( (S\n    (N b) )\n\n( (S\n    (N c) ))\n")
    (one, first), (two, second), (three, third) = read_trees(path)
    assert (one, two, three) == (2, 4, 7)
    assert second == BadRow(4, "1 bracket not closed")
    assert [tree.words for tree in (first, third) if tree and not isinstance(tree, BadRow)] == [
        ["a"],
        ["c"],
    ]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no file"):
        read_trees(tmp_path / "nowhere")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(UserError, match="holds no parse"):
        read_trees(tmp_path / "empty")
    (tmp_path / "bytes").write_bytes(b"(S (N \xff))\n(S (N a))\n")
    assert read_trees(tmp_path / "bytes")[0][1] == BadRow(1, "not UTF-8 text")
