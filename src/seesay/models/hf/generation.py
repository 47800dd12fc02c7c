"""Free continuations by transformers' own `generate`, greedy or sampled, the same for the same
batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from seesay.digests import text_number
from seesay.grouping import chunks
from seesay.models.base import Reply, Sampling

LINE = "\n"  # where the answer of a model that is not in a chat ends: it would go on for ever


def generate_replies(
    network: Any,
    tokenizer: Any,
    inputs: dict[str, Any],
    sampling: Sampling,
    *,
    stop: str | None = None,
) -> list[tuple[Reply, ...]]:
    """`sampling.samples` replies to each row of the inputs, without the prompt; `stop` is a text
    that ends a reply.

    Of the checkpoint's own settings for generation only its end and start tokens count.
    """
    from transformers import GenerationConfig

    settings: Any = getattr(network, "generation_config", None) or network.config
    end = settings.eos_token_id
    if end is None:
        end = tokenizer.eos_token_id
    pad = tokenizer.pad_token_id
    if pad is None:
        pad = tokenizer.eos_token_id
    config = GenerationConfig(
        **sampling_arguments(sampling),
        eos_token_id=end,
        pad_token_id=pad,
        bos_token_id=tokenizer.bos_token_id,
        decoder_start_token_id=getattr(settings, "decoder_start_token_id", None),
    )
    ids = inputs["input_ids"]
    stops = {"stop_strings": [stop], "tokenizer": tokenizer} if stop else {}
    with seeded(sampling, ids), torch.inference_mode():
        output = network.generate(**inputs, generation_config=config, **stops)
    # a decoder's output repeats the prompt; after an encoder it has only the token it starts from
    start = 1 if network.config.is_encoder_decoder else ids.shape[1]
    ends = set(end) if isinstance(end, list) else {end}
    return replies_of(tokenizer, output[:, start:], sampling, ends, stop)


def sampling_arguments(sampling: Sampling) -> dict[str, Any]:
    """Arguments of `generate`: the number of tokens and samples, drawn from the whole
    distribution."""
    arguments: dict[str, Any] = {
        "max_new_tokens": sampling.max_tokens,
        "num_return_sequences": sampling.samples,
        "do_sample": bool(sampling.temperature),
    }
    if sampling.temperature:
        # by default some versions keep only the 50 likeliest tokens
        arguments |= {
            "temperature": sampling.temperature,
            "top_k": 0,
            "top_p": 1.0,
        }
    return arguments


@contextmanager
def seeded(sampling: Sampling, ids: torch.Tensor) -> Iterator[None]:
    """Draw random numbers that depend on the run's seed and on the batch alone: a resumed run has
    the same replies."""
    seed = text_number(json.dumps([sampling.seed, ids.tolist()]), 7)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def replies_of(
    tokenizer: Any,
    tokens: torch.Tensor,
    sampling: Sampling,
    ends: set[int | None],
    stop: str | None = None,
) -> list[tuple[Reply, ...]]:
    """Return the texts of new tokens, those of one prompt together; a reply without an end was
    cut."""
    replies = []
    for row in tokens.tolist():
        text = tokenizer.decode(row, skip_special_tokens=True)
        has_end = bool(ends & set(row))
        if stop:
            # a reply may open with line breaks, which do not end it
            text, mark, _ = text.lstrip().partition(stop)
            has_end = has_end or bool(mark)
        # rows end together: a shorter one is padded, and has its end
        cut = not has_end and len(row) >= sampling.max_tokens
        replies.append(Reply(text.strip(), cut))
    return [tuple(samples) for samples in chunks(replies, sampling.samples)]


def left_padded(
    tokenizer: Any, rows: Sequence[Sequence[int]], device: Any
) -> dict[str, torch.Tensor]:
    """Rows of one length that end with text, and the mask that hides the padding."""
    pad = tokenizer.pad_token_id
    if pad is None:
        pad = tokenizer.eos_token_id or 0
    ids = [torch.tensor(row, dtype=torch.long, device=device) for row in rows]
    mask = [torch.ones_like(row) for row in ids]
    pad_left = partial(pad_sequence, batch_first=True, padding_side="left")
    return {"input_ids": pad_left(ids, padding_value=pad), "attention_mask": pad_left(mask)}
