"""A trained reasoner as a model: it answers what is asked of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model
from seesay.models.scene_baselines import sentence_of
from seesay.questions import Prompt, Scores
from seesay.reasoners import checkpoints
from seesay.reasoners.config import Shape
from seesay.reasoners.features.extractor import Eye, Pictures, open_eye, picture

if TYPE_CHECKING:
    import torch

    from seesay.models.options import ModelOptions

BATCH = 64
_SAME = {"true": "yes", "false": "no"}


def load_reasoner(name: str, options: ModelOptions) -> Reasoner:
    """`reasoner:FOLDER`, or the folder alone."""
    from seesay.models.hf.loading import device_of, file_digest

    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise UserError(f"There is no folder '{name}': give one that `seesay reasoner train` made.")
    network, shape, config = checkpoints.load(folder)
    import torch

    named = device_of(options.device)
    device = torch.accelerator.current_accelerator() if named == "auto" else torch.device(named)
    fingerprint = file_digest(folder / file for file in checkpoints.FILES)
    eye = open_eye(config["eye"], config["side"])
    if eye.fingerprint != config["looked_with"]:
        raise UserError(
            f"{name} learnt with other weights in its eye '{config['eye']}' than are there now: train it anew."
        )
    return Reasoner(str(Path(name)), network.to(device), shape, eye, fingerprint, options.batch_size)


class Reasoner(Model):
    """Looks at pictures, reads sentences, and gives every answer a probability."""

    family = "reasoner"
    scope = "choice"
    accepts = TEXT_AND_PICTURES
    probabilities_hint = "ask it a task that is scored right or wrong"

    def __init__(
        self, name: str, network: torch.nn.Module, shape: Shape, eye: Eye, fingerprint: str, batch: int | None = None
    ) -> None:
        self.name, self.network, self.shape, self.eye = name, network, shape, eye
        self.fingerprint, self.prompts_per_batch = fingerprint, batch or BATCH

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """A log-probability for every option: what the network gives the answer, among the options alone."""
        pictures = np.stack([self._picture(prompt) for prompt in prompts])
        said = self.log_probabilities(self.eye.look(pictures), [self._asked(prompt) for prompt in prompts])
        return [self._scores(prompt, row) for prompt, row in zip(prompts, said, strict=True)]

    def log_probabilities(self, looks: NDArray[Any], sentences: Sequence[str]) -> NDArray[np.float64]:
        """What the eye saw and the sentences (items) to log-probabilities (items, answers)."""
        import torch

        with torch.inference_mode():
            said = self.network(*self.given(looks, sentences)).log_softmax(1)
        found: NDArray[np.float64] = said.double().cpu().numpy()
        return found

    def given(self, looks: NDArray[Any], sentences: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """What the eye saw and the sentences, as the network takes them."""
        import torch

        device = next(self.network.parameters()).device
        # a copy: looks may be memory-mapped, to be read alone, which a tensor cannot promise
        return torch.tensor(looks, device=device), torch.tensor(self.shape.words.encode(sentences), device=device)

    def _picture(self, prompt: Prompt) -> Pictures:
        if prompt.picture is None:
            raise UserError(f"{self.name} answers questions about pictures: ask it a malevic task.")
        return picture(prompt.picture, self.eye.side)

    def _asked(self, prompt: Prompt) -> str:
        """The sentence itself, in the words that the network has learnt; other questions as they stand."""
        return sentence_of(prompt.text) or prompt.text.partition("?")[0]

    def _scores(self, prompt: Prompt, said: NDArray[np.float64]) -> Scores:
        options = [_SAME.get(option.lower(), option.lower()) for option in prompt.options]
        strange = [option for option in options if option not in self.shape.answers]
        if strange:
            raise UserError(f"{self.name} answers {' or '.join(self.shape.answers)}, not {strange[0]}.")
        chosen = said[[self.shape.answers.index(option) for option in options]]
        logp = chosen - np.logaddexp.reduce(chosen)
        return Scores(tuple(logp.tolist()), (1,) * len(options), tuple(map(len, prompt.options)))
