"""Vision-language models answer questions about pictures through the code that loads real ones."""

from __future__ import annotations

import json
import math
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from tests.models.vision.tiny_vision import KINDS, byte_tokenizer, save_tiny_vision
from tests.modules import needed

from seesay.errors import UserError
from seesay.models.base import GREEDY, Sampling
from seesay.models.options import ModelOptions
from seesay.models.pictures import open_picture, question
from seesay.models.server import load_vision_server
from seesay.models.server.vision import reply_scores
from seesay.models.vision import VisionModel, load_vision
from seesay.models.vision.processor import tiles
from seesay.models.vision.vision_language import MAX_NEW_TOKENS
from seesay.probes.generated import GeneratedModel
from seesay.questions import Prompt, Shot, after_shots

Folder = Callable[[str], Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    needed("PIL.Image")
    torch.set_num_threads(1)
    return cache(lambda kind: save_tiny_vision(kind, tmp_path_factory.mktemp(kind)))


@pytest.fixture
def prompts(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> list[Prompt]:
    """Three templates about each of eight pictures of a square on black."""
    from PIL import Image, ImageDraw

    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "vision-cache"))
    folder = tmp_path_factory.mktemp("pictures")
    requests = []
    for number, (color, size) in enumerate(product(("red", "blue", "green", "white"), (16, 80))):
        picture = Image.new("RGB", (128, 128))
        corners = (5 * number, 3 * number, 5 * number + size, 3 * number + size)
        ImageDraw.Draw(picture).rectangle(corners, fill=color)
        path = folder / f"{number}.png"
        picture.save(path)
        thing = f"the {color} square"
        requests += [
            Prompt(
                f"The {color} square is big. True or false? Answer: [MASK].",
                ("true", "false"),
                str(path),
            ),
            Prompt(f"Is {thing} big? Answer: [MASK].", ("yes", "no"), str(path)),
            Prompt(f"Is it true that {thing} is big? Answer: [MASK].", ("yes", "no"), str(path)),
        ]
    return requests


def load(folder: Path, **options: Any) -> VisionModel:
    model = load_vision(str(folder), ModelOptions(**options))
    assert isinstance(model, VisionModel)
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_answers_about_pictures(kind: str, folder: Folder, prompts: list[Prompt]) -> None:
    model = load(folder(kind))
    batches = model.plan(prompts)
    assert sorted(i for batch in batches for i in batch) == list(range(len(prompts)))
    messages = {
        i: scores
        for batch in batches
        for i, scores in zip(batch, model.answer([prompts[i] for i in batch]), strict=True)
    }
    for i, prompt in enumerate(prompts):
        assert len(messages[i].logp) == len(prompt.options)
        assert all(math.isfinite(x) and x < 0 for x in messages[i].logp)
        assert math.log(sum(math.exp(x) for x in messages[i].logp)) <= 1e-6
    # it looks at the question and at the picture
    assert len({messages[i].logp for i in range(len(prompts))}) > 8
    same_words = [messages[i].logp for i in range(1, len(prompts), 3)]
    assert np.ptp([x[0] for x in same_words]) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_free_answer_is_the_likeliest_token_by_token(
    kind: str, folder: Folder, prompts: list[Prompt]
) -> None:
    """The same together and alone, however long the questions, and what walking the scored
    distribution gives."""
    model = load(folder(kind))
    short = Sampling(max_tokens=MAX_NEW_TOKENS)
    together = [reply.text for (reply,) in model.generate(prompts[:5], short)]
    assert together == [model.generate([prompt], short)[0][0].text for prompt in prompts[:5]]
    if kind == "vilt":
        assert set(together) <= set(model._network.config.label2id)
        return
    tokenizer, written = model._processor.tokenizer, list[int]()
    with torch.inference_mode():
        inputs = model._inputs([open_picture(prompts[0].picture, "")], prompts[:1])
        while len(written) < MAX_NEW_TOKENS and tokenizer.eos_token_id not in written:
            written.append(int(model._next(dict(inputs), tuple(written))[0].argmax()))
    assert together[0] == tokenizer.decode(written, skip_special_tokens=True).strip()


@pytest.mark.parametrize("kind", KINDS)
def test_examples_bring_their_pictures(kind: str, folder: Folder, prompts: list[Prompt]) -> None:
    model = load(folder(kind))

    def scores(*pictures: str | None) -> tuple[float, ...]:
        shots = tuple(
            Shot(prompts[3].text, prompts[3].options, prompts[3].options[0], picture)
            for picture in pictures
        )
        text = after_shots(shots, prompts[0].text)
        return tuple(model.answer([replace(prompts[0], text=text, shots=shots)])[0].logp)

    if kind in ("blip", "vilt"):
        with pytest.raises(UserError, match="one picture at a time"):
            scores(prompts[3].picture)
        return
    seen = {scores(), scores(prompts[3].picture), scores(prompts[6].picture)}
    assert len(seen) == 3  # the example counts, and so does its picture
    assert model.through_chat("Look closely.").answer(prompts[:1]) != model.answer(prompts[:1])


@pytest.mark.parametrize("kind", KINDS)
def test_batches_do_not_matter(kind: str, folder: Folder, prompts: list[Prompt]) -> None:
    model = load(folder(kind))
    together = model.answer(prompts[:7])
    alone = [model.answer([prompt])[0] for prompt in prompts[:7]]
    for one, other in zip(together, alone, strict=True):
        assert one.logp == pytest.approx(other.logp, abs=2e-4)


def test_the_picture_matters(folder: Folder, prompts: list[Prompt]) -> None:
    for kind in ("llava", "blip", "smolvlm", "qwen2-vl"):
        model = load(folder(kind))
        one, other = (
            Prompt(prompts[0].text, prompts[0].options, p.picture) for p in (prompts[0], prompts[9])
        )
        assert model.answer([one])[0].logp != model.answer([other])[0].logp


def test_llava_by_the_models_own_forward(folder: Folder, prompts: list[Prompt]) -> None:
    """The sum over spellings of the probability that the model itself gives the reply."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    prompt = prompts[1]
    processor: Any = AutoProcessor.from_pretrained(folder("llava"))
    model: Any = AutoModelForImageTextToText.from_pretrained(
        folder("llava"), dtype=torch.float32
    ).eval()
    text = f"user: <image>\n{question(prompt.text)} assistant:"
    picture = open_picture(prompt.picture, "test")
    expected = []
    for option in prompt.options:
        total = 0.0
        for reply in {
            f"{space}{word}" for space in ("", " ") for word in (option, option.capitalize())
        }:
            length = len(processor.tokenizer(reply, add_special_tokens=False)["input_ids"])
            inputs = processor(images=picture, text=text + reply, return_tensors="pt")
            with torch.inference_mode():
                logp = model(**inputs).logits[0].log_softmax(-1)
            ids = inputs["input_ids"][0]
            total += math.exp(
                sum(float(logp[-length - 1 + n, ids[-length + n]]) for n in range(length))
            )
        expected.append(math.log(total))
    assert load(folder("llava")).answer([prompt])[0].logp == pytest.approx(expected, abs=1e-4)


def test_blip_by_the_models_own_loss(folder: Folder, prompts: list[Prompt]) -> None:
    from transformers import AutoProcessor, BlipForQuestionAnswering

    prompt = prompts[1]
    processor: Any = AutoProcessor.from_pretrained(folder("blip"))
    model: Any = BlipForQuestionAnswering.from_pretrained(
        folder("blip"), dtype=torch.float32
    ).eval()
    picture = open_picture(prompt.picture, "test")
    inputs = processor(images=picture, text=question(prompt.text), return_tensors="pt")
    expected = []
    for option in prompt.options:
        (token,) = processor.tokenizer(option, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            seen = model.vision_model(inputs["pixel_values"])[0]
            read = model.text_encoder(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                encoder_hidden_states=seen,
            )[0]
            logits = model.text_decoder(
                input_ids=torch.tensor([[5]]), encoder_hidden_states=read
            ).logits
        expected.append(float(logits[0, 0].log_softmax(-1)[token]))
    assert load(folder("blip")).answer([prompt])[0].logp == pytest.approx(expected, abs=1e-5)


def test_tiles_are_written_as_idefics3_writes_them() -> None:
    from PIL import Image
    from transformers import Idefics3Processor
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    marks = ["<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>"]
    tokenizer = byte_tokenizer(
        [*marks, *(f"<row_{r}_col_{c}>" for r in (1, 2) for c in (1, 2))], "<image>"
    )
    images = Idefics3ImageProcessorPil(
        size={"longest_edge": 128}, max_image_size={"longest_edge": 64}
    )
    processor: Any = Idefics3Processor(images, tokenizer, image_seq_len=4)
    messages = processor(images=[[Image.new("RGB", (200, 200))]], text=["a <image> b"])
    assert messages["input_ids"][0] == tokenizer(f"a {tiles(2, 2, 4)} b")["input_ids"]


def test_fingerprint_follows_the_weights(folder: Folder, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    copied = shutil.copytree(folder("blip"), tmp_path / "blip")
    before = load(copied).fingerprint
    assert before == load(folder("blip")).fingerprint
    weights = load_file(copied / "model.safetensors")
    first = next(iter(weights))
    save_file(
        {**weights, first: weights[first] + 1}, copied / "model.safetensors", {"format": "pt"}
    )
    assert load(copied).fingerprint != before


def test_what_cannot_answer_is_told_in_one_sentence(
    folder: Folder, prompts: list[Prompt], tmp_path: Path
) -> None:
    from transformers import BertConfig

    with pytest.raises(UserError, match="folder or a Hub id"):
        load_vision("", ModelOptions())
    with pytest.raises(UserError, match=r"holds no config\.json"):
        load(tmp_path)
    BertConfig(architectures=["BertForMaskedLM"]).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="no questions about pictures"):
        load(tmp_path)
    broken = shutil.copytree(folder("llava"), tmp_path / "llava")
    (broken / "model.safetensors").write_bytes(b"rubbish")
    with pytest.raises(UserError, match="could not be read"):
        load(broken)
    model = load(folder("blip"))
    text = prompts[0].text
    (tmp_path / "x.png").write_bytes(b"\x89PNG rubbish")
    for picture, reason in (
        (str(tmp_path / "none.png"), "no picture"),
        (str(tmp_path / "x.png"), "opened"),
    ):
        with pytest.raises(UserError, match=reason):
            model.answer([Prompt(text, ("yes", "no"), picture)])
    with pytest.raises(UserError, match="has some"):
        open_picture(None, "blip")
    with pytest.raises(UserError, match="cannot write"):
        model.answer([Prompt(text, ("да", "no"), prompts[0].picture)])
    with pytest.raises(UserError, match="no answer 'blue'"):
        load(folder("vilt")).answer([Prompt(text, ("blue", "no"), prompts[0].picture)])


class Server(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that looks at the picture by rule."""

    logprobs: ClassVar[bool] = True
    reply: ClassVar[str | None] = None
    requests: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).requests.append(body)
        content = body["messages"][0]["content"]
        yes = any(part["type"] == "image_url" for part in content)
        word = self.reply if self.reply is not None else "Yes" if yes else "No"
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": word}}
        if self.logprobs and body.get("logprobs"):
            top = [
                {"token": "Yes", "logprob": -0.2},
                {"token": " no", "logprob": -2.0},
                {"token": "True", "logprob": -3.0},
            ]
            choice["logprobs"] = {
                "content": [{"token": word, "logprob": -0.2, "top_logprobs": top}]
            }
        answer = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    needed("httpx")
    Server.logprobs, Server.reply, Server.requests = True, None, []
    running = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/v1"
    running.shutdown()


def test_server_with_log_probabilities(server: str, prompts: list[Prompt]) -> None:
    model = load_vision_server("any", ModelOptions(base_url=server))
    assert (model.name, model.scope) == ("openai-vision:any", "reply")
    messages = model.answer(prompts[:3])
    assert model.notes(messages) == []
    assert messages[0].logp == (
        -3.0,
        -3.0,
    )  # "True" begins true; false is not told and gets the lowest
    strange = replace(prompts[0], options=("round", "square"))
    assert model.notes(model.answer([strange])) == [
        "1 of 1 answers were none of the options and count as wrong."
    ]
    assert messages[1].logp == (-0.2, -2.0)
    pictures = [
        p["image_url"]["url"]
        for b in Server.requests
        for p in b["messages"][0]["content"]
        if p["type"] == "image_url"
    ]
    assert len(pictures) == 4
    assert all(url.startswith("data:image/png;base64,") for url in pictures)


def test_server_without_log_probabilities(server: str, prompts: list[Prompt]) -> None:
    Server.logprobs = False
    model = load_vision_server("any", ModelOptions(base_url=server))
    assert model.scope == "choice"
    yes_no = [prompt for prompt in prompts if prompt.options == ("yes", "no")][:2]
    assert all(scores.logp[0] > scores.logp[1] for scores in model.answer(yes_no))
    Server.reply = "I cannot tell."
    messages = model.answer(yes_no)
    assert "2 of 2 answers were none of the options" in model.notes(messages)[0]
    assert len(set(messages[0].logp)) == 1
    with pytest.raises(UserError, match="an address"):
        load_vision_server("any", ModelOptions())


def test_free_answers_of_a_server_are_counted_once(server: str, prompts: list[Prompt]) -> None:
    Server.reply = "I cannot tell."
    model = GeneratedModel(
        load_vision_server("any", ModelOptions(base_url=server, generates=True)), GREEDY
    )
    (note,) = model.notes(model.answer(prompts[:2]))
    assert note.startswith("2 of 2 replies named no option")


def test_reply_scores() -> None:
    assert reply_scores({"Y": -1.0, "N": -2.0}, ("yes", "no")) == [-1.0, -2.0]
    assert reply_scores({"yes": -1.0, "": -0.1, "!": -5.0}, ("yes", "no")) == [-1.0, -5.0]
    # "t" may begin either
    assert reply_scores({"t": -1.0, "x": -4.0}, ("true", "two")) == [-4.0, -4.0]


def test_models_that_look_at_pictures_say_so(folder: Folder) -> None:
    model = load(folder("blip"))
    assert model.abilities == {"answer", "generate"}
    assert "pictures" in model.accepts
