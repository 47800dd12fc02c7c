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

from seesay.errors import UserError, first_line
from seesay.models.base import GREEDY, TEXT_AND_PICTURES, Model, Reply, Sampling
from seesay.models.batches import compute_batches
from seesay.models.chat import ChatFormat, Message, conversation
from seesay.models.hf.tokenization import refuse_same_tokens
from seesay.models.pictures import open_picture, picture_or_blank, question
from seesay.models.vision.processor import Inputs, Processor
from seesay.questions import Prompt, Scores

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

T = TypeVar("T")
Ids = tuple[int, ...]
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
        self.parameters = int(network.num_parameters())
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

        # a processor wants pictures for all texts of a batch, or for none
        shown = [row for row, prompt in enumerate(prompts) if prompt.picture is not None]
        others = [row for row, prompt in enumerate(prompts) if prompt.picture is None]
        return compute_batches(filter(None, (shown, others)), ask_some)

    def _open(self, prompt: Prompt) -> Image | None:
        """The prompt's picture; a gray one where there is none."""
        return picture_or_blank(prompt.picture, self)

    def describe(self, pictures: Sequence[Image], prompts: Sequence[Prompt]) -> list[str]:
        """The likeliest answers about pictures that are open already, as texts."""
        replies = self._free(
            pictures,
            prompts,
            Sampling(max_tokens=MAX_NEW_TOKENS),
        )
        return [reply.text for (reply,) in replies]

    def _free(
        self,
        pictures: Sequence[Image | None],
        prompts: Sequence[Prompt],
        sampling: Sampling,
    ) -> list[tuple[Reply, ...]]:
        import torch

        with torch.inference_mode():
            return self._write(self._inputs(pictures, prompts), sampling)

    def _write(self, inputs: Inputs, sampling: Sampling) -> list[tuple[Reply, ...]]:
        """Continue every row; only the new tokens are text."""
        from seesay.models.hf.generation import generate_replies

        return generate_replies(
            self._network,
            self._processor.tokenizer,
            inputs,
            sampling,
        )

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
        scores = []
        for row, prompt in zip(rows, prompts, strict=True):
            tokens = tuple(self._length(option) for option in prompt.options)
            chars = tuple(map(len, prompt.options))
            scores.append(Scores(tuple(row), tokens, chars))
        return scores

    def _inputs(self, pictures: Sequence[Image | None], prompts: Sequence[Prompt]) -> Inputs:
        """Return what the network is given: each question, and the pictures that belong to it."""
        texts = []
        images = []
        for picture, prompt in zip(pictures, prompts, strict=True):
            texts.append(self._ask(prompt, picture is not None))
            images.append(self._pictures(picture, prompt))
        try:
            inputs = self._processor.inputs(images, texts)
        except UserError:
            raise
        except Exception as error:  # a processor is other people's code, and so are its settings
            raise UserError(
                f"The processor of '{self.name}' fails on a picture or its text: "
                f"{first_line(error)}"
            ) from error
        return {name: tensor.to(self._network.device) for name, tensor in inputs.items()}

    def _ask(self, prompt: Prompt, shown: bool) -> str:
        return question(prompt.question_text)

    def _length(self, option: str) -> int:
        return min(map(len, self._processor.spellings(option)))

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Return the log-probability of every option: P(option) = Σ P(spelling), where that of a
        spelling is the product over its tokens, each given the ones before it."""
        spellings: dict[str, list[Ids]] = {}
        beginnings: set[Ids] = set()
        for prompt in prompts:
            for option in prompt.options:
                spellings[option] = self._processor.spellings(option)
            # an option and another one in capitals may share all their spellings
            tokens = [tuple(sorted(spellings[option])) for option in prompt.options]
            refuse_same_tokens(self.name, prompt.options, tokens)
            for option in prompt.options:
                for ids in spellings[option]:
                    beginnings |= {ids[:end] for end in range(len(ids))}
        # one pass for each beginning that some spelling has, for all prompts and options
        next_logps = {ids: self._next(inputs, ids) for ids in sorted(beginnings, key=len)}

        def spelling_logp(row: int, ids: Ids) -> float:
            return sum(float(next_logps[ids[:i]][row, token]) for i, token in enumerate(ids))

        rows = []
        for row, prompt in enumerate(prompts):
            logps = []
            for option in prompt.options:
                logps.append(_log_sum([spelling_logp(row, ids) for ids in spellings[option]]))
            rows.append(logps)
        return rows

    def _next(self, inputs: Inputs, beginning: Ids) -> torch.Tensor:
        """Return the log-probabilities of the next token after each question and this beginning of
        a reply."""
        raise NotImplementedError


def _log_sum(logps: Sequence[float]) -> float:
    """Return log Σ exp, with the largest taken out so that no exponential underflows to 0."""
    top = max(logps)
    return top + math.log(sum(math.exp(logp - top) for logp in logps))


class GenerativeModel(VisionModel):
    """Models that continue a text with pictures in it; padded on the left, so that every row ends
    with text."""

    padding = "left"

    def through_chat(self, system: str | None = None) -> GenerativeModel:
        """The same model, which always uses its chat template, with a system text."""
        if self._processor.template is None:
            raise UserError(f"'{self.name}' has no chat template: ask it without --chat.")
        chatting = copy.copy(self)
        chatting.system = system
        chatting.chat = chatting._format.digest
        return chatting

    @property
    def _format(self) -> ChatFormat:
        return ChatFormat(
            self._processor.tokenizer,
            str(self._processor.template),
            self.system,
        )

    def _open(self, prompt: Prompt) -> Image | None:
        if prompt.picture is None:
            return None
        return open_picture(prompt.picture, self.name)

    def _pictures(self, picture: Image | None, prompt: Prompt) -> list[Image]:
        if prompt.shots and self._processor.template is None:
            return super()._pictures(picture, prompt)
        images = [
            open_picture(shot.picture, self.name)
            for shot in prompt.shots
            if shot.picture is not None
        ]
        if picture is not None:
            images.append(picture)
        return images

    def _ask(self, prompt: Prompt, shown: bool) -> str:
        if self._processor.template is None:
            text = f"{question(prompt.question_text)} Answer:"
            # without a template nothing else marks the place of the picture
            token = getattr(self._processor.combined, "image_token", None)
            if shown and token:
                text = f"{token}\n{text}"
            return text
        return self._format.render(self._messages(prompt, shown), fixed=self.chat is not None)

    def _messages(self, prompt: Prompt, shown: bool) -> list[Message]:
        """The conversation with its pictures; every text is a part, since templates for pictures
        expect parts."""

        def turn(text: str, picture: str | None) -> list[Message]:
            parts: list[Message] = [{"type": "text", "text": question(text)}]
            if picture is not None:
                parts.insert(0, {"type": "image"})
            return parts

        # a picture that the caller opened has no path, but a mark in the conversation all the same
        picture = (prompt.picture or "open already") if shown else None
        messages = conversation(
            replace(prompt, picture=picture),
            self.system,
            turn,
        )
        for message in messages:
            if isinstance(message["content"], str):
                message["content"] = [{"type": "text", "text": message["content"]}]
        return messages

    def _next(self, inputs: Inputs, beginning: Ids) -> torch.Tensor:
        import torch

        shape = inputs["input_ids"].shape
        length = len(beginning)
        # what is said of a text's tokens beside the mask (their types) is 0 for a reply's
        additions = {"input_ids": beginning, "attention_mask": (1,) * length}
        arguments: dict[str, Any] = dict(inputs)
        for name, tensor in inputs.items():
            if beginning and tensor.shape == shape:
                values = additions.get(name, (0,) * length)
                tail = torch.tensor(
                    values,
                    device=tensor.device,
                    dtype=tensor.dtype,
                )
                arguments[name] = torch.cat([tensor, tail.expand(shape[0], -1)], dim=1)
        # the vocabulary's logits at every token of a picture would take most of the memory
        if "logits_to_keep" in inspect.signature(self._network.forward).parameters:
            arguments["logits_to_keep"] = 1
        logits: torch.Tensor = self._network(**arguments).logits
        return logits[:, -1].float().log_softmax(-1)


def _rows_by_length(inputs: Inputs) -> list[list[int]]:
    """The rows with questions of one length together."""
    rows: dict[int, list[int]] = {}
    for row, length in enumerate(inputs["attention_mask"].sum(dim=1).tolist()):
        rows.setdefault(length, []).append(row)
    return [rows[length] for length in sorted(rows)]


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
            arguments = sampling_arguments(sampling)
            with seeded(sampling, part["input_ids"]):
                tokens = self._network.generate(**part, **arguments)
            return replies_of(
                self._processor.tokenizer,
                tokens[:, 1:],  # without the token that the decoder starts from
                sampling,
                {self._network.config.text_config.sep_token_id},
            )

        return compute_batches(_rows_by_length(inputs), write_some)

    def _next(self, inputs: Inputs, beginning: Ids) -> torch.Tensor:
        import torch

        network = self._network
        # kept with the inputs: every beginning of a reply attends to the same states
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
        prefixes = prefix.expand(len(states), -1)
        decoder = network.text_decoder
        logits: torch.Tensor = decoder(input_ids=prefixes, encoder_hidden_states=states).logits
        return logits[:, -1].float().log_softmax(-1)


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
        likeliest = self._network(**inputs).logits.argmax(dim=-1).tolist()
        return [(Reply(names[number]),) for number in likeliest]

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        labels = self._network.config.label2id.items()
        answers = {str(label).lower(): int(number) for label, number in labels}
        # an answer of its own that is called true goes before yes
        answers = {"true": answers.get("yes", -1), "false": answers.get("no", -1)} | answers
        options = {option for prompt in prompts for option in prompt.options}
        lacking = [option for option in options if answers.get(option.lower(), -1) < 0]
        if lacking:
            raise UserError(
                f"'{self.name}' has no answer '{min(lacking)}': it chooses among {len(answers)} "
                "fixed ones."
            )
        logps = self._network(**inputs).logits.float().log_softmax(-1)
        rows = []
        for prompt, row in zip(prompts, logps, strict=True):
            rows.append([float(row[answers[option.lower()]]) for option in prompt.options])
        return rows
