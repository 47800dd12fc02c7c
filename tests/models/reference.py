"""Scores computed with plain transformers, one sentence at a time: what seesay's must equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
)

from seesay.questions import SLOT


class Reference:
    """A model and its tokenizer, loaded without seesay."""

    def __init__(self, folder: Path, auto: Any) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = auto.from_pretrained(folder, dtype=torch.float32).eval()

    def logps(self, ids: list[int], **inputs: Any) -> torch.Tensor:
        """Log-probabilities of the whole vocabulary at every position."""
        with torch.inference_mode():
            logits: torch.Tensor = self.model(torch.tensor([ids]), **inputs).logits
        return logits[0].log_softmax(-1)


class MaskedReference(Reference):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, AutoModelForMaskedLM)

    def slot(self, text: str) -> torch.Tensor:
        """The vocabulary's log-probabilities where the tokenizer's own mask stands."""
        ids = self.tokenizer(text.replace(SLOT, self.tokenizer.mask_token))["input_ids"]
        return self.logps(ids)[ids.index(self.tokenizer.mask_token_id)]

    def left_to_right(self, text: str, tokens: list[str]) -> float:
        """The tokens written into the slot one after the other, those to come masked."""
        mask = self.tokenizer.mask_token
        ids = self.tokenizer(text.replace(SLOT, mask))["input_ids"]
        at = ids.index(self.tokenizer.mask_token_id)
        target = self.tokenizer.convert_tokens_to_ids(tokens)
        ids[at : at + 1] = [self.tokenizer.mask_token_id] * len(target)
        total = 0.0
        for token in target:
            total += float(self.logps(ids)[at, token])
            ids[at] = token
            at += 1
        return total


class CausalReference(Reference):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, AutoModelForCausalLM)

    def given(self, prefix: str, target: str, start: str = "") -> float:
        """log P(target | prefix), the whole sentence read at once; nothing before it is the token
        that documents begin with: `start`, else what the tiny models call their beginning token."""
        known = self.tokenizer(prefix)["input_ids"]
        ids = self.tokenizer(prefix + target)["input_ids"]
        assert ids[: len(known)] == known
        if not known:
            first = self.tokenizer.convert_tokens_to_ids(start or self.tokenizer.bos_token)
            known, ids = [first], [first, *ids]
        logps = self.logps(ids)
        return sum(float(logps[i - 1, ids[i]]) for i in range(len(known), len(ids)))


class EncoderDecoderReference(Reference):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, AutoModelForSeq2SeqLM)

    def answer(self, question: str, beginning: list[int], option: str) -> float:
        """log P(option | question), the decoder having written `beginning`."""
        target = self.tokenizer(option, add_special_tokens=False)["input_ids"]
        written = torch.tensor([[*beginning, *target[:-1]]])
        logps = self.logps(self.tokenizer(question)["input_ids"], decoder_input_ids=written)
        return sum(float(logps[len(beginning) - 1 + i, token]) for i, token in enumerate(target))
