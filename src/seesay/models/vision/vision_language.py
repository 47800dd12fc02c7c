"""Vision-language models of transformers, asked about a picture: yes or no, true or false, by log-probability.

Three ways to answer: a model generates text (LLaVA, SmolVLM, Qwen-VL, …), decodes an answer to a question (BLIP), or
classifies among fixed answers (ViLT). A reply may be written "yes", "Yes", or either after a space: their probabilities
are added up.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model
from seesay.models.vision.picture_prompt import open_picture, question
from seesay.models.vision.processor import Inputs, Processor
from seesay.questions import Prompt, Scores

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

PICTURES = 8  # in a batch, unless the user says otherwise
MAX_NEW_TOKENS = 20  # of a free answer


class VisionModel(Model):
    """What all three share: pictures are opened, and the probabilities of a reply's spellings are added up."""

    family = "vision"
    accepts = TEXT_AND_PICTURES
    scope = "reply"
    padding = "right"

    def __init__(self, name: str, network: Any, processor: Processor, fingerprint: str, batch_size: int | None) -> None:
        self.name, self.fingerprint = name, fingerprint
        self._network, self._processor = network, processor
        self.prompts_per_batch = batch_size or PICTURES
        processor.tokenizer.padding_side = self.padding

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability of every option as the reply to its question about its picture."""
        return self.reply([open_picture(prompt.picture, self.name) for prompt in prompts], prompts)

    def generate(self, prompts: Sequence[Prompt]) -> list[str]:
        """A free answer to every question about its picture."""
        return self.describe([open_picture(prompt.picture, self.name) for prompt in prompts], prompts)

    def describe(self, pictures: Sequence[Image], prompts: Sequence[Prompt]) -> list[str]:
        """The same for pictures that are open already; the likeliest words, one after the other."""
        import torch

        with torch.inference_mode():
            inputs = self._inputs(pictures, prompts)
            return [text.strip() for text in self._write(inputs)]

    def _inputs(self, pictures: Sequence[Image], prompts: Sequence[Prompt]) -> Inputs:
        inputs = self._processor.inputs(pictures, [self._ask(question(prompt)) for prompt in prompts])
        return {name: tensor.to(self._network.device) for name, tensor in inputs.items()}

    def _write(self, inputs: Inputs) -> list[str]:
        """Continue every row; only the new tokens are text."""
        tokens = self._network.generate(**inputs, max_new_tokens=MAX_NEW_TOKENS, do_sample=False)
        new = tokens[:, inputs["input_ids"].shape[1] :]
        return list(self._processor.tokenizer.batch_decode(new, skip_special_tokens=True))

    def reply(self, pictures: Sequence[Image], prompts: Sequence[Prompt]) -> list[Scores]:
        """The same for pictures that are open already."""
        import torch

        with torch.inference_mode():
            rows = self._score(self._inputs(pictures, prompts), prompts)
        return [
            Scores(tuple(row), tuple(self._length(o) for o in prompt.options), tuple(map(len, prompt.options)))
            for row, prompt in zip(rows, prompts, strict=True)
        ]

    def _ask(self, text: str) -> str:
        return text

    def _length(self, option: str) -> int:
        return min(map(len, self._processor.spellings(option)))

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Token by token: the next token's distribution after each beginning that some spelling has."""
        spellings = {o: self._processor.spellings(o) for prompt in prompts for o in prompt.options}
        beginnings = sorted(
            {ids[:end] for ways in spellings.values() for ids in ways for end in range(len(ids))}, key=len
        )
        after = {beginning: self._next(inputs, beginning) for beginning in beginnings}

        def reply(row: int, option: str) -> float:
            ways = [sum(float(after[i[:n]][row, i[n]]) for n in range(len(i))) for i in spellings[option]]
            top = max(ways)
            return top + math.log(sum(math.exp(way - top) for way in ways))

        return [[reply(row, option) for option in prompt.options] for row, prompt in enumerate(prompts)]

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        raise NotImplementedError


class GenerativeModel(VisionModel):
    """Models that continue a text with pictures in it; padded on the left, so that every row ends with text."""

    padding = "left"

    def _ask(self, text: str) -> str:
        template = self._processor.template
        if template is None:
            token = getattr(self._processor.combined, "image_token", None) or ""
            return f"{token}\n{text} Answer:" if token else f"{text} Answer:"
        chat = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": text}]}]
        arguments = {"chat_template": template, "add_generation_prompt": True, "tokenize": False}
        return str(self._processor.tokenizer.apply_chat_template(chat, **arguments))

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        import torch

        shape = inputs["input_ids"].shape
        longer = dict(inputs)
        for name, tensor in inputs.items():
            if beginning and tensor.shape[:2] == shape and tensor.dim() == 2:
                last = {"input_ids": beginning, "attention_mask": (1,) * len(beginning)}
                more = torch.tensor(last.get(name, (0,) * len(beginning)), device=tensor.device, dtype=tensor.dtype)
                longer[name] = torch.cat([tensor, more.expand(shape[0], -1)], dim=1)
        if "logits_to_keep" in inspect.signature(self._network.forward).parameters:
            longer["logits_to_keep"] = 1  # type: ignore[assignment]
        return self._network(**longer).logits[:, -1].float().log_softmax(-1)  # type: ignore[no-any-return]


class BlipModel(VisionModel):
    """BLIP: a decoder writes the answer, attending to the question as encoded with the picture."""

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        scores: dict[int, list[float]] = {}
        for rows, part in self._by_length(inputs):
            scores |= dict(zip(rows, super()._score(part, [prompts[row] for row in rows]), strict=True))
        return [scores[row] for row in range(len(prompts))]

    def _write(self, inputs: Inputs) -> list[str]:
        texts: dict[int, str] = {}
        for rows, part in self._by_length(inputs):
            tokens = self._network.generate(**part, max_new_tokens=MAX_NEW_TOKENS, do_sample=False)
            new = tokens[:, 1:]  # without the token that the decoder starts from
            texts |= zip(rows, self._processor.tokenizer.batch_decode(new, skip_special_tokens=True), strict=True)
        return [texts[row] for row in range(len(texts))]

    @staticmethod
    def _by_length(inputs: Inputs) -> Iterator[tuple[list[int], Inputs]]:
        """Questions of one length together: BLIP's decoder attends to padding, whatever the mask says."""
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        for length in sorted(set(lengths)):
            rows = [row for row, own in enumerate(lengths) if own == length]
            part = {name: tensor[rows] for name, tensor in inputs.items()}
            yield rows, part | {name: part[name][:, :length] for name in ("input_ids", "attention_mask")}

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        import torch

        network = self._network
        if "states" not in inputs:
            picture = network.vision_model(pixel_values=inputs["pixel_values"])[0]
            encoded = network.text_encoder(
                input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], encoder_hidden_states=picture
            )
            inputs["states"] = encoded[0]
        states = inputs["states"]
        prefix = torch.tensor([network.decoder_start_token_id, *beginning], device=states.device)
        logits = network.text_decoder(input_ids=prefix.expand(len(states), -1), encoder_hidden_states=states).logits
        return logits[:, -1].float().log_softmax(-1)  # type: ignore[no-any-return]


class ViltModel(VisionModel):
    """ViLT: one score for each of its fixed answers, among which true and false are called yes and no."""

    def _length(self, option: str) -> int:
        return 1

    def _write(self, inputs: Inputs) -> list[str]:
        """The likeliest of the fixed answers."""
        names = {int(number): str(name) for name, number in self._network.config.label2id.items()}
        return [names[number] for number in self._network(**inputs).logits.argmax(dim=-1).tolist()]

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        answers = {str(label).lower(): int(i) for label, i in self._network.config.label2id.items()}
        answers = {"true": answers.get("yes", -1), "false": answers.get("no", -1)} | answers
        lacking = {o for prompt in prompts for o in prompt.options if answers.get(o.lower(), -1) < 0}
        if lacking:
            raise UserError(
                f"'{self.name}' has no answer '{min(lacking)}': it chooses among {len(answers)} fixed ones."
            )
        logp = self._network(**inputs).logits.float().log_softmax(-1)
        return [[float(logp[row, answers[o.lower()]]) for o in prompt.options] for row, prompt in enumerate(prompts)]
