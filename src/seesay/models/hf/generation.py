"""Free continuations by transformers' own `generate`, greedy or sampled, the same for the same batch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import torch

from seesay.models.base import Reply, Sampling

LINE = "\n"  # where the answer of a model that is not in a chat ends: it would go on for ever


def generate_replies(
    network: Any, tokenizer: Any, inputs: dict[str, Any], sampling: Sampling, *, stop: str | None = None
) -> list[tuple[Reply, ...]]:
    """`sampling.samples` replies to each row of the inputs, without the prompt; `stop` is a text that ends a reply.

    The seed of a sampled batch is that of the run and of its inputs, so that a resumed run has the same replies.
    """
    from transformers import GenerationConfig

    config, own = network.config.get_text_config(), getattr(network, "generation_config", None)
    ends = [getattr(own, "eos_token_id", None) if own else None, tokenizer.eos_token_id]
    end = next((e for e in ends if e is not None), None)
    samples = {"do_sample": True, "temperature": sampling.temperature, "top_k": 0, "top_p": 1.0}
    arguments = GenerationConfig(
        max_new_tokens=sampling.max_tokens,
        num_return_sequences=sampling.samples,
        eos_token_id=end,
        pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        decoder_start_token_id=getattr(own, "decoder_start_token_id", None) or config.decoder_start_token_id
        if network.config.is_encoder_decoder
        else None,
        **(samples if sampling.temperature else {"do_sample": False}),
    )
    ids = inputs["input_ids"]
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        digest = hashlib.blake2b(json.dumps([sampling.seed, ids.tolist()]).encode(), digest_size=7).digest()
        torch.manual_seed(int.from_bytes(digest))
        stops = {"stop_strings": [stop], "tokenizer": tokenizer} if stop else {}
        output = network.generate(**inputs, generation_config=arguments, **stops)
    if output.shape[1] >= ids.shape[1] and not network.config.is_encoder_decoder:
        output = output[:, ids.shape[1] :]
    closing = set(end) if isinstance(end, list) else {end}
    replies = []
    for row in output.tolist():
        text = tokenizer.decode(row, skip_special_tokens=True)
        body, stopped, _ = text.lstrip().partition(stop) if stop else (text, "", "")
        cut = not stopped and len(row) >= sampling.max_tokens and not closing & set(row)
        replies.append(Reply(body.strip(), cut))
    return [tuple(replies[i : i + sampling.samples]) for i in range(0, len(replies), sampling.samples)]


def left_padded(tokenizer: Any, rows: Sequence[Sequence[int]], device: Any) -> dict[str, torch.Tensor]:
    """Rows of one length that end with text, and the mask that hides the padding."""
    longest = max(map(len, rows))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
    ids = [[pad] * (longest - len(row)) + list(row) for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return {
        "input_ids": torch.tensor(ids, dtype=torch.long, device=device),
        "attention_mask": torch.tensor(mask, dtype=torch.long, device=device),
    }
