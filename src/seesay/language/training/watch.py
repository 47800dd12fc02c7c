"""The headline metric of tasks while a masked model is being trained, for its learning curve."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from seesay.runs.ask import FEWEST_RESAMPLES, Settings
from seesay.runs.watch import measure, watched_tasks

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def watch_tasks(
    names: Sequence[str],
) -> Callable[[PreTrainedModel, PreTrainedTokenizerBase], dict[str, float]]:
    """Return a function that measures tasks on a network and its tokeniser.

    It gives the first metric of each task, averaged over templates.
    """
    from seesay.models.encoders.clip_bert import load_imagination
    from seesay.models.encoders.clip_bert_masked import ImaginingReader
    from seesay.models.hf.loading import Checkpoint
    from seesay.models.hf.masked import MaskedModel
    from seesay.models.options import ModelOptions
    from seesay.models.source import is_clip_bert

    imagination = cache(
        lambda encoder: load_imagination("the network", "", encoder, ModelOptions(device="cpu"))
    )
    tasks = watched_tasks(names)
    # a training's history has the figures alone
    settings = Settings(resamples=FEWEST_RESAMPLES)

    def ask(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, float]:
        config = network.config
        reader = None
        if is_clip_bert(config):
            reader = ImaginingReader(network, imagination(config.text_encoder), ModelOptions())
        model = MaskedModel(
            "the network",
            Checkpoint(network.eval(), tokenizer, config, "", ()),
            reader=reader,
        )
        with tempfile.TemporaryDirectory() as folder:
            return measure(model, tasks, Path(folder), settings)

    return ask
