"""Studies in their databases: created once, reopened unchanged."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Self

from pydantic import ValidationError

from seesay.command_line import remove_secrets
from seesay.errors import UserError, needs_extra
from seesay.judge import participants, security
from seesay.judge.storage.database import (
    FORMAT,
    Database,
    Transaction,
    UnavailableError,
    get_setting,
    set_setting,
)
from seesay.judge.storage.sqlite import SqliteDatabase
from seesay.judge.study import Study
from seesay.judge.study_builder import build_study, option_name
from seesay.judge.texts import ContactDetails

SUFFIX = ".judge.sqlite"
_MIN_PASSWORD = 8
"""Characters of the researcher's password."""


@dataclass(frozen=True)
class OpenStudy:
    """A study with its open database."""

    study: Study
    database: Database
    location: str
    password: str | None = None
    """Set only if it was generated just now and must be shown."""

    def create_links(self, count: int, base_url: str) -> list[str]:
        """Create personal links; they are not stored, so they can be shown only once."""
        creation = self.database.submit(
            lambda tx: participants.create_links(tx, count, time.time())
        )
        tokens = creation.result()
        return [f"{base_url.rstrip('/')}/a/{token}" for token in tokens]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()


def open_study(location: str, name: str = "") -> OpenStudy:
    """Open an existing study; `name` is needed where a PostgreSQL database holds several."""
    if is_postgres(location):
        name = _stored_name(location, name)
    elif not Path(location).is_file():
        raise UserError(f"There is no study '{location}': create it with `seesay judge serve`.")
    database = open_database(location, name)
    # Whatever happens here, nobody else could close the database.
    try:
        return OpenStudy(_require_study(database, location), database, location)
    except BaseException:
        database.close()
        raise


def create_or_open_study(
    source: str,
    *,
    location: str | None = None,
    name: str = "",
    design: Mapping[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
    pilot: Path | None = None,
    password: str | None = None,
    check: Callable[[Study], None] | None = None,
    **choices: Any,
) -> OpenStudy:
    """Create a study from a task or a file of pairs, or open it.

    What it asks is fixed once it exists.

    `design`: the fields of `StudyDesign` to set.
    `texts`: the fields of `Study` or `ContactDetails` to set.
    `check`: may reject a study before it is created or opened.
    `choices`: go to `build_study`.
    """
    password = _check_password(password)
    design = design or {}
    texts = texts or {}
    is_study = source.endswith(".sqlite") and Path(source).is_file()
    name = name or Path(source).stem
    location = source if is_study else location or f"{name}{SUFFIX}"
    database = open_database(location, name)
    try:
        if is_study:
            study: Study | None = _require_study(database, location)
        else:
            study = find_study(database)
        if study is None:
            study = _build(source, design, texts, pilot, name=name, **choices)
        elif is_study:
            _refuse_changes(study, design, texts)
        else:
            _refuse_other_study(study, source, location, design, texts, name=name, **choices)
        if check is not None:
            check(study)
        study = create_study(database, study)
        generated = database.submit(lambda tx: _set_password(tx, password)).result()
    except BaseException:
        database.close()
        raise
    return OpenStudy(study, database, location, generated)


def _build(
    source: str,
    design: Mapping[str, Any],
    texts: Mapping[str, str],
    pilot: Path | None,
    **choices: Any,
) -> Study:
    """Return a new study, its minutes taken from a pilot unless they are set."""
    study = build_study(source, design, **choices)
    if pilot is not None and study.design.minutes is None:
        minutes = minutes_per_person(study, seconds_per_item(str(pilot)))
        timed_design = study.design.model_copy(update={"minutes": minutes})
        study = study.model_copy(update={"design": timed_design})
    update: dict[str, Any] = dict(texts)
    contact = {key: update.pop(key) for key in texts if key in ContactDetails.model_fields}
    update["contact"] = study.contact.model_copy(update=contact)
    return study.model_copy(update=update)


def _refuse_other_study(
    existing: Study,
    source: str,
    location: str,
    design: Mapping[str, Any],
    texts: Mapping[str, str],
    **choices: Any,
) -> None:
    """Reject an existing study that the same command would not create."""
    built = build_study(source, {**existing.design.model_dump(), **design}, **choices)
    # As validated: "30" and 30 minutes are the same.
    _refuse_changes(existing, {key: getattr(built.design, key) for key in design}, texts)
    where = remove_secrets(location)
    text_file = choices.get("text_file")
    if built.items != existing.items:
        raise UserError(
            f"The study in {where} has other items than '{source}': choose another --study."
        )
    if text_file is not None and built.texts != existing.texts:
        raise UserError(
            f"The study in {where} was created with other texts than those of '{text_file}': leave "
            "--texts out to continue that study, or choose another --study."
        )


def seconds_per_item(location: str) -> float:
    """Return the median time per item in a study that has been answered, controls included."""
    with open_study(location) as pilot:
        rows = pilot.database.submit(lambda tx: tx.execute("SELECT seconds FROM answer")).result()
    if not rows:
        raise UserError(
            f"The pilot study '{location}' has no answers: its time per item is unknown."
        )
    return median(float(row[0]) for row in rows)


def minutes_per_person(study: Study, seconds: float) -> float:
    """Return how long a participant is busy who does all pages, at a time per item."""
    pages = study.max_pages
    measured = min(study.design.per_page * pages, len(study.measured))
    controls = study.design.controls * pages
    return (measured + controls) * seconds / 60


def open_database(location: str, name: str = "") -> Database:
    """Open the database at a path or a `postgresql://` address.

    In PostgreSQL the study's name selects the schema.
    """
    if not is_postgres(location):
        return SqliteDatabase(Path(location))
    with needs_extra("PostgreSQL", "judge"):
        from seesay.judge.storage.postgres import PostgresDatabase
    return PostgresDatabase(location, name)


def is_postgres(location: str) -> bool:
    return location.startswith(("postgresql://", "postgres://"))


def find_study(database: Database) -> Study | None:
    """Return the study in a database, if there is one."""
    try:
        return database.submit(_read).result()
    except (UnavailableError, UnicodeDecodeError, sqlite3.Error) as error:
        raise UserError(f"The study is damaged ({error}): restore it from a copy.") from error


def _require_study(database: Database, location: str) -> Study:
    study = find_study(database)
    if study is None:
        raise UserError(
            f"{remove_secrets(location)} contains no study: create it with `seesay judge serve`."
        )
    return study


def create_study(database: Database, study: Study) -> Study:
    """Write a new study.

    If one exists, it must be the same: people's answers belong to what they saw.
    """

    def work(tx: Transaction) -> Study:
        tx.lock_study()
        existing = _read(tx)
        if existing is not None:
            return existing
        set_setting(tx, "format", str(FORMAT))
        set_setting(tx, "definition", study.model_dump_json())
        set_setting(tx, "secret", secrets.token_hex(32))
        set_setting(tx, "join", secrets.token_urlsafe(24))
        set_setting(tx, "state", "open")
        insert_items(tx, study)
        return study

    existing = database.submit(work).result()
    if existing != study:
        raise UserError(
            f"The study '{existing.name}' already exists with other items or settings: choose "
            "another --study."
        )
    return existing


def insert_items(tx: Transaction, study: Study) -> None:
    """Write the items of a new study."""
    # Places decide between items that are equally often judged.
    places = study.rng("order").sample(range(len(study.items)), len(study.items))
    tx.insert(
        "item",
        ("id", "base", "place", "control"),
        [
            (item.id, item.base, place, item.control)
            for item, place in zip(study.items, places, strict=True)
        ],
    )


def _read(tx: Transaction) -> Study | None:
    """Return the study of a database, if it has been written."""
    definition = get_setting(tx, "definition")
    if definition is None:
        return None
    try:
        return Study.from_json(definition)
    except ValidationError as error:
        raise UserError(
            f"The study is damaged ({str(error).splitlines()[0]}): restore it from a copy."
        ) from error


def _stored_name(location: str, name: str) -> str:
    """Return the name of a study in a PostgreSQL database, by default of its only one.

    Opening any other name would create an empty study.
    """
    with needs_extra("PostgreSQL", "judge"):
        from seesay.judge.storage.postgres import list_studies, schema_name
    names = list_studies(location)
    if not name and len(names) != 1:
        raise UserError(
            f"The database holds {len(names)} studies ({', '.join(names)}): choose one with --name."
        )
    if name and schema_name(name) not in map(schema_name, names):
        raise UserError(
            f"The database holds no study '{name}', only these: {', '.join(names) or 'none'}."
        )
    return name or names[0]


def _refuse_changes(study: Study, design: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    """Refuse settings that differ from those with which a study was created."""
    settings = {
        **study.model_dump(include={"title", "consent", "instructions"}),
        **study.contact.model_dump(),
        **study.design.model_dump(),
    }
    for key, value in {**design, **texts}.items():
        if settings[key] != value:
            raise UserError(
                f"The study '{study.name}' was created with another {option_name(key)}: leave this "
                "option out to continue that study, or choose another --study."
            )


def _check_password(password: str | None) -> str | None:
    """Return the first line of a password or of SEESAY_JUDGE_PASSWORD, if there is one."""
    lines = (password or os.environ.get("SEESAY_JUDGE_PASSWORD") or "").strip().splitlines()
    if not lines:
        return None
    if len(lines[0]) < _MIN_PASSWORD:
        raise UserError(
            f"The researcher's password is too short: use at least {_MIN_PASSWORD} characters."
        )
    return lines[0]


def _set_password(tx: Transaction, password: str | None) -> str | None:
    """Store a password, or generate one for a new study.

    Returns it only where it was generated.
    """
    tx.lock_study()
    if password is not None:
        set_setting(tx, "password", security.hash_password(password))
        # Whoever logged in with the old password has to log in again.
        tx.execute("DELETE FROM session")
        return None
    if get_setting(tx, "password") is not None:
        return None
    generated = secrets.token_urlsafe(12)
    set_setting(tx, "password", security.hash_password(generated))
    return generated
