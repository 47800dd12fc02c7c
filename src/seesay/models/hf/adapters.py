"""Adapters of peft as models: a base model, and what was trained on top of it.

An adapter is merged into the weights of its base, so that everything reads one plain network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seesay.errors import UserError, first_line, needs_extra
from seesay.files import read_json
from seesay.models.files import file_digest
from seesay.models.hf.loading import PICKLED, SHAPES_ANSWERS, Checkpoint, from_pretrained
from seesay.models.options import ModelOptions

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
TOKENIZER = "tokenizer_config.json"


@dataclass(frozen=True)
class Adapter:
    """An adapter in a folder: its base model is a Hub id or a folder."""

    folder: Path
    base: str
    revision: str | None

    @classmethod
    def find(cls, name: str, source: str | Path) -> Adapter | None:
        """Return the adapter in a folder; None where there is none."""
        folder = Path(source)
        if not (folder / CONFIG).is_file() or (folder / "config.json").is_file():
            return None
        try:
            config = read_json(folder / CONFIG)
        except (OSError, ValueError) as error:
            raise UserError(
                f"The adapter in '{name}' could not be read: {first_line(error)}"
            ) from error
        config = config if isinstance(config, dict) else {}
        base = config.get("base_model_name_or_path")
        revision = config.get("revision")
        if not isinstance(base, str) or not base.strip():
            raise UserError(f"{folder / CONFIG} does not name the model that the adapter is for.")
        if not isinstance(revision, str | None):
            raise UserError(f"{folder / CONFIG} names no revision of its base, but {revision!r}.")
        return cls(folder, base, revision)

    def base_options(self, options: ModelOptions) -> ModelOptions:
        """Return the options with which the base model is loaded."""
        return replace(options, revision=self.revision)

    def merge(self, name: str, checkpoint: Checkpoint, options: ModelOptions) -> Checkpoint:
        """Return the base model with the adapter merged into its weights."""
        if not (self.folder / WEIGHTS).is_file() and not options.allow_pickle:
            raise UserError(f"'{name}' has no {WEIGHTS}, only pickled weights, {PICKLED}")
        with needs_extra(f"The adapter '{name}'", "adapters"):
            from peft import PeftConfig, PeftModel

        try:
            # prompts that were learnt are no weights: there is nothing to merge
            is_prompt = PeftConfig.from_pretrained(str(self.folder)).is_prompt_learning
            if not is_prompt:
                adapted: Any = PeftModel.from_pretrained(checkpoint.model, self.folder)
                network = adapted.merge_and_unload(safe_merge=True)
        except Exception as error:  # other people's files fail in more ways than can be listed
            raise UserError(
                f"The adapter in '{name}' does not fit its base '{self.base}', or is damaged: "
                f"{first_line(error)}"
            ) from error
        if is_prompt:
            raise UserError(f"'{name}' is a learnt prompt, not an adapter of weights.")
        tokenizer = checkpoint.tokenizer
        if (self.folder / TOKENIZER).is_file():
            from transformers import AutoTokenizer

            tokenizer = from_pretrained(AutoTokenizer, name, self.folder, options)
        files = (path for pattern in SHAPES_ANSWERS for path in self.folder.glob(pattern))
        return replace(
            checkpoint,
            model=network.eval(),
            tokenizer=tokenizer,
            fingerprint=f"{checkpoint.fingerprint}+{file_digest(files)}",
        )
