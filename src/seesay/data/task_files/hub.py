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
from seesay.errors import UserError, first_line, needs_extra
from seesay.files import atomic_write

# No part begins with a dot, and none holds "..": `datasets` takes such a name for a path.
ADDRESS = re.compile(
    r"hf:(?!.*\.\.)(?P<name>\w[\w.-]*/\w[\w.-]*)@(?P<revision>\w[\w./-]*?)"
    r"(?:#(?P<split>[\w.\[\]:%+-]+))?"
)
LARGEST_PICTURE = 64 << 20
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")


def hub_rows(
    address: str,
    split: str,
    config: str,
    folder: Path,
) -> Iterator[Mapping[str, Any]]:
    """Read the rows of a data set at one revision, its pictures as bytes; no code of it is run.

    `folder` is that of the task file.
    """
    match = ADDRESS.fullmatch(address)
    if match is None:
        raise UserError(
            f"'{address}' is not a data set on the Hub: write hf:owner/name@revision, or "
            "…@revision#split."
        )
    # `datasets` prefers a folder of this name to the Hub, and a task file is somebody else's: it
    # may read what came with it, and nothing beside.
    local = Path(match["name"])
    if local.exists() and not local.resolve().is_relative_to(folder.resolve()):
        raise UserError(
            f"There is a folder '{local}' here, which would be read in place of {address}: "
            "run seesay in another folder."
        )
    with needs_extra("Reading a data set from the Hub", "datasets"):
        from datasets import Audio, Image, Video, load_dataset
    try:
        dataset = load_dataset(
            match["name"],
            config or None,
            split=match["split"] or split,
            revision=match["revision"],
        )
    except Exception as error:  # whatever the library raises, its message belongs to the user
        raise UserError(f"Cannot read {address}: {first_line(error)}.") from error
    refuse_too_many(address, len(dataset))
    features = dict(dataset.features.items())
    # Sound and video would be decoded with every row, and no question can show them.
    unusable = [name for name, kind in features.items() if isinstance(kind, Audio | Video)]
    dataset = dataset.remove_columns(unusable)
    pictures = [name for name, kind in features.items() if isinstance(kind, Image)]
    for name in pictures:
        # Undecoded: the bytes are stored as they came, and none is opened that nobody asks about.
        dataset = dataset.cast_column(name, Image(decode=False))
    return (_with_bytes(row, pictures) for row in dataset)


def is_picture(value: Any) -> bool:
    """Return whether a value of Arrow is a picture: bytes, or what `datasets` makes of them."""
    if isinstance(value, bytes):
        return True
    if not isinstance(value, dict) or value.keys() != {"bytes", "path"}:
        return False
    return value["bytes"] is None or isinstance(value["bytes"], bytes)


def picture_folder() -> Path:
    """Return the folder for pictures that rows hold themselves."""
    return caches.TASK_PICTURES.folder


def store_picture(value: Any) -> str:
    """Store a picture's bytes and return the name of the file; equal pictures are one file."""
    if isinstance(value, bytes):
        value = {"bytes": value, "path": ""}
    content = value["bytes"]
    if not content:
        raise BadValueError("a picture has no bytes")
    if len(content) > LARGEST_PICTURE:
        raise BadValueError(f"a picture has more than {LARGEST_PICTURE >> 20} MB")
    # Of the path only a known suffix is used: the rest is whatever somebody wrote.
    suffix = Path(str(value["path"])).suffix.lower()
    if suffix not in SUFFIXES:
        suffix = ".png"
    target = picture_folder() / f"{text_digest(content, 16)}{suffix}"
    if not target.is_file():
        with atomic_write(target) as unfinished:
            unfinished.write_bytes(content)
    return target.name


def _with_bytes(row: Mapping[str, Any], pictures: list[str]) -> dict[str, Any]:
    """Return the row with the bytes of pictures that `datasets` has as files."""
    filled = dict(row)
    for name in pictures:
        value = row[name]
        if value is None or value["bytes"] is not None or not value["path"]:
            continue
        path = Path(value["path"]).resolve()
        # Only of files that it downloaded: a row may name any other path of this machine.
        if _is_download(path) and path.is_file():
            filled[name] = {**value, "bytes": path.read_bytes()}
    return filled


def _is_download(path: Path) -> bool:
    """Return whether a file is in a folder that the Hub's libraries download into."""
    from datasets import config
    from huggingface_hub import constants

    folders = (config.HF_DATASETS_CACHE, constants.HF_HUB_CACHE)
    return any(path.is_relative_to(Path(folder).resolve()) for folder in folders)
