"""How a server is held to a list of answers: by a JSON schema, or by a regular expression where it
takes no schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


def json_schema(options: Sequence[str]) -> dict[str, Any]:
    """OpenAI's form, which most servers take; an object at the root, since OpenAI takes nothing
    else there."""
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(dict.fromkeys(options))}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    form = {
        "name": "choice",
        "strict": True,
        "schema": schema,
    }
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def regex(options: Sequence[str]) -> dict[str, Any]:
    """A pattern as SGLang, vLLM and llama.cpp take it, each under a name of its own; the others'
    names are ignored.

    >>> regex(["red", "U.S."])["regex"]
    '(red|U\\\\.S\\\\.)'
    """
    # re.escape also escapes spaces, for which some servers' engines have no escape
    words = [_SPECIAL.sub(r"\\\g<0>", option) for option in dict.fromkeys(options)]
    pattern = f"({'|'.join(words)})"
    text = {"type": "string", "pattern": f"^{pattern}$"}
    return {
        "regex": pattern,
        "structured_outputs": {"regex": pattern},
        "json_schema": text,
    }


FORMS: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "json_schema": json_schema,
    "regex": regex,
}


def reply_text(content: str, options: Sequence[str]) -> str:
    """The answer in a reply: the option itself, or what is in the JSON.

    >>> [reply_text(reply, ["red"]) for reply in (" red", '{"answer": "red"}', '"red"')]
    ['red', 'red', 'red']
    """
    text = content.strip()
    # before it is read as JSON, in which true and 5 are no texts
    if text in options:
        return text
    try:
        reply: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(reply, dict):
        return str(reply.get("answer", ""))
    return str(reply)
