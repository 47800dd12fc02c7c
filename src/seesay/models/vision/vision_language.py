"""Vision-language models of transformers, asked about a picture: yes or no, true or false, by log-probability.

Three ways to answer, found out from the model's own configuration: it continues a text (LLaVA, SmolVLM, Qwen-VL, …),
it decodes an answer to a question (BLIP), or it chooses among fixed answers (ViLT). A reply may be spelt "yes", "Yes",
or either after a space: their probabilities are added up.

Code from a model's repository never runs, and weights come from safetensors, unless the user says otherwise.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model
from seesay.models.vision.picture_prompt import Inputs, prepare_apart, prepare_together
from seesay.questions import Prompt, Scores

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

    from seesay.models.options import ModelOptions

PICTURES = 8
"""Pictures in a batch, unless the user says otherwise."""


def load_vision(rest: str, options: ModelOptions) -> VisionModel:
    """`vision:FOLDER` or `vision:HUB-ID`."""
    from seesay.models.hf.loading import aligned, on_hub, require_models

    if not rest:
        raise UserError("A vision-language model needs a folder or a Hub id: seesay probe vision:FOLDER.")
    require_models()
    import torch
    from transformers import AutoConfig, AutoModelForImageTextToText, AutoModelForVisualQuestionAnswering
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as CONTINUES,
    )
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_VISUAL_QUESTION_ANSWERING_MAPPING_NAMES as ANSWERS,
    )

    source = Path(rest).expanduser() if Path(rest).expanduser().is_dir() else rest
    if not isinstance(source, Path) and not on_hub(rest, options.revision):
        raise UserError(
            f"Could not load '{rest}': there is no such folder, and the model hub did not give it (offline, unknown or "
            "private?)."
        )
    where: dict[str, Any] = {"trust_remote_code": options.trust_remote_code, "revision": options.revision}
    device = options.device if options.device != "auto" else _device()
    try:
        config = AutoConfig.from_pretrained(source, **where)
        architecture = (config.architectures or [""])[0]
        if architecture.endswith("ForQuestionAnswering") and config.model_type in ANSWERS:
            kind: Any = AutoModelForVisualQuestionAnswering
        elif config.model_type in CONTINUES:
            kind = AutoModelForImageTextToText
        else:
            raise UserError(
                f"'{rest}' is a {config.model_type} ({architecture or 'no architecture named'}), which answers no "
                "questions about pictures. For a model of text leave 'vision:' away."
            )
        model, report = kind.from_pretrained(
            source,
            **where,
            dtype=torch.float32 if device == "cpu" else "auto",
            use_safetensors=None if options.allow_pickle else True,
            output_loading_info=True,
        )
        processor = Processor(source, where, config)
    except UserError:
        raise
    except Exception as error:  # other people's files fail in more ways than can be listed
        lines = str(error).strip().splitlines()
        raise UserError(f"Could not load '{rest}': {lines[0] if lines else type(error).__name__}") from error
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])
        raise UserError(f"'{rest}' lacks {len(missing)} of its weights ({missing[0]}, …): they would be random.")
    make = {"blip": Decodes, "vilt": Chooses}.get(config.model_type, Continues)
    if kind is AutoModelForImageTextToText:
        make = Continues
    fingerprint = _fingerprint(source, options.revision)
    return make(f"vision:{rest}", aligned(model).eval().to(device), processor, fingerprint, options.batch_size)


def _device() -> str:
    import torch

    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return accelerator.type if accelerator is not None else "cpu"


def _fingerprint(source: str | Path, revision: str | None) -> str:
    from seesay.models.hf.loading import commit, file_digest

    if isinstance(source, Path):
        return file_digest(p for pattern in ("*.safetensors", "*.bin", "*.json", "*.txt") for p in source.glob(pattern))
    return commit(source, revision)


class Processor:
    """Pictures and texts to tensors: by the model's combined processor, or by its two halves where that needs more."""

    def __init__(self, source: str | Path, where: dict[str, Any], config: Any) -> None:
        from transformers import AutoImageProcessor, AutoProcessor, AutoTokenizer

        self.config = config
        try:
            self.together: Any = AutoProcessor.from_pretrained(source, **where)
            self.tokenizer: Any = self.together.tokenizer
            self.images: Any = self.together.image_processor
        except (ImportError, ValueError, AttributeError, OSError, TypeError):
            # Video parts need torchvision, which a picture does not.
            self.together = None
            self.images = AutoImageProcessor.from_pretrained(source, **where)
            self.tokenizer = AutoTokenizer.from_pretrained(source, **where)
        self.template = getattr(self.together, "chat_template", None) or getattr(self.tokenizer, "chat_template", None)
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token

    def inputs(self, pictures: Sequence[Image], texts: Sequence[str]) -> Inputs:
        """Tensors by name."""
        if self.together is not None:
            return prepare_together(self.together, pictures, texts)
        return prepare_apart(self.images, self.tokenizer, self.config, pictures, texts)

    def spellings(self, option: str) -> list[tuple[int, ...]]:
        """The token ids of a reply, in each way that it may be written."""
        written = [f"{space}{word}" for space in ("", " ") for word in (option, option[:1].upper() + option[1:])]
        ids = [tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in written]
        known = dict.fromkeys(i for i in ids if i and self.tokenizer.unk_token_id not in i)
        if not known:
            raise UserError(f"The model's tokeniser cannot write the option {option!r}: it becomes an unknown token.")
        return list(known)


class VisionModel(Model):
    """What all three have in common: pictures are opened, batches are made, replies are summed over spellings."""

    family = "vision"
    accepts = TEXT_AND_PICTURES
    scope = "reply"
    padding = "right"

    def __init__(self, name: str, model: Any, processor: Processor, fingerprint: str, batch_size: int | None) -> None:
        self.name, self.fingerprint = name, fingerprint
        self._model, self._processor = model, processor
        self.prompts_per_batch = batch_size or PICTURES
        processor.tokenizer.padding_side = self.padding

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability of every option as the reply to its question about its picture."""
        return self.reply([open_picture(prompt.picture, self.name) for prompt in prompts], prompts)

    def reply(self, pictures: Sequence[Image], prompts: Sequence[Prompt]) -> list[Scores]:
        """The same, of pictures that are open already."""
        import torch

        with torch.inference_mode():
            inputs = self._processor.inputs(pictures, [self._ask(question(prompt)) for prompt in prompts])
            rows = self._score({k: v.to(self._model.device) for k, v in inputs.items()}, prompts)
        return [
            Scores(tuple(row), tuple(self._length(o) for o in prompt.options), tuple(map(len, prompt.options)))
            for row, prompt in zip(rows, prompts, strict=True)
        ]

    def _ask(self, text: str) -> str:
        return text

    def _length(self, option: str) -> int:
        return min(map(len, self._processor.spellings(option)))

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        """By steps: the next token's distribution after each beginning that some spelling has."""
        spelt = {o: self._processor.spellings(o) for prompt in prompts for o in prompt.options}
        beginnings = sorted({ids[:end] for ways in spelt.values() for ids in ways for end in range(len(ids))}, key=len)
        after = {beginning: self._next(inputs, beginning) for beginning in beginnings}

        def reply(row: int, option: str) -> float:
            ways = [sum(float(after[i[:n]][row, i[n]]) for n in range(len(i))) for i in spelt[option]]
            top = max(ways)
            return top + math.log(sum(math.exp(way - top) for way in ways))

        return [[reply(row, option) for option in prompt.options] for row, prompt in enumerate(prompts)]

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        raise NotImplementedError


class Continues(VisionModel):
    """Models that continue a text with pictures in it. Every row must end with its own last token."""

    padding = "left"

    def _ask(self, text: str) -> str:
        template = self._processor.template
        if template is None:
            token = getattr(self._processor.together, "image_token", None) or ""
            return f"{token}\n{text} Answer:" if token else f"{text} Answer:"
        talk = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": text}]}]
        return str(
            self._processor.tokenizer.apply_chat_template(
                talk, chat_template=template, add_generation_prompt=True, tokenize=False
            )
        )

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        import torch

        shape = inputs["input_ids"].shape
        longer = dict(inputs)
        for name, tensor in inputs.items():
            if beginning and tensor.shape[:2] == shape and tensor.dim() == 2:
                last = {"input_ids": beginning, "attention_mask": (1,) * len(beginning)}
                more = torch.tensor(last.get(name, (0,) * len(beginning)), device=tensor.device, dtype=tensor.dtype)
                longer[name] = torch.cat([tensor, more.expand(shape[0], -1)], dim=1)
        if "logits_to_keep" in inspect.signature(self._model.forward).parameters:
            longer["logits_to_keep"] = 1  # type: ignore[assignment]
        return self._model(**longer).logits[:, -1].float().log_softmax(-1)  # type: ignore[no-any-return]


class Decodes(VisionModel):
    """BLIP: a decoder writes the answer, looking at the question as read with the picture."""

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Questions of one length together: BLIP's decoder looks at padding, whatever the mask says."""
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        found: dict[int, list[float]] = {}
        for length in sorted(set(lengths)):
            rows = [row for row, own in enumerate(lengths) if own == length]
            part = {name: tensor[rows] for name, tensor in inputs.items()}
            part |= {name: part[name][:, :length] for name in ("input_ids", "attention_mask")}
            found |= dict(zip(rows, super()._score(part, [prompts[row] for row in rows]), strict=True))
        return [found[row] for row in range(len(prompts))]

    def _next(self, inputs: Inputs, beginning: tuple[int, ...]) -> torch.Tensor:
        import torch

        model = self._model
        if "states" not in inputs:
            seen = model.vision_model(pixel_values=inputs["pixel_values"])[0]
            read = model.text_encoder(
                input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], encoder_hidden_states=seen
            )
            inputs["states"] = read[0]
        states = inputs["states"]
        written = torch.tensor([model.decoder_start_token_id, *beginning], device=states.device).expand(len(states), -1)
        logits = model.text_decoder(input_ids=written, encoder_hidden_states=states).logits
        return logits[:, -1].float().log_softmax(-1)  # type: ignore[no-any-return]


class Chooses(VisionModel):
    """ViLT: one score for each of its fixed answers, among which true and false are called yes and no."""

    def _length(self, option: str) -> int:
        return 1

    def _score(self, inputs: Inputs, prompts: Sequence[Prompt]) -> list[list[float]]:
        known = {str(label).lower(): int(i) for label, i in self._model.config.label2id.items()}
        known = {"true": known.get("yes", -1), "false": known.get("no", -1)} | known
        lacking = {o for prompt in prompts for o in prompt.options if known.get(o.lower(), -1) < 0}
        if lacking:
            raise UserError(f"'{self.name}' has no answer '{min(lacking)}': it chooses among {len(known)} fixed ones.")
        logp = self._model(**inputs).logits.float().log_softmax(-1)
        return [[float(logp[row, known[o.lower()]]) for o in prompt.options] for row, prompt in enumerate(prompts)]


def question(prompt: Prompt) -> str:
    """What is asked, without the cue that a model of text needs before its answer."""
    return prompt.parts[0].rstrip().removesuffix("Answer:").rstrip()


def open_picture(path: str | None, name: str) -> Image:
    """A picture of somebody else's, in RGB."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise UserError("Pictures need an extra that is not installed: pip install 'seesay[scenes]'") from error
    if path is None:
        raise UserError(
            f"{name} answers questions about pictures: use it with a task that has some, such as malevic-pos."
        )
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except FileNotFoundError as error:
        raise UserError(f"There is no picture '{path}'.") from error
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        raise UserError(f"'{path}' is no picture that can be opened ({type(error).__name__}).") from error
