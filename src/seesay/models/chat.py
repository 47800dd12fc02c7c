"""Questions as a conversation: what the user's turn says, and how a model's chat template writes it
down."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.models.multiple_choice import BLANK
from seesay.models.template_process import TEMPLATES, TemplateError
from seesay.questions import ENGLISH, SLOT, Instructions, Prompt, resolve_separator

PLAIN_NOTE = (
    "'{name}' has a chat template and was asked without it, as a base model is: --chat asks "
    "through it."
)
# in place of today's: a run resumed tomorrow must ask the same (the default of Llama's template)
DATE = "26 Jul 2024"
_CUE = re.compile(r"\s*\b(?:Answer|A):\s*$")
_LABEL = re.compile(r"^\s*(?:Question|Q):\s*")

Message = dict[str, Any]


def refuse_bare_slot(around: str) -> None:
    """Refuse a prompt that is its slot alone, with nothing around it to ask about."""
    if not around.strip():
        raise UserError(
            "Minimal pairs compare whole sentences, so that there is no question to put to a chat "
            "or for a free answer: leave out --chat and --how generate, and ask a server at its "
            "completions endpoint."
        )


def user_turn(text: str, instructions: Instructions = ENGLISH) -> str:
    """A text with a slot as one says it to somebody: a question as it is, anything else with a
    blank to fill.

    >>> user_turn("Q: What is the color of a pig? A: [MASK].")
    'What is the color of a pig?'
    >>> user_turn("A pig is [MASK] in color.")
    'Fill in the blank: A pig is ___ in color.'
    """
    before, _, after = resolve_separator(text, None).partition(SLOT)
    refuse_bare_slot(before + after)
    question = _CUE.sub("", before).rstrip().removesuffix(instructions.answer).rstrip()
    if not after.strip(" .") and (question.endswith("?") or question != before.rstrip()):
        return _LABEL.sub("", question)
    return f"{instructions.blank} {before}{BLANK}{after}"


def conversation(
    prompt: Prompt,
    system: str | None = None,
    turn: Callable[[str, str | None], Any] | None = None,
) -> list[Message]:
    """The system's text, the examples, each with its reply, and the question; `turn` words a text
    and its picture."""
    if turn is None:
        turn = partial(_say, prompt.instructions)
    messages: list[Message] = []
    if system is not None:
        messages.append({"role": "system", "content": system})
    for shot in prompt.shots:
        messages.append({"role": "user", "content": turn(shot.text, shot.picture)})
        messages.append({"role": "assistant", "content": shot.answer})
    return [*messages, {"role": "user", "content": turn(prompt.question_text, prompt.picture)}]


def _say(instructions: Instructions, text: str, picture: str | None) -> str:
    """Return a text as one says it to somebody; a picture is not part of it."""
    return user_turn(text, instructions)


@dataclass(frozen=True)
class ChatFormat:
    """A tokenizer's chat template with the system's text, if there is one."""

    tokenizer: Any
    template: str
    system: str | None = None

    @classmethod
    def of(cls, name: str, tokenizer: Any, system: str | None) -> ChatFormat:
        """The format of a model; a model without a template is refused."""
        if not tokenizer.chat_template:
            raise UserError(f"'{name}' has no chat template: ask it without --chat.")
        return cls(tokenizer, str(tokenizer.get_chat_template()), system)

    @cached_property
    def digest(self) -> str:
        """Of all that shapes the conversation."""
        return json_digest([self.template, self.system], 4)

    def render(
        self,
        messages: list[Message],
        *,
        thinks: bool = False,
        fixed: bool = True,
    ) -> str:
        """The conversation up to where the reply begins. A model that thinks before it replies does
        not, unless it `thinks`; the date is `fixed`, or left to the template."""
        settings = {**self.tokenizer.special_tokens_map, "add_generation_prompt": True}
        if fixed and not thinks:
            # options are scored where the reply begins, which must not be a thought
            settings["enable_thinking"] = False
        if fixed:
            settings["date_string"] = DATE
        try:
            text = TEMPLATES.render(self.template, messages, settings)
        except TemplateError as error:
            hint = ""
            if self.system is not None:
                hint = " (it may have no place for --system)"
            raise UserError(f"The model's chat template cannot be used{hint}: {error}") from error
        # the mark of the slot is the option's place alone, which is added after the conversation
        return text.replace(SLOT, BLANK)
