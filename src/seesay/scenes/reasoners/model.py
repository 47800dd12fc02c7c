"""A trained reasoner as a model: it answers questions about pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model, choice_scores
from seesay.models.pictures import BLANK, BLANK_NOTE
from seesay.questions import Prompt, Scores
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.features.extractor import (
    FeatureExtractor,
    Pictures,
    open_extractor,
    read_picture,
)

if TYPE_CHECKING:
    import torch

    from seesay.models.options import ModelOptions
    from seesay.scenes.reasoners.networks.base import ReasonerNetwork

BATCH = 64
_SYNONYMS = {"true": "yes", "false": "no"}


def load_reasoner(name: str, options: ModelOptions) -> Reasoner:
    """Load `reasoner:FOLDER`, or a folder without the prefix."""
    from seesay.models.files import file_digest
    from seesay.models.libraries import device_of

    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise UserError(f"There is no folder '{name}': give one that `seesay reasoner train` made.")
    network, config, fields = checkpoints.load(folder)
    import torch

    device_name = device_of(options.device)
    if device_name == "auto":
        device = torch.accelerator.current_accelerator()
    else:
        device = torch.device(device_name)
    fingerprint = file_digest(folder / file for file in checkpoints.FILES)
    extractor = open_extractor(fields["features"], fields["image_size"])
    # features of other weights would mean something else to the network
    if extractor.fingerprint != fields["features_fingerprint"]:
        raise UserError(
            f"{name} was trained with other weights of its feature extractor "
            f"'{fields['features']}': train it again."
        )
    return Reasoner(
        str(Path(name)),
        network.to(device),
        config,
        extractor,
        fingerprint,
        options.batch_size,
    )


class Reasoner(Model):
    """Gives every answer a probability from a picture and a sentence."""

    family = "reasoner"
    scope = "choice"
    only_chooses = True
    accepts = TEXT_AND_PICTURES
    probabilities_hint = "ask it a task that is scored right or wrong"

    def __init__(
        self,
        name: str,
        network: ReasonerNetwork,
        config: NetworkConfig,
        extractor: FeatureExtractor,
        fingerprint: str,
        batch: int | None = None,
    ) -> None:
        self.name = name
        self.network = network
        self.config = config
        self.extractor = extractor
        self.fingerprint = fingerprint
        self.prompts_per_batch = batch or BATCH

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return the log-probability of every option, renormalised over the options."""
        pictures = np.stack([self._picture(prompt) for prompt in prompts])
        features = self.extractor.extract(pictures)
        sentences = [self._sentence(prompt) for prompt in prompts]
        rows = self.log_probabilities(features, sentences)
        return [self._scores(prompt, row) for prompt, row in zip(prompts, rows, strict=True)]

    def log_probabilities(
        self, features: NDArray[Any], sentences: Sequence[str]
    ) -> NDArray[np.float64]:
        """Return log-probabilities (items, answers) for features and sentences (items)."""
        import torch

        with torch.inference_mode():
            logp: torch.Tensor = self.network(*self.tensors(features, sentences)).log_softmax(1)
        return logp.double().cpu().numpy()

    def attention_maps(
        self, features: NDArray[Any], sentences: Sequence[str]
    ) -> list[tuple[AttentionMap, ...]]:
        """Return the parts of the pictures that the network attends to, item by item."""
        import torch

        with torch.inference_mode():
            return self.network.attention_maps(*self.tensors(features, sentences))

    def tensors(
        self, features: NDArray[Any], sentences: Sequence[str]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return features and sentences as the network takes them."""
        import torch

        device = next(self.network.parameters()).device
        words = self.config.vocabulary.encode(sentences)
        # a copy: features may be memory-mapped read-only, and tensors are writable
        return torch.tensor(features, device=device), torch.tensor(words, device=device)

    def _picture(self, prompt: Prompt) -> Pictures:
        """Return the prompt's picture, or a blank one."""
        size = self.extractor.image_size
        if prompt.picture is None:
            self.note(BLANK_NOTE.format(name=self.name))
            return np.full((size, size, 3), BLANK, dtype=np.uint8)
        return read_picture(prompt.picture, size)

    def _sentence(self, prompt: Prompt) -> str:
        """Return the sentence itself, without the template around it, or easy-VQA's question."""
        sentence = prompt.fields.get("sentence") or prompt.fields.get("question")
        if sentence is None:
            raise UserError(
                f"{self.name} needs questions with the field 'sentence' or 'question': "
                f"{prompt.text!r}."
            )
        return sentence

    def _scores(self, prompt: Prompt, row: NDArray[np.float64]) -> Scores:
        lowered = [option.lower() for option in prompt.options]
        options = [_SYNONYMS.get(option, option) for option in lowered]
        unknown = [option for option in options if option not in self.config.answers]
        if unknown:
            raise UserError(
                f"{self.name} answers {' or '.join(self.config.answers)}, not {unknown[0]}."
            )
        logits = row[[self.config.answers.index(option) for option in options]]
        # a question may offer some of the answers only
        logp = logits - np.logaddexp.reduce(logits)
        return choice_scores(prompt, logp.tolist())
