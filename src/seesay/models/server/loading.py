"""OpenAI-compatible servers. What a server cannot do is found out at the start, not after an hour at chance."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from seesay.errors import UserError
from seesay.models.server.chat import Chat
from seesay.models.server.client import Client
from seesay.models.server.completions import Completions

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions


def load_server(rest: str, options: ModelOptions) -> Completions | Chat:
    """`openai:MODEL` with --base-url, and --endpoint completions or chat."""
    base = options.base_url or os.environ.get("OPENAI_BASE_URL")
    if not rest or not base:
        raise UserError(
            "A server needs a model name and an address: seesay probe openai:MODEL --base-url http://host:port/v1"
        )
    client = Client(base, rest)
    if options.endpoint == "chat":
        return Chat(f"openai:{rest}", client)
    return Completions(f"openai:{rest}", client, options.scope)
