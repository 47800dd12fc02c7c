"""The papers behind seesay, table by table and figure by figure: ours beside the published (`seesay
paper`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seesay.errors import UserError
from seesay.plugins import collect
from seesay.registry import load_address, unknown

if TYPE_CHECKING:
    from seesay.papers.paper import Paper


def paper_addresses() -> dict[str, str]:
    """The papers by name, ours and those of other packages: each the address of a `Paper`."""
    return collect(lambda plugin: plugin.papers)


def load_paper(name: str) -> Paper:
    """The paper of this name. Nothing of the others is imported: each needs an instrument that may
    be missing."""
    key = name.lower().replace("_", "-")
    addresses = paper_addresses()
    if key not in addresses:
        raise unknown("paper", name, addresses, "seesay paper --help")
    try:
        paper: Paper = load_address(addresses[key])
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("seesay."):
            raise
        missing = f"a part of seesay that is not installed here: {error.name}"
        raise UserError(f"The paper '{key}' needs {missing}.") from error
    return paper
