"""Chat templates, rendered apart: what transformers writes, and no template that takes the machine
with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from seesay.errors import UserError
from seesay.models import template_process
from seesay.models.chat import ChatFormat
from seesay.models.template_process import TEMPLATES, TemplateError, TemplateProcess

MESSAGES = [
    {"role": "system", "content": "Be brief: <b>é</b> ☃ \U0001f43b"},
    {"role": "user", "content": "What is 'red'?\nAnd \"blue\"?"},
    {"role": "assistant", "content": "A color."},
    {"role": "user", "content": "What color is snow? \ud800"},
]
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
GOOD = {
    "ChatML": CHATML,
    "special tokens": "{{ bos_token }}{% for m in messages %}{{ m.content | trim }}{{ eos_token }}"
    "{% endfor %}",
    "settings": "{{ date_string }} {{ enable_thinking }} {{ tools is none }} {{ nothing }}",
    "namespace": "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
    "{% if loop.last %}{% break %}{% endif %}{% endfor %}{{ ns.n }}",
    "JSON": "{{ messages | tojson }}\n  {{ messages[0] | tojson(indent=2) }}",
    "generation": "{% for m in messages %}{% generation %}{{ m['content'] }}{% endgeneration %}"
    "{% endfor %}",
    "blocks": "   {% if true %}\n  x\n   {% endif %}\n y",
    "date": "{{ strftime_now('%Y') }}",
}
BAD = {
    "endless loop": "{% for i in range(99999) %}{% for j in range(99999) %}{% for k in range(99999)"
    " %}{% endfor %}{% endfor %}{% endfor %}",
    "memory": "{% set x = 'x' * 999999999 %}{% set y = x * 6 %}{{ y | length }}",
    "size": "{{ 'x' * 99999999 }}",
    "one operation": "{{ (9 ** (9 ** 9)) | string | length }}",
}


@pytest.fixture
def process() -> Iterator[TemplateProcess]:
    process = TemplateProcess()
    yield process
    process.close()


@pytest.fixture(scope="module")
def tokenizer(tiny_folder: Callable[[str], Path]) -> Any:
    return AutoTokenizer.from_pretrained(tiny_folder("llama"))


@pytest.mark.parametrize("name", GOOD)
def test_good_templates_are_written_as_by_transformers(tokenizer: Any, name: str) -> None:
    settings = {"date_string": "26 Jul 2024", "enable_thinking": False}
    expected = tokenizer.apply_chat_template(
        MESSAGES, chat_template=GOOD[name], add_generation_prompt=True, tokenize=False, **settings
    )
    assert ChatFormat(tokenizer, GOOD[name]).render(MESSAGES) == expected


@pytest.mark.parametrize("name", BAD)
def test_a_template_without_bounds_is_ended(
    process: TemplateProcess, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    process.render("warm", [], {})
    monkeypatch.setattr(template_process, "SECONDS", 2)
    start = time.monotonic()
    with pytest.raises(TemplateError):
        process.render(BAD[name], MESSAGES, {})
    assert time.monotonic() - start < 10
    # the next one is served all the same
    assert process.render("{{ messages | length }}", MESSAGES, {}) == "4"


def test_what_a_template_says_is_one_sentence(tokenizer: Any) -> None:
    for template in ("{{ raise_exception('no system here') }}", "{% if %}", "{{ 1 / 0 }}"):
        with pytest.raises(UserError, match="The model's chat template cannot be used: ") as raised:
            ChatFormat(tokenizer, template).render(MESSAGES)
        assert "\n" not in str(raised.value)


def test_a_template_sees_nothing_of_the_process(process: TemplateProcess) -> None:
    for template in ("{{ ''.__class__.__mro__ }}", "{{ cycler.__init__.__globals__.os }}"):
        with pytest.raises(TemplateError):
            process.render(template, [], {})


def test_conversations_cost_little() -> None:
    TEMPLATES.render(CHATML, MESSAGES, {})
    start = time.monotonic()
    for _ in range(500):
        TEMPLATES.render(CHATML, MESSAGES, {})
    assert time.monotonic() - start < 5
