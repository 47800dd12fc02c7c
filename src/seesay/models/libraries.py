"""PyTorch and transformers, which the extra `models` installs: whether they are here, and the
devices they find."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module

from seesay.errors import UserError, first_line, require_packages
from seesay.processors import keep_freed_memory, share_processors


def require_models() -> None:
    """One sentence with the install line where PyTorch or transformers is missing."""
    share_processors()
    keep_freed_memory()
    os.environ.setdefault("TQDM_DISABLE", "1")  # progress is shown by the command, not by libraries
    require_packages("A local model", "models", "torch", "transformers")
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


@contextmanager
def importing_meanwhile() -> Iterator[None]:
    """Import the code that loads networks, which takes seconds, while the block waits for a
    download.

    An error of these imports is no error yet: whoever needs them raises it.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(import_module, "transformers.modeling_utils")
        yield


def device_of(name: str) -> str:
    """The device of that name; for `auto` an accelerator if there is one."""
    import torch

    if name == "auto" and not torch.accelerator.is_available():
        return "cpu"
    if name == "auto":
        return "auto"  # transformers finds its way among several accelerators
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(
            f"There is no device '{name}' here ({first_line(error)}): try --device auto."
        ) from error
    return name
