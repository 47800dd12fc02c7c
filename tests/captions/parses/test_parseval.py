from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.captions.parses import (
    EvalbParameters,
    MismatchError,
    ParseScore,
    parse,
    parseval,
    score,
)

GOLD = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"
PART = "(A (P this)) (B (Q is) (A (R a) (T test)))"
SAMPLE = EvalbParameters(
    delete=frozenset({"TOP", "-NONE-", ",", ":", "``", "''"}),
    equal_labels=frozenset({frozenset({"T", "TT"})}),
    equal_words=frozenset({frozenset({"This", "this"})}),
)
LENGTH, WORDS, SKIP = "length", "words", None
# evalb's published sample (sample.gld, sample.tst, sample.prm, sample.rsl; copyright abandoned by
# its authors): the test tree, and of its row the length, matched, gold and test brackets, crossing,
# words and correct tags, or the error.
PUBLISHED: list[tuple[str, str, tuple[int, ...] | str]] = [
    (GOLD, GOLD, (4, 4, 4, 4, 0, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q is) (C (R a) (T test))))", (4, 3, 4, 4, 0, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q is) (A (R a) (U test))))", (4, 4, 4, 4, 0, 4, 3)),
    (GOLD, "(S (C (P this)) (B (Q is) (A (R a) (U test))))", (4, 3, 4, 4, 0, 4, 3)),
    (GOLD, "(S (A (P this)) (B (Q is) (R a) (A (T test))))", (4, 3, 4, 4, 0, 4, 4)),
    (GOLD, "(S (A (P this) (Q is)) (A (R a) (T test)))", (4, 2, 4, 3, 1, 4, 4)),
    (GOLD, "(S (P this) (Q is) (R a) (T test))", (4, 1, 4, 1, 0, 4, 4)),
    (GOLD, "(P this) (Q is) (R a) (T test)", (4, 0, 4, 0, 0, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))", (4, 4, 4, 5, 0, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q is) (A (A (A (A (A (R a) (T test))))))))", (4, 4, 4, 8, 0, 4, 4)),
    (GOLD, "(S (A (P this)) (B (Q was) (A (A (R a) (T test)))))", WORDS),
    (GOLD, "(S (A (P this)) (B (Q is) (U not) (A (A (R a) (T test)))))", LENGTH),
    (GOLD, f"(TOP {GOLD})", (4, 4, 4, 4, 0, 4, 4)),
    (GOLD, "(S (A (P this)) (NONE *) (B (Q is) (A (R a) (T test))))", LENGTH),
    (GOLD, "(S (A (P this)) (S (NONE abc) (A (NONE *))) (B (Q is) (A (R a) (T test))))", LENGTH),
    (GOLD, "(S (A (P this)) (B (Q is) (A (R a) (TT test))))", (4, 4, 4, 4, 0, 4, 4)),
    (GOLD, "(S (A (P This)) (B (Q is) (A (R a) (T test))))", (4, 4, 4, 4, 0, 4, 4)),
    (GOLD, "(S (A (P That)) (B (Q is) (A (R a) (T test))))", WORDS),
    ("(S (A-SBJ-1 (P this)) (B-WHATEVER (Q is) (A (R a) (T test))))", GOLD, (4, 4, 4, 4, 0, 4, 4)),
    (f"(S {' '.join([PART] * 11)})", f"(S {' '.join([PART] * 11)})", (44, 34, 34, 34, 0, 44, 44)),
    (f"(S {PART} (-NONE- *))", f"(S {PART} (-NONE- *))", (4, 4, 4, 4, 0, 4, 4)),
    (f"(S {PART} (: *))", f"(S {PART} (: *))", (5, 4, 4, 4, 0, 4, 4)),
]


def _row(counts: ParseScore) -> tuple[int, ...]:
    return (
        counts.length,
        counts.matched,
        counts.gold,
        counts.test,
        counts.crossing,
        counts.words,
        counts.tags,
    )


@pytest.mark.parametrize(("gold", "test", "expected"), PUBLISHED)
def test_published_sample(gold: str, test: str, expected: tuple[int, ...] | str) -> None:
    if isinstance(expected, str):
        with pytest.raises(MismatchError, match=expected):
            score(parse(gold), parse(test), SAMPLE)
    else:
        assert _row(score(parse(gold), parse(test), SAMPLE)) == expected


def test_published_summary() -> None:
    """sample.rsl, all 17 valid sentences and the 16 of at most 40 words, in per cent with two
    digits."""
    scores = [
        score(parse(g), parse(t), SAMPLE)
        for g, t, expected in PUBLISHED
        if not isinstance(expected, str)
    ]
    assert len(scores) == 17
    for some, expected in (
        (scores, [90.53, 87.76, 52.94, 0.06, 94.12, 100, 98.15]),
        (
            [result for result in scores if result.length <= 40],
            [85.25, 81.25, 50, 0.06, 93.75, 100, 96.88],
        ),
    ):
        figures = {result.name: result.value for result in parseval(some, SAMPLE)}
        names = [
            "labelled precision",
            "labelled recall",
            "complete match",
            "average crossing",
            "no crossing",
        ]
        names += ["two or less crossing", "tagging accuracy"]
        shown = [
            round(figures[name] * (1 if name == "average crossing" else 100), 2) for name in names
        ]
        assert shown == expected


def test_collins_parameters_by_hand() -> None:
    """Traces and what holds only traces go, punctuation goes, PRT counts as ADVP (evalb's README, 6
    and 7)."""
    gold = parse(
        "(TOP (S (NP-SBJ (PRP he)) (VP (VBD reported) (PRT (RP up)) (SBAR (-NONE- 0) (S (-NONE- "
        "*T*-1)))) (. .)))"
    )
    test = parse("(S (NP (PRP he)) (VP (VBD reported) (ADVP (RP up))) (. .))")
    counts = score(gold, test)
    assert _row(counts) == (4, 4, 4, 4, 0, 3, 3)
    assert counts.length == 4, "punctuation counts for the length, a trace does not"


def test_labels_do_not_count_unlabelled() -> None:
    counts = score(
        parse("(S (NP (D the) (N dog)) (VP (V ran)))"),
        parse("(X (Y (D the) (N dog)) (VP (V ran)))"),
    )
    assert (counts.matched, counts.unlabelled) == (1, 3)


def test_a_mistagged_full_stop_is_put_back() -> None:
    """evalb since 2006: a word that only one side deletes is no difference in length."""
    gold, test = (
        parse("(S (NP (N dogs)) (VP (V ran)) (. .))"),
        parse("(S (NP (N dogs)) (VP (V ran)) (N .))"),
    )
    assert _row(score(gold, test)) == (3, 3, 3, 3, 0, 3, 2)


def test_equal_labels_do_not_take_a_bracket_from_an_exact_match() -> None:
    gold, test = parse("(ADVP (PRT (R up)))"), parse("(PRT (ADVP (R up)))")
    assert score(gold, test).matched == 2


TREES = st.recursive(
    st.tuples(st.sampled_from("NVD."), st.sampled_from("abc")).map(
        lambda leaf: f"({leaf[0]} {leaf[1]})"
    ),
    lambda inner: st.tuples(
        st.sampled_from(["S", "NP", "ADVP", "PRT", "TOP"]), st.lists(inner, min_size=1, max_size=3)
    ).map(lambda node: f"({node[0]} {' '.join(node[1])})"),
    max_leaves=12,
)


@settings(deadline=None)
@given(TREES)
def test_a_parse_against_itself_is_perfect(text: str) -> None:
    counts = score(parse(text), parse(text))
    assert counts.matched == counts.unlabelled == counts.gold == counts.test
    assert counts.crossing == 0
    assert counts.tags == counts.words


@settings(deadline=None)
@given(st.lists(TREES, min_size=2, max_size=6), st.randoms())
def test_laws(texts: list[str], random: object) -> None:
    """Figures are shares, F1 lies between precision and recall, and order changes nothing."""
    flat = [f"(S {' '.join('(N x)' for _ in parse(text).words)})" for text in texts]
    golds = [
        text.replace(" a)", " x)").replace(" b)", " x)").replace(" c)", " x)").replace("(. ", "(N ")
        for text in texts
    ]
    scores = [score(parse(g), parse(t)) for g, t in zip(golds, flat, strict=True)]
    shuffled = list(scores)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    figures, expected = (
        {figure.name: figure.value for figure in parseval(rows)} for rows in (scores, shuffled)
    )
    assert figures == pytest.approx(expected)
    assert all(0 <= value <= 1 for value in figures.values())
    assert figures["unlabelled recall"] >= figures["labelled recall"]
    low, high = sorted([figures["labelled precision"], figures["labelled recall"]])
    assert low - 1e-12 <= figures["labelled F1"] <= high + 1e-12
