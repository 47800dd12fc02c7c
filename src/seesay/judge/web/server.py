"""Serve a study over HTTP."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seesay.command_line import remove_secrets
from seesay.errors import UserError
from seesay.judge.signed_ids import SignedIds
from seesay.judge.storage.database import get_setting
from seesay.judge.storage.studies import OpenStudy
from seesay.judge.study import Study

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerAddresses:
    """The addresses of a running server. `password` is set only if it was generated for this study
    just now."""

    study: str
    where: str
    address: str
    researcher: str
    password: str | None
    join: str
    links: list[str]


def check_contact(study: Study, public_url: str) -> None:
    """A study that others can reach says whom they can write to; on this machine alone it is a
    warning."""
    if study.contact.contact:
        return
    if public_url:
        raise UserError(
            "A public study needs an address for questions and complaints: give it with --contact "
            "when you create it."
        )
    logger.warning(
        "Participants cannot see whom to write to: --contact, --researcher and --institution say "
        "so."
    )


def serve_study(
    opened: OpenStudy,
    announce: Callable[[ServerAddresses], None],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    public_url: str = "",
    behind_proxy: bool = False,
    prolific_keys: Path | None = None,
    links: int = 0,
) -> None:
    """Serve until interrupted. `announce` gets the addresses and new links once the port is
    bound."""
    import uvicorn

    from seesay.judge.web.app import make_app
    from seesay.judge.web.connections import (
        ConnectionLimits,
        allow_open_files,
        backlog_for,
        limited_protocol,
    )

    if prolific_keys:
        signed_ids = SignedIds(prolific_keys, public_url).check()
    else:
        signed_ids = None
    bound = _bind(host, port)
    url_host = f"[{host}]" if ":" in host else host
    base = public_url.rstrip("/") or f"http://{url_host}:{bound.getsockname()[1]}"
    limits = ConnectionLimits(total=allow_open_files(ConnectionLimits.total))
    if behind_proxy:
        limits.per_address = limits.total  # all of them are the proxy's
    config = uvicorn.Config(
        make_app(opened.study, opened.database, public_url=base, signed_ids=signed_ids),
        http=limited_protocol(limits),
        log_level="warning",
        access_log=False,  # it would contain people's links
        server_header=False,
        proxy_headers=behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_keep_alive=30,
        backlog=backlog_for(limits.total),
    )
    join_key = opened.database.submit(lambda tx: get_setting(tx, "join")).result()
    announce(
        ServerAddresses(
            study=opened.study.name,
            where=remove_secrets(opened.location),
            address=base,
            researcher=f"{base}/researcher",
            password=opened.password,
            join=f"{base}/join/{join_key}",
            links=opened.create_links(links, base),
        )
    )
    asyncio.run(uvicorn.Server(config).serve(sockets=[bound]))


def _bind(host: str, port: int) -> socket.socket:
    """Bind the port now, so that the address is known before the first request."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise UserError(
            f"Cannot listen at {host}:{port} ({error.strerror}): choose another --port."
        ) from error
    bound.listen()  # until the server says how many may wait
    return bound
