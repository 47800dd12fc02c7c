"""The papers behind seesay, table by table and figure by figure: ours beside the published (`seesay paper`)."""

from __future__ import annotations

from importlib import import_module

from seesay.papers.paper import Paper
from seesay.registry import unknown

PAPERS = ("viphy", "malevic", "memory-colors", "spatial-relations")
"""The names of `seesay paper`; each is a package here, whose `entries` holds the `PAPER`."""


def load_paper(name: str) -> Paper:
    """The paper of this name."""
    key = name.lower().replace("_", "-")
    if key not in PAPERS:
        raise unknown("paper", name, PAPERS, "seesay paper --help")
    paper: Paper = import_module(f"seesay.papers.{key.replace('-', '_')}.entries").PAPER
    return paper
