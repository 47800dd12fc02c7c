"""From what a user typed to a study that is served."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from seesay.command_line import remove_secrets
from seesay.errors import UserError
from seesay.judge import participants, secret
from seesay.judge.storage import studies
from seesay.judge.storage.database import Database, Transaction, keep, setting
from seesay.judge.study import Design, Study
from seesay.judge.study_builder import ODD_WORD, from_pairs, from_task

SUFFIX = ".judge.sqlite"
_SHORTEST_PASSWORD = 8


@dataclass(frozen=True)
class Opened:
    """A study with its database; `password` is set when one was made just now and must be told."""

    study: Study
    database: Database
    where: str
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Listening:
    """Where and how a server listens, and how many links it makes."""

    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str = ""
    behind_proxy: bool = False
    links: int = 0


def build(
    source: str,
    design: Mapping[str, Any],
    *,
    name: str = "",
    data: Path | None = None,
    template: str | None = None,
    limit: int | None = None,
    known: Sequence[str] | None = None,
    odd_word: str = ODD_WORD,
) -> Study:
    """A study from a task's name or a file of pairs."""
    try:
        plan = Design(**design)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"--{str(first['loc'][0]).replace('_', '-')}: {first['msg']}.") from None
    if source.endswith((".csv", ".tsv", ".txt")) or Path(source).is_file():
        if not Path(source).is_file():
            raise UserError(f"There is no file '{source}'.")
        return from_pairs(Path(source), plan, odd_word=odd_word, name=name)
    from seesay.runs.ask import limited
    from seesay.tasks import load_task

    task = load_task(source, data)
    if limit is not None:
        task = limited(task, limit, plan.seed)
    return from_task(task, plan, template=template, known=known, name=name)


def prepare(
    source: str,
    *,
    where: str | None,
    name: str,
    design: Mapping[str, Any],
    texts: Mapping[str, str],
    password: str | None = None,
    **choices: Any,
) -> Opened:
    """Make the study, or open it as it was made. What it asks cannot change once it is there."""
    password = _chosen_password(password)
    is_study = source.endswith(".sqlite") and Path(source).is_file()
    if is_study:
        opened = reopen(source)
        _check_same(opened.study, design, texts)
    else:
        stem = name or Path(source).stem
        where = where or f"{stem}{SUFFIX}"
        database = studies.open_database(where, stem)
        try:
            held = studies.find(database)
            plan = design if held is None else {**held.design.model_dump(), **design}
            study = build(source, plan, name=stem, **choices)
            if held is None:
                study = studies.begin(database, study.model_copy(update=dict(texts)))
            else:
                _check_same(held, design, texts)
                if held.items != study.items:
                    raise UserError(
                        f"The study in {remove_secrets(where)} asks other items than '{source}': "
                        "give this one another --study."
                    )
                study = held
        except BaseException:
            database.close()
            raise
        opened = Opened(study, database, where)
    told = opened.database.submit(lambda tx: _set_password(tx, password)).result()
    return Opened(opened.study, opened.database, opened.where, told)


def reopen(where: str, name: str = "") -> Opened:
    """A study that is there."""
    if studies.is_postgres(where):
        name = name or _only_study(where)
    elif not Path(where).is_file():
        raise UserError(f"There is no study '{where}': `seesay judge serve` makes one.")
    database = studies.open_database(where, name)
    study = studies.find(database)
    if study is None:
        database.close()
        raise UserError(f"{remove_secrets(where)} holds no study: `seesay judge serve` makes one.")
    return Opened(study, database, where)


def _only_study(where: str) -> str:
    try:
        from seesay.judge.storage.postgres import studies
    except ImportError as error:
        raise UserError("PostgreSQL needs psycopg: pip install 'seesay[judge]'.") from error
    found = studies(where)
    if len(found) != 1:
        raise UserError(f"The database holds {len(found)} studies ({', '.join(found)}): name one with --name.")
    return found[0]


def _check_same(held: Study, design: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    kept = {**held.design.model_dump(), "title": held.title, "consent": held.consent, "instructions": held.instructions}
    for key, value in {**design, **texts}.items():
        if kept[key] != value:
            option = key.replace("_minutes", "").replace("_", "-")
            raise UserError(
                f"The study '{held.name}' was made with another --{option}: leave it out to go on with that study, or "
                "give this one another --study."
            )


def _chosen_password(given: str | None) -> str | None:
    chosen = (given or os.environ.get("SEESAY_JUDGE_PASSWORD") or "").strip().splitlines()
    if not chosen:
        return None
    if len(chosen[0]) < _SHORTEST_PASSWORD:
        raise UserError(f"The researcher's password is too short: {_SHORTEST_PASSWORD} signs at least.")
    return chosen[0]


def _set_password(tx: Transaction, chosen: str | None) -> str | None:
    """Keep a password that was given, or make one for a new study; gives it back only where it was made."""
    tx.lock_study()
    if chosen is None and setting(tx, "password") is not None:
        return None
    made = chosen or secrets.token_urlsafe(12)
    keep(tx, "password", secret.hash_password(made))
    if chosen is not None:
        tx.rows("DELETE FROM session")
    return None if chosen else made


def serve_study(opened: Opened, listening: Listening, announce: Callable[[dict[str, Any]], None]) -> None:
    """Serve until interrupted. `announce` is told the addresses once the port is held."""
    import uvicorn

    from seesay.judge.web.app import make_app

    bound = _bind(listening.host, listening.port)
    host = f"[{listening.host}]" if ":" in listening.host else listening.host
    base = listening.public_url.rstrip("/") or f"http://{host}:{bound.getsockname()[1]}"
    app = make_app(opened.study, opened.database, public_url=listening.public_url)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would hold people's links
        server_header=False,
        proxy_headers=listening.behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_keep_alive=30,
        limit_concurrency=2000,
        backlog=2048,
    )
    announce(_told(opened, listening, base))
    server = uvicorn.Server(config)
    asyncio.run(server.serve(sockets=[bound]))


def _told(opened: Opened, listening: Listening, base: str) -> dict[str, Any]:
    now = time.time()
    join = opened.database.submit(lambda tx: setting(tx, "join")).result()
    count = listening.links
    tokens = opened.database.submit(lambda tx: participants.invite(tx, count, now)).result() if count else []
    return {
        "study": opened.study.name,
        "where": remove_secrets(opened.where),
        "address": base,
        "researcher": f"{base}/researcher",
        "password": opened.password,
        "join": f"{base}/join/{join}",
        "links": [f"{base}/a/{token}" for token in tokens],
    }


def _bind(host: str, port: int) -> socket.socket:
    """Hold the port now, so that the address can be told before the first request."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise UserError(f"Cannot listen at {host}:{port} ({error.strerror}): choose another --port.") from error
    bound.listen(2048)
    return bound
