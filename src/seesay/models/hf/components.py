"""Parts of other people's vision models (network, image processor, tokeniser), from a folder or the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions


def load_part(name: str, options: ModelOptions, kind: str, what: str) -> Any:
    """One part by the name of its `Auto…` class in transformers; `what` says in an error what was expected.

    That weights are missing is no error: the published DPT lacks some that its network never uses.
    """
    from seesay.models.hf.loading import aligned, on_hub, require_models

    require_models()
    import torch
    import transformers

    folder = Path(name).expanduser()
    if not folder.is_dir() and not on_hub(name, options.revision):
        raise UserError(f"Could not load '{name}': no such folder, and the model hub did not give it.")
    how: dict[str, Any] = {"trust_remote_code": options.trust_remote_code, "revision": options.revision}
    network = kind.startswith("AutoModel")
    if network:
        how |= {"dtype": torch.float32, "use_safetensors": None if options.allow_pickle else True}
    try:
        part = getattr(transformers, kind).from_pretrained(folder if folder.is_dir() else name, **how)
    except Exception as error:  # other people's files fail in more ways than can be listed
        lines = str(error).strip().splitlines()
        why = lines[0] if lines else type(error).__name__
        raise UserError(f"'{name}' is no {what} that can be loaded: {why}") from error
    return aligned(part).eval() if network else part
