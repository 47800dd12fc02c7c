"""Vision-language models of transformers, asked about a picture: yes or no, true or false, by
log-probability.

Three ways to answer: a model generates text (LLaVA, SmolVLM, Qwen-VL, …), decodes an answer to a
question (BLIP), or classifies among fixed answers (ViLT). A reply may be written "yes", "Yes", or
either after a space: their probabilities are added up.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from seesay.errors import UserError
from seesay.models.base import GREEDY, TEXT_AND_PICTURES, Model, Reply, Sampling
from seesay.models.batches import compute_batches
from seesay.models.chat import ChatFormat, Message, conversation
from seesay.models.pictures import open_picture, picture_or_blank, question
from seesay.models.vision.processor import Inputs, Processor
from seesay.questions import Prompt, Scores

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

T = TypeVar("T")
PICTURES = 8  # in a batch, unless the user says otherwise
MAX_NEW_TOKENS = 20  # of a free answer


class VisionModel(Model):
    """What all three share: pictures are opened, and the probabilities of a reply's spellings are
    added up."""

    family = "vision"
    accepts = TEXT_AND_PICTURES
    scope = "reply"
    padding = "right"

    def __init__(
        self,
        name: str,
        network: Any,
        processor: Processor,
        fingerprint: str,
        batch_size: int | None,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._network = network
        self._processor = processor
        self.prompts_per_batch = batch_size or PICTURES
        processor.tokenizer.padding_side = self.padding

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability of every option as the reply to its question about its picture."""
        return self._apart(prompts, self._reply)

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """Free answers to every question about its picture."""
        return self._apart(prompts, partial(self._free, sampling=sampling))

    def _apart(
        self,
        prompts: Sequence[Prompt],
        ask: Callable[[Sequence[Image | None], Sequence[Prompt]], list[T]],
    ) -> list[T]:
        """Questions with a picture and those without in batches of their own."""

        def ask_some(rows: Sequence[int]) -> list[T]:
            part = [prompts[row] for row in rows]
            return ask([self._open(prompt) for prompt in part], part)

        shown = [row for row, prompt in enumerate(prompts) if prompt.picture is not None]
        others = [row for row, prompt in enumerate(prompts) if prompt.picture is None]
        return compute_batches(filter(None, (shown, others)), ask_some)

    def _open(self, prompt: Prompt) -> Image | None:
        """The prompt's picture; a gray one where there is none."""
        return picture_or_blank(prompt.picture, self)

    def describe(self, pictures: Sequence[Image], prompts: Sequence[Prompt]) -> list[str]:
        """The likeliest answers about pictures that are open already, as texts."""
        return [
            reply.text
            for (reply,) in self._free(pictures, prompts, Sampling(max_tokens=MAX_NEW_TOKENS))
        ]

    def _free(
        self, pictures: Sequence[Image | None], prompts: Sequence[Prompt], sampling: Sampling
    ) -> list[tuple[Reply, ...]]:
        import torch

        with torch.inference_mode():
            return self._write(self._inputs(pictures, prompts), sampling)

    def _write(self, inputs: Inputs, sampling: Sampling) -> list[tuple[Reply, ...]]:
        """Continue every row; only the new tokens are text."""
        from seesay.models.hf.generation import generate_replies

        return generate_replies(self._network, self._processor.tokenizer, inputs, sampling)

    def _pictures(self, picture: Image | None, prompt: Prompt) -> list[Image]:
        """The pictures that belong to a prompt: those of its examples, then its own."""
        if prompt.shots:
            raise UserError(
                f"'{self.name}' looks at one picture at a time: ask it without --shots."
            )
        return [] if picture is None else [picture]

    def _reply(self, pictures: Sequence[Image | None], prompts: Sequence[Prompt]) -> list[Scores]:
        import torch

        with torch.inference_mode():
            rows = self._score(self._inputs(pictures, prompts), prompts)
        return [
            Scores(
                tuple(row),
                tuple(self._length(o) for o in prompt.options),
                tuple(map(len, prompt.options)),
            )
            for row, prompt in zip(rows, prompts, strict=True)
        ]

    def _inputs(self, pictures: Sequence[Image | None], prompts: Sequence[Prompt]) -> Inputs:
        pairs = list(zip(pictures, prompts, strict=True))
        texts = [self._ask(prompt, picture is not None) for picture, prompt in pairs]
        inputs = self._processor.inputs(
            [self._pictures(picture, prompt) for picture, prompt in pairs], texts
        )
        return {k: v.to(self._network.device) for k, v in inputs.items()}

    def _ask(self, prompt: Prompt, shown: bool) -> str:
        return question(prompt.asked)

    def _length(self, option: str) -> int:
        return min(map(len, self._processor.spellings(option)))

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Token by token: the next token's distribution after each beginning that some spelling
        has."""
        spellings = {o: self._processor.spellings(o) for prompt in prompts for o in prompt.options}
        beginnings = sorted(
            {ids[:end] for ways in spellings.values() for ids in ways for end in range(len(ids))},
            key=len,
        )
        after = {beginning: self._next(inputs, beginning) for beginning in beginnings}

        def reply(row: int, option: str) -> float:
            ways = [
                sum(float(after[i[:n]][row, i[n]]) for n in range(len(i)))
                for i in spellings[option]
            ]
            top = max(ways)
            return top + math.log(sum(math.exp(way - top) for way in ways))

        return [
            [reply(row, option) for option in prompt.options] for row, prompt in enumerate(prompts)
        ]

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        raise NotImplementedError


class GenerativeModel(VisionModel):
    """Models that continue a text with pictures in it; padded on the left, so that every row ends
    with text."""

    padding = "left"
    _system: str | None = None

    def through_chat(self, system: str | None = None) -> GenerativeModel:
        """The same model, which always uses its chat template, with a system text."""
        if self._processor.template is None:
            raise UserError(f"'{self.name}' has no chat template: ask it without --chat.")
        chatting = copy.copy(self)
        chatting._system = system
        chatting.chat = chatting._format.digest
        return chatting

    @property
    def _format(self) -> ChatFormat:
        return ChatFormat(self._processor.tokenizer, str(self._processor.template), self._system)

    def _open(self, prompt: Prompt) -> Image | None:
        if prompt.picture is None:
            return None
        return open_picture(prompt.picture, self.name)

    def _pictures(self, picture: Image | None, prompt: Prompt) -> list[Image]:
        if prompt.shots and self._processor.template is None:
            return super()._pictures(picture, prompt)
        examples = [
            open_picture(shot.picture, self.name)
            for shot in prompt.shots
            if shot.picture is not None
        ]
        return [*examples, *([] if picture is None else [picture])]

    def _ask(self, prompt: Prompt, shown: bool) -> str:
        if self._processor.template is None:
            text = question(prompt.asked)
            if shown:
                token = getattr(self._processor.combined, "image_token", None) or ""
            else:
                token = ""
            if token:
                return f"{token}\n{text} Answer:"
            return f"{text} Answer:"
        return self._format.render(self._messages(prompt, shown), fixed=self.chat is not None)

    def _messages(self, prompt: Prompt, shown: bool) -> list[Message]:
        """The conversation with its pictures; every text is a part, since templates for pictures
        expect parts."""

        def turn(text: str, picture: str | None) -> list[Message]:
            return [
                *([{"type": "image"}] if picture is not None else []),
                {"type": "text", "text": question(text)},
            ]

        own = (prompt.picture or "open already") if shown else None
        messages = conversation(replace(prompt, picture=own), self._system, turn)
        for message in messages:
            if isinstance(message["content"], str):
                message["content"] = [{"type": "text", "text": message["content"]}]
        return messages

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        import torch

        shape = inputs["input_ids"].shape
        longer = dict(inputs)
        for name, tensor in inputs.items():
            if beginning and tensor.shape[:2] == shape and tensor.dim() == 2:
                last = {"input_ids": beginning, "attention_mask": (1,) * len(beginning)}
                more = torch.tensor(
                    last.get(name, (0,) * len(beginning)), device=tensor.device, dtype=tensor.dtype
                )
                longer[name] = torch.cat([tensor, more.expand(shape[0], -1)], dim=1)
        if "logits_to_keep" in inspect.signature(self._network.forward).parameters:
            longer["logits_to_keep"] = 1  # type: ignore[assignment]
        return self._network(**longer).logits[:, -1].float().log_softmax(-1)  # type: ignore[no-any-return]


def _rows_by_length(inputs: Inputs) -> list[list[int]]:
    """The rows with questions of one length together."""
    lengths = inputs["attention_mask"].sum(dim=1).tolist()
    return [
        [row for row, own in enumerate(lengths) if own == length] for length in sorted(set(lengths))
    ]


def _unpadded(inputs: Inputs, rows: Sequence[int]) -> Inputs:
    """The inputs of rows whose questions have one length, which need no padding."""
    part = {name: tensor[list(rows)] for name, tensor in inputs.items()}
    length = int(part["attention_mask"][0].sum())
    return part | {name: part[name][:, :length] for name in ("input_ids", "attention_mask")}


class BlipModel(VisionModel):
    """BLIP: a decoder writes the answer, attending to the question as encoded with the picture. It
    attends to padding too, whatever the mask says, so that questions of one length are read
    together."""

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        score = super()._score

        def score_some(rows: Sequence[int]) -> list[list[float]]:
            return score(_unpadded(inputs, rows), [prompts[row] for row in rows])

        return compute_batches(_rows_by_length(inputs), score_some)

    def _write(self, inputs: Inputs, sampling: Sampling) -> list[tuple[Reply, ...]]:
        from seesay.models.hf.generation import replies_of, sampling_arguments, seeded

        def write_some(rows: Sequence[int]) -> list[tuple[Reply, ...]]:
            part = _unpadded(inputs, rows)
            with seeded(sampling, part["input_ids"]):
                tokens = self._network.generate(**part, **sampling_arguments(sampling))
            new = tokens[:, 1:]  # without the token that the decoder starts from
            end = self._network.config.text_config.sep_token_id
            return replies_of(self._processor.tokenizer, new, sampling, {end})

        return compute_batches(_rows_by_length(inputs), write_some)

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        import torch

        network = self._network
        if "states" not in inputs:
            picture = network.vision_model(pixel_values=inputs["pixel_values"])[0]
            encoded = network.text_encoder(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                encoder_hidden_states=picture,
            )
            inputs["states"] = encoded[0]
        states = inputs["states"]
        prefix = torch.tensor([network.decoder_start_token_id, *beginning], device=states.device)
        logits = network.text_decoder(
            input_ids=prefix.expand(len(states), -1), encoder_hidden_states=states
        ).logits
        return logits[:, -1].float().log_softmax(-1)  # type: ignore[no-any-return]


class ViltModel(VisionModel):
    """ViLT: one score for each of its fixed answers, among which true and false are called yes and
    no."""

    def _length(self, option: str) -> int:
        return 1

    def _write(self, inputs: Inputs, sampling: Sampling) -> list[tuple[Reply, ...]]:
        """The likeliest of the fixed answers."""
        if sampling.temperature:
            raise UserError(
                f"'{self.name}' has fixed answers, which are not sampled: leave out --temperature."
            )
        names = {int(number): str(name) for name, number in self._network.config.label2id.items()}
        return [
            (Reply(names[number]),)
            for number in self._network(**inputs).logits.argmax(dim=-1).tolist()
        ]

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        answers = {str(label).lower(): int(i) for label, i in self._network.config.label2id.items()}
        answers = {"true": answers.get("yes", -1), "false": answers.get("no", -1)} | answers
        lacking = {
            o for prompt in prompts for o in prompt.options if answers.get(o.lower(), -1) < 0
        }
        if lacking:
            raise UserError(
                f"'{self.name}' has no answer '{min(lacking)}': it chooses among {len(answers)} "
                "fixed ones."
            )
        logp = self._network(**inputs).logits.float().log_softmax(-1)
        return [
            [float(logp[row, answers[o.lower()]]) for o in prompt.options]
            for row, prompt in enumerate(prompts)
        ]
