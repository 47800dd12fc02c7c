"""The shared nouns: how texts with a slot and a separator are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.questions import Question, Task, Template, resolve_separator


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


def test_it_makes_no_difference_whether_questions_share_one_list_of_options() -> None:
    options = ("naïve", 'so "called"', "back\\slash")
    questions = [
        Question(name, {"thing": name}, options, {options[0]: 1.0}, name, {"kind": "é"})
        for name in ("sky", "snöw")
    ]
    copies = [replace(q, options=(*q.options[:1], *q.options[1:])) for q in questions]
    assert copies[1].options is not copies[0].options
    template = Template("is", "The {thing} is [MASK].")
    shared, apart = (
        Task("one", "1", "", (template,), tuple(members), ("accuracy",))
        for members in (questions, copies)
    )
    assert shared.fingerprint == apart.fingerprint
    assert shared.labels == apart.labels == options
    assert [template.ask(q).key for q in questions] == [template.ask(q).key for q in copies]
    # the digest of what they say as JSON, however that is put together
    prompt = template.ask(questions[1])
    content = [prompt.text, options, None]
    assert prompt.key == json_digest(content, 12, ensure_ascii=False)
