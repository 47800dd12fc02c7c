"""OpenAI-compatible servers. What a server cannot do is found out at the start, not after an hour
at chance."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from seesay.errors import UserError
from seesay.models.options import Endpoint, ModelOptions

if TYPE_CHECKING:
    from seesay.models.base import Model
    from seesay.models.server.client import Client
    from seesay.models.server.vision import VisionServer

__all__ = ["load_server", "load_vision_server"]


def load_server(rest: str, options: ModelOptions) -> Model:
    """`openai:MODEL` with --base-url, and --endpoint completions or chat."""
    from seesay.models.server.chat import ChatServer
    from seesay.models.server.completions import CompletionsServer

    client = _connect("openai", rest, options)
    if options.chat or options.endpoint == Endpoint.CHAT:
        return ChatServer(
            f"openai:{rest}",
            client,
            system=options.system,
            scored=options.chat,
            generates=options.generates,
        )
    return CompletionsServer(
        f"openai:{rest}",
        client,
        options.scope,
        generates=options.generates,
    )


def load_vision_server(rest: str, options: ModelOptions) -> VisionServer:
    """`openai-vision:MODEL` with --base-url."""
    from seesay.models.server.vision import VisionServer

    client = _connect("openai-vision", rest, options)
    return VisionServer(f"openai-vision:{rest}", client, generates=options.generates)


def _connect(prefix: str, model: str, options: ModelOptions) -> Client:
    from seesay.models.server.client import Client

    address = options.base_url or os.environ.get("OPENAI_BASE_URL")
    if not model or not address:
        raise UserError(
            f"A server needs a model name and an address: seesay probe {prefix}:MODEL --base-url "
            "http://host:port/v1"
        )
    return Client(address, model, options)
