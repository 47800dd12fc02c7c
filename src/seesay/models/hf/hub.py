"""What the model hub says about a model, asked as rarely as possible: transformers itself asks six
times, for half a minute, where there is no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seesay.errors import UserError

if TYPE_CHECKING:
    from huggingface_hub import HfFileMetadata

HUB_TIMEOUT = 5  # seconds


def on_hub(hub_id: str, revision: str | None = None) -> bool:
    """Whether the hub, asked once, gives the model's configuration, or a copy of it is on this
    machine."""
    # the copy first: it costs no request
    return _copied_commit(hub_id, revision) is not None or _metadata(hub_id, revision) is not None


def refuse_unless_on_hub(hub_id: str, revision: str | None = None) -> None:
    """Refuse a model that is neither on the hub, as far as that can be reached, nor copied here."""
    if not on_hub(hub_id, revision):
        raise UserError(
            f"Could not load '{hub_id}': there is no such folder or catalogue name, and the model "
            "hub did not provide it (offline, unknown or private?). `seesay models` lists what "
            "works without the hub."
        )


def hub_commit(hub_id: str, revision: str | None) -> str | None:
    """The commit of a model on the hub, which is asked once; offline, that of the copy on this
    machine, if any."""
    metadata = _metadata(hub_id, revision)
    if metadata is None:
        return _copied_commit(hub_id, revision)
    return metadata.commit_hash


def commit(hub_id: str, revision: str | None) -> str:
    """The commit of a Hub model whose configuration has just been read."""
    copied = _copied_commit(hub_id, revision)
    if copied is None:
        raise UserError(
            f"The hub provided '{hub_id}', but no copy of it was cached on this machine: download "
            "it to a folder."
        )
    return copied


def find_file(source: str | Path, file: str, revision: str | None) -> Path | None:
    """A file beside the weights, in the folder or on the hub; None where there is none, or it
    cannot be fetched."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    folder = Path(source)
    if folder.is_dir():
        return folder / file if (folder / file).is_file() else None
    try:
        return Path(hf_hub_download(str(source), file, revision=revision))
    except EntryNotFoundError:
        return None


def _metadata(hub_id: str, revision: str | None) -> HfFileMetadata | None:
    try:
        # a hub that cannot be asked for want of the package says as little as one out of reach
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        return get_hf_file_metadata(
            hf_hub_url(hub_id, "config.json", revision=revision), timeout=HUB_TIMEOUT
        )
    except Exception:  # each version of the library has another HTTP client with errors of its own
        return None


def copied_config(hub_id: str, revision: str | None) -> Path | None:
    """The configuration of the copy on this machine; None where there is no copy."""
    try:
        from huggingface_hub import try_to_load_from_cache

        path = try_to_load_from_cache(hub_id, "config.json", revision=revision)
    # no name that the hub could have, or nothing here that could have copied anything
    except (ValueError, ModuleNotFoundError):
        return None
    return Path(path) if isinstance(path, str) else None


def _copied_commit(hub_id: str, revision: str | None) -> str | None:
    """The commit of the copy on this machine, which is the name of its folder."""
    config = copied_config(hub_id, revision)
    return None if config is None else config.parent.name
