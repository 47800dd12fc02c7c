"""Options stand in their sentence as running text would have them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.reference import CausalReference, MaskedReference
from tests.tiny import ALL, CAUSAL, COLORS, MASKED, save_tiny
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.models.hf.logits import MANY as MANY_TOKENS
from seesay.models.hf.logits import ranks
from seesay.models.hf.tokenization import MANY_OPTIONS, document_start, tokenize_options
from seesay.questions import Prompt, Question, Template

Folder = Callable[[str], Path]


def pieces(folder: Path, text: str, *options: str) -> list[list[str]]:
    """The tokens that spell each option in the text."""
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    return [
        tokenizer.convert_ids_to_tokens(list(s.ids[s.start : s.stop]))
        for s in tokenize_options("tiny", tokenizer, [Prompt(text, options)])[0]
    ]


@pytest.mark.parametrize(
    ("kind", "red", "light_blue"),
    [
        ("bert", ["red"], ["light", "blue"]),
        ("roberta", ["Ġred"], ["Ġlight", "Ġblue"]),
        ("modernbert", ["Ġred"], ["Ġlight", "Ġblue"]),
        ("gpt2", ["Ġred"], ["Ġlight", "Ġblue"]),
        ("albert", ["▁red"], ["▁light", "▁blue"]),
        ("deberta-v2", ["▁red"], ["▁light", "▁blue"]),
        ("llama", ["▁red"], ["▁light", "▁blue"]),
    ],
)
def test_words_in_mid_sentence(
    kind: str, red: list[str], light_blue: list[str], tiny_folder: Folder
) -> None:
    assert pieces(tiny_folder(kind), "The sky is [MASK] today.", "red", "light blue") == [
        red,
        light_blue,
    ]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("roberta", ["Ġ", "5"]),
        ("gpt2", ["Ġ", "5"]),
        ("albert", ["▁", "5"]),
        ("deberta-v2", ["▁", "5"]),
        ("llama", ["▁", "5"]),
    ],
)
def test_a_space_that_is_its_own_token_belongs_to_the_option(
    kind: str, found: list[str], tiny_folder: Folder
) -> None:
    assert pieces(tiny_folder(kind), "It is [MASK] .", "5") == [found]


def test_a_slot_at_the_start_has_no_space_before_it(tiny_folder: Folder) -> None:
    assert "".join(pieces(tiny_folder("roberta"), "[MASK] is it.", "Red")[0]) == "Red"
    assert pieces(tiny_folder("llama"), "[MASK] is it.", "Red") == [["▁Red"]]
    assert pieces(tiny_folder("bert"), "[MASK] is it.", "Red") == [["red"]]


def test_an_option_that_opens_the_sentence_is_written_like_one() -> None:
    question = Question("1", {"thing": "sky"}, ("blue", "light blue"), {"blue": 1.0}, "sky")
    prompt = Template("first", "[MASK] is the color of the {thing}.").ask(question)
    assert prompt.options == ("Blue", "Light blue")


@pytest.mark.parametrize(
    ("kind", "separator"), [("bert", "[SEP]"), ("roberta", "</s>"), ("albert", "[SEP]")]
)
def test_the_separator_is_the_models_own(kind: str, separator: str, tiny_folder: Folder) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_folder(kind))
    [[spelt]] = tokenize_options(
        "tiny", tokenizer, [Prompt("What color? [SEP] Answer: [MASK].", ("red",))]
    )
    assert list(spelt.ids).count(tokenizer.convert_tokens_to_ids(separator)) == 2
    assert tokenizer.unk_token_id not in spelt.ids


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_model_without_separator_reads_nothing_there(kind: str, tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder(kind)))
    with_it, without = model.answer(
        [Prompt(f"What color? {sep}Answer: [MASK].", ("red", "blue")) for sep in ("[SEP] ", "")]
    )
    assert with_it == without


@pytest.mark.parametrize("kind", ["bert", "albert", "deberta-v2", "t5"])
def test_an_option_that_becomes_unknown_is_refused(kind: str, tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder(kind)))
    with pytest.raises(UserError, match="cannot write the option '綠'"):
        model.answer([Prompt("The sky is [MASK].", ("red", "綠"))])


@pytest.mark.parametrize("kind", ALL)
def test_an_empty_option_is_refused(kind: str, tiny_folder: Folder) -> None:
    with pytest.raises(UserError, match="cannot write the option ''"):
        load_model(str(tiny_folder(kind))).answer([Prompt("The sky is [MASK].", ("red", ""))])


def test_bytes_write_what_words_cannot(tiny_folder: Folder) -> None:
    reference = CausalReference(tiny_folder("llama"))
    [scores] = load_model(str(tiny_folder("llama"))).answer(
        [Prompt("The sky is [MASK].", ("綠", "naïve", "🍎"))]
    )
    expected = [reference.given("The sky is", f" {option}.") for option in ("綠", "naïve", "🍎")]
    assert scores.logp == pytest.approx(expected, abs=1e-5, rel=1e-6)


@pytest.mark.parametrize("kind", ["bert", "roberta", "albert"])
def test_unicode_before_the_slot_moves_nothing(kind: str, tiny_folder: Folder) -> None:
    spelt = pieces(tiny_folder(kind), "e\u0301 ﬁ 🍎🍏 ﷺ İstanbul: it is [MASK] today.", *COLORS)
    plain = pieces(tiny_folder(kind), "it is [MASK] today.", *COLORS)
    assert spelt == plain


@pytest.mark.parametrize("kind", ["gpt2", "mamba"])
def test_options_that_begin_alike_do_not_disturb_each_other(kind: str, tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder(kind)), ModelOptions(scope="option"))
    nested = ("blue", "blue green", "blue green red", "blue")
    [together] = model.answer([Prompt("It is [MASK]", nested)])
    alone = [model.answer([Prompt("It is [MASK]", (option,))])[0].logp[0] for option in nested]
    assert together.logp == pytest.approx(alone, abs=1e-5)
    assert together.logp[0] == together.logp[3] > together.logp[1] > together.logp[2]
    assert together.tokens == (1, 2, 3, 1)


@pytest.mark.parametrize("kind", CAUSAL)
def test_without_a_rest_both_scopes_are_one(kind: str, tiny_folder: Folder) -> None:
    prompts = [Prompt("The color of the sky is [MASK]", (*COLORS, "turquoise"))]
    folder = str(tiny_folder(kind))
    sentence, option = (
        load_model(folder, ModelOptions(scope=scope)).answer(prompts)[0]
        for scope in ("sentence", "option")
    )
    assert sentence.logp == pytest.approx(option.logp, abs=1e-5)


def test_a_text_that_tokenizers_close_ends_with_the_option_all_the_same(
    tiny_folder: Folder, tmp_path: Path
) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(
        tiny_folder("llama"), add_bos_token=True, add_eos_token=True
    )
    assert tokenizer("red")["input_ids"][-1] == tokenizer.eos_token_id
    model: Any = CausalReference(tiny_folder("llama")).model
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    prompts = [Prompt("The sky is [MASK].", ("red", "blue"))]
    option = ModelOptions(scope="option")
    assert load_model(str(tmp_path), option).answer(prompts) == load_model(
        str(tiny_folder("llama")), option
    ).answer(prompts)


@pytest.mark.parametrize("kind", MASKED)
def test_ranks_count_the_whole_vocabulary(kind: str, tiny_folder: Folder) -> None:
    reference = MaskedReference(tiny_folder(kind))
    [scores] = load_model(str(tiny_folder(kind))).answer(
        [Prompt("I saw a [MASK] sky", (*COLORS, "light blue"))]
    )
    assert scores.rank is not None
    slot = sorted(reference.slot("I saw a [MASK] sky").tolist(), reverse=True)
    for logp, rank in zip(scores.logp[:-1], scores.rank, strict=False):
        assert slot[rank - 1] == pytest.approx(logp, abs=1e-5)
    assert scores.rank[-1] == 0


MANY = (
    *COLORS,
    "light blue",
    "3d",
    "t-shirt",
    "o'clock",
    "x",
    *(f"made{color}" for color in COLORS),
    *COLORS[0],
)
BEFORE = (
    "",
    "An apple is ",
    "The sky is ",
    "It usually is ",
    "it: an apple (",
    "What color of? An apple is? Answer: ",
)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("after", [".", "", " and a banana.", "ly so"])
def test_many_options_become_what_each_becomes_alone(
    kind: str, after: str, tiny_folder: Folder
) -> None:
    """Lists of options are tokenized once per context and put together in further sentences."""
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_folder(kind))
    options = tuple(dict.fromkeys((*MANY, *map(str, range(20)))))
    assert len(options) > MANY_OPTIONS
    for before in (*BEFORE, *reversed(BEFORE)):
        for rest in (True, False):
            text = f"{before}[MASK]{after}"
            together = tokenize_options("tiny", tokenizer, [Prompt(text, options)], rest=rest)[0]
            alone = [
                tokenize_options("tiny", tokenizer, [Prompt(text, (option,))], rest=rest)[0][0]
                for option in options
            ]
            assert together == alone, (before, after)


@pytest.mark.parametrize("tokens", [MANY_TOKENS - 1, MANY_TOKENS, 100])
def test_ranks_count_what_scores_at_least_as_high(tokens: int) -> None:
    # many ties
    logits = torch.randint(0, 60, (200,), generator=torch.Generator().manual_seed(tokens)).float()
    selected = torch.arange(tokens)
    assert ranks(logits, selected) == [
        sum(other >= logits[i] for other in logits.tolist()) for i in range(tokens)
    ]


def word_level(folder: Path, *, unk: str | None, named: bool) -> Path:
    """A tiny Llama that reads whole words in small letters, of which it knows a few."""
    names = ["<s>", "</s>", "<unk>", "a", "is", "the", "ball", "red", "blue"]
    algorithm = models.WordLevel({name: i for i, name in enumerate(names)}, unk_token=unk or "none")
    core = Tokenizer(algorithm)
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"bos_token": "<s>", "eos_token": "</s>"}
    if named:
        special["unk_token"] = "<unk>"
    save_tiny("llama", folder)
    for file in folder.glob("*token*"):
        file.unlink()
    PreTrainedTokenizerFast(tokenizer_object=core, **special).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("named", [True, False])
def test_an_option_that_becomes_an_unnamed_unknown_is_refused(tmp_path: Path, named: bool) -> None:
    """Also where the tokenizer names no unknown token and writes one all the same."""
    folder = word_level(tmp_path / "model", unk="<unk>", named=named)
    if not named:
        assert AutoTokenizer.from_pretrained(folder).unk_token is None
    model = load_model(str(folder))
    with pytest.raises(UserError, match="cannot write the option 'mauve'"):
        model.answer([Prompt("the ball is [MASK]", ("red", "mauve"))])


@pytest.mark.parametrize("named", [True, False])
def test_a_thing_that_becomes_unknown_is_noted(tmp_path: Path, named: bool) -> None:
    model = load_model(str(word_level(tmp_path / "model", unk="<unk>", named=named)))
    model.answer([Prompt("the ball is [MASK]", ("red", "blue"))])
    assert model.notes() == []
    model.answer([Prompt("the zebra is [MASK]", ("red", "blue"))])
    model.answer([Prompt("the gnu is [MASK]", ("red", "blue"))])
    (note,) = model.notes()
    assert "cannot write some words of the questions" in note
    assert "'the zebra is [MASK]'" in note


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_other_families_note_it_too(kind: str, tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder(kind)))
    model.answer([Prompt("The ☃ is [MASK].", ("red", "blue"))])
    assert any("cannot write some words" in note for note in model.notes())


@pytest.mark.parametrize("kind", ["bert", "t5", "word level"])
def test_options_that_become_the_same_tokens_are_refused(
    kind: str, tiny_folder: Folder, tmp_path: Path
) -> None:
    if kind == "word level":
        folder = word_level(tmp_path / "model", unk="<unk>", named=True)
    else:
        folder = tiny_folder(kind)
    model = load_model(str(folder))
    same = "'red' and 'Red' with the same tokens"
    with pytest.raises(UserError, match=same):
        model.answer([Prompt("the ball is [MASK]", ("red", "blue", "Red"))])
    many = ("red", *(f"blue {'a ' * i}ball" for i in range(MANY_OPTIONS)), "Red")
    with pytest.raises(UserError, match=same):
        model.answer([Prompt("the ball is [MASK]", many)])


def test_sentences_that_become_the_same_tokens_are_refused(tiny_folder: Folder) -> None:
    model = load_model(str(tiny_folder("bert")))
    with pytest.raises(UserError, match="with the same tokens"):
        model.answer([Prompt("[MASK]", ("The ball is red.", "the ball is red."))])
    with pytest.raises(UserError, match=r"cannot write the option 'The ☃ is red\.'"):
        model.answer([Prompt("[MASK]", ("The ball is red.", "The ☃ is red."))])


def test_a_tokenizer_that_raises_is_one_sentence(tmp_path: Path) -> None:
    """At the trial of the loader, or at the first word that it does not know."""
    folder = word_level(tmp_path / "model", unk=None, named=False)
    with pytest.raises(UserError, match=r"The tokenizer of '.*model' fails on a text: .*WordLevel"):
        load_model(str(folder))


def test_a_tokenizer_that_raises_later_is_one_sentence(
    tiny_folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("gpt2", "bert", "t5"):
        model: Any = load_model(str(tiny_folder(kind)))

        class PanicException(BaseException):
            """As Rust's tokenizers raise it."""

        def panic(*_: object, **__: object) -> None:
            raise PanicException("index out of bounds")

        monkeypatch.setattr(type(model._tokenizer), "__call__", panic)
        with pytest.raises(UserError, match=r"The tokenizer of '.*' fails on a text: index out of"):
            model.answer([Prompt("the ball is [MASK]", ("red", "blue"))])
        monkeypatch.undo()


def byte_pairs(*special: str, **names: str) -> PreTrainedTokenizerFast:
    """A tokenizer that writes no special token by itself, with these names for some."""
    core = Tokenizer(models.BPE({"a": 0}, []))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **names)
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    return tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "start"),
    [
        # GPT-2, Pythia and SmolLM2 have one token for both
        (byte_pairs(bos_token="<|endoftext|>", eos_token="<|endoftext|>"), "<|endoftext|>"),
        # SmolLM2-Instruct: the tokens of the chat took the names
        (
            byte_pairs("<|endoftext|>", bos_token="<|im_start|>", eos_token="<|im_end|>"),
            "<|endoftext|>",
        ),
        # Qwen2.5-Instruct
        (byte_pairs("<|endoftext|>", eos_token="<|im_end|>"), "<|endoftext|>"),
        # Gemma and Llama as GGUF files, whose tokenizers may leave the token out
        (byte_pairs(bos_token="<bos>", eos_token="<eos>"), "<bos>"),
        (byte_pairs(eos_token="</s>"), "</s>"),
    ],
)
def test_documents_start_as_they_did_in_training(
    tokenizer: PreTrainedTokenizerFast, start: str
) -> None:
    assert document_start(tokenizer) == tokenizer.convert_tokens_to_ids(start)


def test_a_tokenizer_that_begins_texts_knows_best(tiny_folder: Folder) -> None:
    """Llama's, even if its vocabulary had a token of the other name."""
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_folder("llama"))
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|endoftext|>"]})
    assert document_start(tokenizer) == tokenizer.bos_token_id


def test_the_signature_says_what_stands_before_a_text(tiny_folder: Folder) -> None:
    gpt2 = load_model(str(tiny_folder("gpt2")))
    llama = load_model(str(tiny_folder("llama")))
    assert (gpt2.beginning, llama.beginning) == ("none/endoftext", "s")
    assert gpt2.describe_scoring().startswith("bos:endoftext|eos:no|")
    assert (gpt2.describe_encoding(), llama.describe_encoding()) == ("bos:endoftext", "bos:s")
    assert load_model("baseline:uniform").beginning == ""


def test_vectors_begin_as_scored_texts_do(tiny_folder: Folder, tmp_path: Path) -> None:
    """A chat model calls the beginning of a turn its beginning of a text, which it is not."""
    plain, chat = tiny_folder("gpt2"), tmp_path / "chat"
    shutil.copytree(plain, chat)
    tokenizer: Any = AutoTokenizer.from_pretrained(plain)
    tokenizer.bos_token = "z"
    tokenizer.save_pretrained(chat)
    model = load_model(str(chat))
    assert model.describe_encoding() == "bos:endoftext"
    vectors = load_model(str(plain)).encode(["The cat sleeps."])
    np.testing.assert_allclose(model.encode(["The cat sleeps."]), vectors, atol=1e-6)
