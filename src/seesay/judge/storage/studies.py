"""A study in its database: made once, opened again as it was."""

from __future__ import annotations

import secrets
from pathlib import Path

from pydantic import ValidationError

from seesay.errors import UserError
from seesay.judge.storage.database import Database, Transaction, keep, setting
from seesay.judge.storage.sqlite import SqliteDatabase
from seesay.judge.study import Study

FORMAT = "1"


def open_database(where: str, name: str = "") -> Database:
    """The database at a path or a `postgresql://` address; in PostgreSQL the study's name says which schema."""
    if not is_postgres(where):
        return SqliteDatabase(Path(where))
    try:
        from seesay.judge.storage.postgres import PostgresDatabase
    except ImportError as error:
        raise UserError("PostgreSQL needs psycopg: pip install 'seesay[judge]'.") from error
    return PostgresDatabase(where, name)


def is_postgres(where: str) -> bool:
    return where.startswith(("postgresql://", "postgres://"))


def find(database: Database) -> Study | None:
    """The study that the database holds, if it holds one."""
    return database.submit(_read).result()


def begin(database: Database, study: Study) -> Study:
    """Write a new study. Where one is there already it must be the same: people's answers belong to what they saw."""

    def work(tx: Transaction) -> Study:
        tx.lock_study()
        held = _read(tx)
        if held is not None:
            return held
        keep(tx, "format", FORMAT)
        keep(tx, "definition", study.model_dump_json())
        keep(tx, "secret", secrets.token_hex(32))
        keep(tx, "join", secrets.token_urlsafe(24))
        keep(tx, "state", "open")
        order = study.rng("order").sample(range(len(study.items)), len(study.items))
        tx.many(
            "INSERT INTO item (id, base, place, control) VALUES (?, ?, ?, ?)",
            [(item.id, item.base, place, item.control) for item, place in zip(study.items, order, strict=True)],
        )
        return study

    held = database.submit(work).result()
    if held.fingerprint != study.fingerprint:
        raise UserError(
            f"The study '{held.name}' is there already, with other items or settings: give this one another --study."
        )
    return held


def _read(tx: Transaction) -> Study | None:
    definition = setting(tx, "definition")
    if definition is None:
        return None
    if setting(tx, "format") != FORMAT:
        raise UserError("This study was made by another version of seesay: open it with that version.")
    try:
        return Study.model_validate_json(definition)
    except ValidationError as error:
        raise UserError(f"The study is damaged ({str(error).splitlines()[0]}): restore it from a copy.") from error
