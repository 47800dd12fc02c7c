"""Errors that are the user's to fix."""

from __future__ import annotations

from collections.abc import Collection


class UserError(Exception):
    """A mistake that the user can fix. The command line prints it as one sentence and exits with
    code 2."""


class NewerVersionError(UserError):
    """A file of a newer version: not damaged, but not for this one to read."""


def refuse_unknown(what: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is none of the known ones."""
    if name not in known:
        raise UserError(f"Unknown {what} '{name}': choose one of {', '.join(known)}.")


def install_hint(extra: str) -> str:
    """Return the command that installs an extra.

    >>> install_hint("mine")
    "pip install 'seesay[mine]'"
    """
    return f"pip install 'seesay[{extra}]'"


def missing_extra(what: str, extra: str, error: ImportError) -> UserError:
    """Return the error for a command that needs an extra which is not installed."""
    return UserError(
        f"{what} needs an extra that is not installed ({error.name}): {install_hint(extra)}."
    )


def first_line(error: BaseException) -> str:
    """Return what an error of another library says, in one line; its type where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
