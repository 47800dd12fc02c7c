"""Data sets of the Hub, through the `datasets` package, and the pictures that rows hold
themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seesay import caches
from seesay.data.cells import BadValueError
from seesay.data.rows import refuse_too_many
from seesay.digests import text_digest
from seesay.errors import UserError, first_line, missing_extra
from seesay.files import atomic_write

ADDRESS = re.compile(
    r"hf:(?P<name>[\w.-]+/[\w.-]+)@(?P<revision>[\w./-]+?)(?:#(?P<split>[\w.\[\]:%+-]+))?"
)
LARGEST_PICTURE = 64 << 20
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")


def hub_rows(address: str, split: str, config: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a data set at one revision, its pictures as bytes; no code of it is run."""
    match = ADDRESS.fullmatch(address)
    if match is None:
        raise UserError(
            f"'{address}' is not a data set on the Hub: write hf:owner/name@revision, or "
            "…@revision#split."
        )
    try:
        from datasets import Audio, Image, Video, load_dataset
    except ImportError as error:
        raise missing_extra("Reading a data set from the Hub", "datasets", error) from error
    try:
        loaded = load_dataset(
            match["name"], config or None, split=match["split"] or split, revision=match["revision"]
        )
    except Exception as error:  # whatever the library raises, its message belongs to the user
        raise UserError(f"Cannot read {address}: {first_line(error)}.") from error
    refuse_too_many(address, len(loaded))
    features = dict(loaded.features.items())
    loaded = loaded.remove_columns(
        [name for name, kind in features.items() if isinstance(kind, Audio | Video)]
    )
    pictures = [name for name, kind in features.items() if isinstance(kind, Image)]
    for name in pictures:
        loaded = loaded.cast_column(name, Image(decode=False))
    return (_with_bytes(row, pictures) for row in loaded)


def is_picture(value: Any) -> bool:
    """Whether a value of Arrow is a picture: its bytes, or what `datasets` makes of one."""
    if isinstance(value, dict) and value.keys() == {"bytes", "path"}:
        value = b"" if value["bytes"] is None else value["bytes"]
    return isinstance(value, bytes)


def picture_folder() -> Path:
    """Where pictures go that rows hold themselves."""
    return caches.TASK_PICTURES.folder


def store_picture(value: Any) -> str:
    """The name of the file with a picture's bytes; equal pictures are one file."""
    content, path = (value, "") if isinstance(value, bytes) else (value["bytes"], value["path"])
    if not content:
        raise BadValueError("a picture has no bytes")
    if len(content) > LARGEST_PICTURE:
        raise BadValueError(f"a picture has more than {LARGEST_PICTURE >> 20} MB")
    suffix = Path(str(path)).suffix.lower()
    digest = text_digest(content, 16)
    target = picture_folder() / f"{digest}{suffix if suffix in SUFFIXES else '.png'}"
    if not target.is_file():
        with atomic_write(target) as unfinished:
            unfinished.write_bytes(content)
    return target.name


def _with_bytes(row: Mapping[str, Any], pictures: list[str]) -> dict[str, Any]:
    """The row with the bytes of pictures that `datasets` has as files: those it has downloaded, and
    no others."""
    from datasets import config
    from huggingface_hub import constants

    filled = dict(row)
    for name in pictures:
        value = row[name]
        if value is not None and value["bytes"] is None and value["path"]:
            path = Path(value["path"]).resolve()
            downloaded = (
                Path(config.HF_DATASETS_CACHE).resolve(),
                Path(constants.HF_HUB_CACHE).resolve(),
            )
            if any(path.is_relative_to(folder) for folder in downloaded) and path.is_file():
                filled[name] = {**value, "bytes": path.read_bytes()}
    return filled
