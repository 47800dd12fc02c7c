"""The shared nouns: how texts with a slot and a separator are read."""

from __future__ import annotations

import pytest

from seesay.errors import UserError
from seesay.questions import Question, Template, resolve_separator


def test_resolving_a_separator() -> None:
    assert resolve_separator("What? [SEP] It", "</s>") == "What? </s> It"
    assert resolve_separator("What? [SEP] It", None) == "What? It"
    assert resolve_separator("What?[SEP]", None) == "What?"


@pytest.mark.parametrize(
    "text", ["{t:>999999999}", "{t.x}", "{t[0]}", "{t!r}", "{}", "{", "}", "{t:{t}}", "{0}}"]
)
def test_a_template_takes_plain_names_only(text: str) -> None:
    with pytest.raises(UserError, match=r"^Template 'is': .*\.$"):
        Template("is", f"{text} [MASK]")
    with pytest.raises(UserError, match=r"^Template 'is': .*\.$"):
        Template("is", "It is [MASK]", {"red": text})


def test_a_template_fills_in_what_it_is_given_and_nothing_more() -> None:
    question = Question("q", {"t": "{t} {{ %s"}, ("red", "no"), {"red": 1.0}, "q")
    template = Template("is", "{{{t}}} [MASK]", {"red": "{t}}}"})
    prompt = template.ask(question)
    assert (prompt.text, prompt.options) == ("{{t} {{ %s} [MASK]", ("{t} {{ %s}", "no"))
    with pytest.raises(UserError, match="There is no field 'nothing' for the text"):
        Template("is", "{nothing} [MASK]").ask(question)


def test_a_name_that_stands_many_times_in_a_text_cannot_fill_the_memory() -> None:
    question = Question("q", {"t": "x" * 20_000}, ("red", "no"), {"red": 1.0}, "q")
    with pytest.raises(UserError, match="becomes longer than 1,048,576 characters"):
        Template("is", "{t}" * 1000 + " [MASK]").ask(question)
