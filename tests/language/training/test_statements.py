"""Statements say what captions say, and nothing else; the colour, and nothing but the colour, is
masked in them."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared
from tests.tiny import wordpiece

from seesay.language.training.masking import MaskedBatches, encode
from seesay.language.training.statements import (
    COLORS,
    STATEMENT_TEMPLATES,
    color_counts,
    colored_things,
    statements,
)
from seesay.tasks import load_task

WORDS = st.lists(
    st.sampled_from([*COLORS, "dog", "shirt", "and", "in", "a", "colored", "hair"]), max_size=12
)
COUNTS = st.dictionaries(
    st.sampled_from(["dog", "shirt", "umbrella", "t-shirt", "turquoises"]),
    st.dictionaries(
        st.sampled_from([c for c in COLORS if c != "grey"]), st.integers(1, 9), min_size=1
    ),
    min_size=1,
).map(lambda table: {thing: Counter(colors) for thing, colors in table.items()})


def test_by_hand() -> None:
    assert list(colored_things("Two brown dogs and a grey-haired man in the red of dawn")) == [
        ("dogs", "brown")
    ]
    assert list(colored_things("a black-colored cat on blue, white and green colored grass")) == [
        ("cat", "black"),
        ("grass", "green"),
    ]
    assert list(
        colored_things("a man in a white t-shirt and a blue tank top by a red striped wall")
    ) == [("t-shirt", "white")]
    assert list(colored_things("the boy in green jumps off a yellow pull-up bar")) == [
        ("pull-up", "yellow")
    ]
    assert not list(colored_things("a black white-faced cow"))  # its name would give a colour away


def test_singular_and_plural_share_counts() -> None:
    counts = color_counts(
        [
            "two yellow lemons and a lemon",
            "green cherries, a red cherry",
            "blue pants, a grey dress",
        ]
    )
    assert counts == {
        "lemons": {"yellow": 1},
        "lemon": {"yellow": 1},  # never coloured itself
        "cherries": {"green": 1, "red": 1},
        "cherry": {"green": 1, "red": 1},
        "pants": {"blue": 1},  # no caption knows a pant
        "dress": {"gray": 1},  # no plural, and gray in the other spelling
    }


@given(WORDS, st.integers(0, 99))
def test_every_statement_rests_on_its_caption(words: list[str], seed: int) -> None:
    caption = " ".join(words)
    counts = color_counts([caption])
    texts, places = statements(counts, 20, np.random.default_rng(seed)) if counts else ([], [])
    forms = [
        re.escape(w)
        .replace(r"\{a\}\ ", "(?:(?:a|an|the) )?")
        .replace(r"\{thing\}", "(?P<thing>[a-z]+)")
        .replace(r"\{color\}", "(?P<color>[a-z]+)")
        for w in STATEMENT_TEMPLATES
    ]
    for statement, place in zip(texts, places, strict=True):
        statement_parts = next(match for form in forms if (match := re.fullmatch(form, statement)))
        assert statement_parts.start("color") == place
        spellings = [statement_parts["color"]]
        if statement_parts["color"] in ("gray", "grey"):
            spellings = ["gray", "grey"]
        plain = re.sub(r"\bcolored ", "", caption)
        assert any(f"{color} {statement_parts['thing']}" in plain for color in spellings)


@given(COUNTS, st.integers(0, 99))
def test_only_the_color_is_masked(counts: dict[str, Counter[str]], seed: int) -> None:
    """Whatever the rate, and into how many pieces the tokeniser cuts the colour (gray: four) or the
    thing."""
    tokenizer = wordpiece()
    texts, places = statements(counts, 30, np.random.default_rng(seed))
    corpus = encode(tokenizer, texts, 128, places)
    batches = MaskedBatches(
        corpus,
        [np.arange(30)],
        0.9,
        int(tokenizer.mask_token_id),
        int(tokenizer.pad_token_id),
        (seed,),
    )
    batch = batches[0]
    whole = batch.ids.clone()
    whole[batch.masked] = batch.gold
    for text, place, ids, masked in zip(texts, places, whole, batch.masked, strict=True):
        color = re.match("[a-z]+", text[place:])
        assert color
        assert color[0] in COLORS
        assert tokenizer.decode(ids[masked]) == color[0]
        assert not set(COLORS) & set(
            str(tokenizer.decode(ids[~masked], skip_special_tokens=True)).split()
        )


@given(COUNTS, st.integers(0, 99))
def test_the_same_seed_draws_the_same(counts: dict[str, Counter[str]], seed: int) -> None:
    first, again = (statements(counts, 10, np.random.default_rng(seed)) for _ in range(2))
    assert first == again
    assert first != statements(counts, 10, np.random.default_rng(seed + 1))


def test_rare_things_and_typical_colors_are_drawn() -> None:
    """A thing by the fifth root of its count, 32 : 1 gives 2 : 1; a colour by the square, 3 : 1
    gives 9 : 1."""
    made, _ = statements(
        {"shirt": Counter(red=24, blue=8), "lemon": Counter(yellow=1)},
        30_000,
        np.random.default_rng(0),
    )
    shirts = [text for text in made if "shirt" in text]
    # within 4 standard errors of sqrt(p (1 - p) / n)
    assert abs(len(shirts) / 30_000 - 2 / 3) < 4 * 0.0027
    assert abs(sum("red" in text for text in shirts) / len(shirts) - 0.9) < 4 * 0.0021


def test_no_statement_template_is_a_tasks_template() -> None:
    def form(text: str) -> str:
        return " ".join(
            re.sub(r"\{\w+\}|\[mask\]|\b(an?|the|this)\b|[^a-z{} ]", " ", text.lower()).split()
        )

    tasks = [load_task("core-color"), load_task("memory-colors", shared("memory_colors"))]
    templates = {form(template.text) for task in tasks for template in task.templates}
    slots = re.compile(r"\{color\}")
    assert not templates & {form(slots.sub("[MASK]", template)) for template in STATEMENT_TEMPLATES}
