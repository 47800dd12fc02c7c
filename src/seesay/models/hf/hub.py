"""What the model hub says about a model, asked as rarely as possible: transformers itself asks six times, for half a
minute, where there is no network."""

from __future__ import annotations

from pathlib import Path

from seesay.errors import UserError

HUB_TIMEOUT = 5  # seconds


def on_hub(hub_id: str, revision: str | None = None) -> bool:
    """Whether the hub, asked once, gives the model's configuration, or a copy of it is on this machine."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

    try:
        if isinstance(try_to_load_from_cache(hub_id, "config.json", revision=revision), str):
            return True
        get_hf_file_metadata(hf_hub_url(hub_id, "config.json", revision=revision), timeout=HUB_TIMEOUT)
    except Exception:  # each version of the library has another HTTP client with errors of its own
        return False
    return True


def hub_commit(hub_id: str, revision: str | None) -> str | None:
    """The commit of a model on the hub, which is asked once; offline, that of the copy on this machine, if any."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

    try:
        url = hf_hub_url(hub_id, "config.json", revision=revision)
        return get_hf_file_metadata(url, timeout=HUB_TIMEOUT).commit_hash
    except Exception:  # each version of the library has another HTTP client with errors of its own
        try:
            copy = try_to_load_from_cache(hub_id, "config.json", revision=revision)
        except ValueError:  # not a name that the hub could have
            return None
    return Path(copy).parent.name if isinstance(copy, str) else None


def commit(hub_id: str, revision: str | None) -> str:
    """The commit of a Hub model whose configuration has just been read: the name of the copy's folder."""
    from huggingface_hub import try_to_load_from_cache

    copy = try_to_load_from_cache(hub_id, "config.json", revision=revision)
    if not isinstance(copy, str):
        raise UserError(
            f"The hub provided '{hub_id}', but no copy of it was cached on this machine: download it to a folder."
        )
    return Path(copy).parent.name
