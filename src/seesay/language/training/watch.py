"""The headline metric of tasks while a masked model is being trained, for its learning curve."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from seesay import metrics
from seesay.runs.ask import ask
from seesay.runs.figures import items_by_template
from seesay.runs.journal import Journal
from seesay.tasks import expand, load_task

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
    # Without a neutral prompt each question is asked once: a curve needs no calibration.
    tasks = [replace(load_task(name), neutral={}) for name in expand(names)]

    def measure(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, float]:
        config = network.config
        reader = None
        if is_clip_bert(config):
            reader = ImaginingReader(network, imagination(config.text_encoder), ModelOptions())
        model = MaskedModel(
            "the network",
            Checkpoint(network.eval(), tokenizer, config, "", ()),
            reader=reader,
        )
        means = {}
        for task in tasks:
            with tempfile.TemporaryDirectory() as folder:
                answers = ask(model, task, Journal(Path(folder) / "journal.jsonl"))
            metric = metrics.get(task.metrics[0])
            values = [metric(items) for items in items_by_template(task, answers, "sum")]
            means[task.name] = sum(values) / len(values)
        return means

    return measure
