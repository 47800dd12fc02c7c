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
    """The addresses of a running server."""

    study: str
    where: str
    """The file or the database, without its password."""
    address: str
    researcher: str
    """The address of the researcher's page."""
    password: str | None
    """Set only if it was generated for this study just now."""
    join: str
    """The link for crowdsourcing sites."""
    links: list[str]


def check_contact(study: Study, public_url: str) -> None:
    """Refuse a public study that does not say whom participants can write to.

    On this machine alone that is a warning.
    """
    if study.contact.contact:
        return
    if public_url:
        raise UserError(
            "A public study needs an address for questions and complaints: give it with --contact "
            "when you create it."
        )
    logger.warning(
        "Participants cannot see whom to write to: give --contact, --researcher and --institution."
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
    """Serve until interrupted.

    `announce`: gets the addresses and new links once the port is bound.
    `behind_proxy`: whether a proxy on this machine names the clients' addresses.
    `prolific_keys`: Prolific's public keys; only workers whose link it has signed are admitted.
    `links`: how many personal links are created.
    """
    import uvicorn

    from seesay.judge.web.app import make_app
    from seesay.judge.web.connections import (
        ConnectionLimits,
        allow_open_files,
        backlog_for,
        limited_protocol,
    )

    signed_ids = None
    if prolific_keys:
        signed_ids = SignedIds(prolific_keys, public_url).check()
    bound = _bind(host, port)
    url_host = f"[{host}]" if ":" in host else host
    base = public_url.rstrip("/") or f"http://{url_host}:{bound.getsockname()[1]}"
    limits = ConnectionLimits(total=allow_open_files(ConnectionLimits.total))
    # All connections are the proxy's.
    if behind_proxy:
        limits.per_address = limits.total
    config = uvicorn.Config(
        make_app(opened.study, opened.database, public_url=base, signed_ids=signed_ids),
        http=limited_protocol(limits),
        log_level="warning",
        # It would contain people's links.
        access_log=False,
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
    # Until the server says how many may wait.
    bound.listen()
    return bound
