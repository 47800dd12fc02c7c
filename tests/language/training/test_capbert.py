"""CapBERT: a tiny one really learns, and what is saved is a model like any other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.language.training import grammar
from tests.language.training.interruption import have_same_weights, interrupt_and_resume
from tests.tiny import save_tiny
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    pipeline,
)

from seesay.errors import UserError
from seesay.language.training import capbert, lstm, masking
from seesay.language.training.captions import CaptionSplit
from seesay.models import load_model
from seesay.training import checkpoint, loop
from seesay.training.schedule import Schedule

CONFIG = capbert.CapBertConfig(
    layers=1,
    hidden=96,
    heads=2,
    vocabulary=400,
    tokens=256,
    rate=0.15,
    dropout=0.0,
    schedule=Schedule(epochs=12, learning_rate=3e-3, warmup=0.1, decay="linear"),
)
BRIEF = replace(CONFIG, schedule=CONFIG.schedule.override(epochs=1))


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> CaptionSplit:
    return grammar.captions(tmp_path_factory.mktemp("grammar") / "captions.txt")


@pytest.fixture(scope="module")
def trained(captions: CaptionSplit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capbert")
    capbert.pretrain(captions, folder, CONFIG, device="cpu")
    return folder


def state(folder: Path) -> dict[str, torch.Tensor]:
    return dict(AutoModelForMaskedLM.from_pretrained(folder).state_dict())


def same(a: Path, b: Path) -> bool:
    left, right = state(a), state(b)
    return left.keys() == right.keys() and all(
        torch.equal(left[name], right[name]) for name in left
    )


def test_learns_more_than_word_frequencies(captions: CaptionSplit, trained: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(trained)
    unigram = grammar.entropy(
        [piece for text in captions.held_out for piece in tokenizer.tokenize(text)]
    )
    first, *_, last = checkpoint.read_history(trained / "training")
    assert first["validation_loss"] > unigram
    assert last["validation_loss"] < unigram / 2
    assert last["validation_accuracy"] > 0.6 > first["validation_accuracy"]


def test_transformers_fills_slots_with_what_was_learnt(trained: Path) -> None:
    fill = pipeline("fill-mask", model=str(trained), device="cpu")
    for thing, colour in grammar.COLOURS.items():
        assert fill(f"a [MASK] {thing} under the wet dog")[0]["token_str"] == colour


def test_what_is_saved_gives_the_logits_of_the_best_weights(
    captions: CaptionSplit, trained: Path
) -> None:
    """The folder's model against the network of the training, filled with its best weights."""
    tokenizer = AutoTokenizer.from_pretrained(trained)
    network = capbert.new_network(CONFIG, len(tokenizer), tokenizer.pad_token_id)
    best = load_file(trained / "training" / checkpoint.BEST)
    for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
        tensor.data.copy_(best[f"network.{name}"])
    inputs = tokenizer(captions.held_out[:8], return_tensors="pt", padding=True)
    with torch.no_grad():
        expected = network.eval()(**inputs).logits
        loaded = AutoModelForMaskedLM.from_pretrained(trained)(**inputs).logits
    # transformers maps the file, which leaves its weights at other addresses: sums come out in
    # another order
    torch.testing.assert_close(expected, loaded, rtol=1e-5, atol=1e-5)


def test_probe_runs_on_the_trained_model(trained: Path) -> None:
    model = load_model(str(trained))
    assert model.family == "masked"


def test_a_finished_training_is_read_not_repeated(
    captions: CaptionSplit, trained: Path, tmp_path: Path
) -> None:
    before = state(trained)
    shown: list[loop.TrainingProgress] = []
    again = capbert.pretrain(captions, trained, CONFIG, device="cpu", progress=shown.append)
    assert not shown  # not one step is taken
    assert again.steps == checkpoint.read_history(trained / "training")[-1]["step"]
    assert all(torch.equal(before[name], tensor) for name, tensor in state(trained).items())


def test_interrupted_training_resumes(
    captions: CaptionSplit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(BRIEF, schedule=BRIEF.schedule.override(epochs=2, validate_every=3))
    train = partial(capbert.pretrain, captions, config=config, device="cpu")
    parts = tmp_path / "parts"
    train(tmp_path / "whole")
    # between two validations
    interrupt_and_resume(partial(train, parts), parts, monkeypatch, step=4)
    assert have_same_weights(parts, tmp_path / "whole")


STATED = replace(CONFIG, statements=0.5, rate=0.25)


def test_statements_teach_questions_that_captions_do_not_hold(
    captions: CaptionSplit, tmp_path: Path
) -> None:
    def right(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> loop.Measurements:
        inputs = tokenizer(
            [f"the color of this {thing} is [MASK]." for thing in grammar.COLOURS],
            return_tensors="pt",
        )
        logits = network(**inputs).logits[inputs["input_ids"] == tokenizer.mask_token_id]
        answers = tokenizer.convert_ids_to_tokens(logits.argmax(-1).tolist())
        return {
            "right": float(
                np.mean([a == b for a, b in zip(answers, grammar.COLOURS.values(), strict=True)])
            )
        }

    config = replace(STATED, statements=0.75, schedule=STATED.schedule.override(epochs=30))
    capbert.pretrain(captions, tmp_path, config, watch=right, device="cpu")
    history = [line["validation_right"] for line in checkpoint.read_history(tmp_path / "training")]
    assert max(history[:16]) < 0.5  # captions alone
    assert history[-1] == 1


def test_statements_replace_captions_in_the_second_half(
    captions: CaptionSplit, tmp_path: Path
) -> None:
    """An epoch keeps its number of texts; a batch of statements has one mask a text."""
    epochs: list[tuple[int, int]] = []
    original = masking.MaskedBatches.__len__

    def count(batches: masking.MaskedBatches) -> int:
        rows = np.concatenate(batches.batch_rows)
        epochs.append((len(rows), int((rows >= len(captions.train)).sum())))
        return original(batches)

    config = replace(STATED, schedule=STATED.schedule.override(epochs=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masking.MaskedBatches, "__len__", count)
        capbert.pretrain(captions, tmp_path, config, device="cpu")
    read = len(captions.train)
    of_an_epoch = list(dict.fromkeys(seen for seen in epochs if seen[0] > read / 2))
    assert of_an_epoch[0] == (read, 0)
    for texts, statements in of_an_epoch[1:]:
        assert statements == round(read / 2)
        assert abs(texts - read) < 4 * (read / 4) ** 0.5  # captions are drawn by lot, half of them


def test_resumed_training_draws_the_same_statements(
    captions: CaptionSplit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(now: loop.TrainingProgress) -> None:
        if now.done > 0.6:
            raise KeyboardInterrupt

    config = replace(STATED, schedule=STATED.schedule.override(epochs=2, validate_every=3))
    capbert.pretrain(captions, tmp_path / "whole", config, device="cpu")
    # every step is shown, so that it stops where it should
    monkeypatch.setattr(loop, "_REPORT_EVERY", 0.0)
    with pytest.raises(KeyboardInterrupt):
        capbert.pretrain(captions, tmp_path / "parts", config, device="cpu", progress=stop)
    capbert.pretrain(captions, tmp_path / "parts", config, device="cpu")
    assert same(tmp_path / "parts", tmp_path / "whole")


def test_the_untrained_twin_has_the_same_tokeniser(captions: CaptionSplit, tmp_path: Path) -> None:
    for epochs in (0, 1):
        config = replace(STATED, schedule=STATED.schedule.override(epochs=epochs))
        capbert.pretrain(captions, tmp_path / str(epochs), config, device="cpu")
    assert (tmp_path / "0/tokenizer.json").read_bytes() == (
        tmp_path / "1/tokenizer.json"
    ).read_bytes()


def test_captions_without_a_color_give_no_statements(
    captions: CaptionSplit, tmp_path: Path
) -> None:
    gray = CaptionSplit(
        [re.sub("|".join(grammar.COLOURS.values()), "nice", text) for text in captions.train],
        captions.held_out,
    )
    config = replace(STATED, schedule=STATED.schedule.override(epochs=1))
    capbert.pretrain(gray, tmp_path / "with", config, device="cpu")
    capbert.pretrain(gray, tmp_path / "without", replace(config, statements=0.0), device="cpu")
    assert same(tmp_path / "with", tmp_path / "without")


def test_no_epoch_saves_the_random_weights_of_the_seed(
    captions: CaptionSplit, tmp_path: Path
) -> None:
    config = replace(CONFIG, schedule=CONFIG.schedule.override(epochs=0))
    result = capbert.pretrain(captions, tmp_path, config, device="cpu")
    assert (result.steps, result.epochs) == (0, 0.0)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    begun = capbert.new_network(config, len(tokenizer), tokenizer.pad_token_id).state_dict()
    assert all(torch.equal(begun[name], tensor) for name, tensor in state(tmp_path).items())


def test_training_starts_from_another_model_with_its_tokeniser(
    captions: CaptionSplit, tmp_path: Path
) -> None:
    start = save_tiny("bert", tmp_path / "start")
    capbert.pretrain(captions, tmp_path / "made", BRIEF, start=str(start), device="cpu")
    old, new = (AutoTokenizer.from_pretrained(folder) for folder in (start, tmp_path / "made"))
    assert new.get_vocab() == old.get_vocab()
    assert AutoModelForMaskedLM.from_pretrained(tmp_path / "made").config.hidden_size == 32
    assert not same(start, tmp_path / "made")
    first, last = checkpoint.read_history(tmp_path / "made" / "training")
    assert last["validation_loss"] < first["validation_loss"]


def test_a_tokeniser_is_taken_with_random_weights(captions: CaptionSplit, tmp_path: Path) -> None:
    source = save_tiny("bert", tmp_path / "theirs")
    config = replace(CONFIG, schedule=CONFIG.schedule.override(epochs=0))
    capbert.pretrain(captions, tmp_path / "made", config, tokenizer=str(source), device="cpu")
    old, new = (AutoTokenizer.from_pretrained(folder) for folder in (source, tmp_path / "made"))
    assert new.get_vocab() == old.get_vocab()
    # not theirs
    assert (
        AutoModelForMaskedLM.from_pretrained(tmp_path / "made").config.hidden_size == CONFIG.hidden
    )
    with pytest.raises(UserError, match="give --from or --tokenizer, not both"):
        capbert.pretrain(
            captions,
            tmp_path / "new",
            config,
            start=str(source),
            tokenizer=str(source),
            device="cpu",
        )
    gpt2 = save_tiny("gpt2", tmp_path / "gpt2")
    with pytest.raises(UserError, match="has no fast tokeniser with mask"):
        capbert.pretrain(captions, tmp_path / "new", config, tokenizer=str(gpt2), device="cpu")
    assert not (tmp_path / "new").exists()


def test_no_epoch_keeps_the_starting_weights(captions: CaptionSplit, tmp_path: Path) -> None:
    start = save_tiny("roberta", tmp_path / "start")
    config = replace(CONFIG, schedule=CONFIG.schedule.override(epochs=0))
    capbert.pretrain(captions, tmp_path / "made", config, start=str(start), device="cpu")
    assert same(start, tmp_path / "made")


def test_a_model_without_a_mask_is_refused(captions: CaptionSplit, tmp_path: Path) -> None:
    start = save_tiny("gpt2", tmp_path / "start")
    with pytest.raises(UserError, match="Cannot start from"):
        capbert.pretrain(captions, tmp_path / "made", CONFIG, start=str(start), device="cpu")
    with pytest.raises(UserError, match="Cannot start from"):
        capbert.pretrain(
            captions, tmp_path / "made", CONFIG, start=str(tmp_path / "absent"), device="cpu"
        )
    assert not (tmp_path / "made").exists()  # the mistake is no beginning: the folder stays free


def test_refused_command_leaves_an_unfinished_model_unchanged(
    captions: CaptionSplit, trained: Path, tmp_path: Path
) -> None:
    contents = {path: path.read_bytes() for path in trained.iterdir() if path.is_file()}
    with pytest.raises(UserError, match="was started with start None"):
        capbert.pretrain(
            captions, trained, CONFIG, start=str(save_tiny("bert", tmp_path)), device="cpu"
        )
    assert {path: path.read_bytes() for path in trained.iterdir() if path.is_file()} == contents


def test_a_foreign_model_is_never_overwritten(captions: CaptionSplit, tmp_path: Path) -> None:
    """Neither read as a begun training (its tokeniser would be taken for ours) nor written over."""
    folder = save_tiny("bert", tmp_path / "theirs")
    contents = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(
        UserError, match=r"holds another model \(config.json\) that would be overwritten"
    ):
        capbert.pretrain(captions, folder, CONFIG, device="cpu")
    (folder / "config.json").unlink()
    del contents[folder / "config.json"]
    with pytest.raises(UserError, match=r"holds another model \(tokenizer.json\)"):
        lstm.pretrain(captions, folder, lstm.PRESETS["cpu"], device="cpu")
    assert {path: path.read_bytes() for path in folder.iterdir()} == contents


def test_second_training_in_a_folder_is_refused(captions: CaptionSplit, tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from seesay.files import lock_folder\n"
    script += "with lock_folder(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "training"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout
        other.stdout.readline()  # it holds the folder now
        with pytest.raises(UserError, match="Another process is using"):
            capbert.pretrain(captions, tmp_path, CONFIG, device="cpu")
        other.communicate()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] in ([], [".lock"])


@pytest.mark.parametrize(
    ("weight", "fewest", "most"), [(2.0, 800, 800), (1.0, 400, 400), (0.25, 70, 130)]
)
def test_other_text_is_drawn_by_its_weight(
    captions: CaptionSplit, tmp_path: Path, weight: float, fewest: int, most: int
) -> None:
    """Other text of a length of its own, so that a batch holds either the one or the other: 14
    tokens a text."""
    other = ["one two three four five six seven eight nine ten eleven twelve"] * 400
    short = CaptionSplit(
        [text for text in captions.train if len(text.split()) == 7], captions.held_out
    )
    seen: dict[int, int] = {}

    def count(network: torch.nn.Module, batch: masking.MaskedBatch) -> dict[str, torch.Tensor]:
        rows, width = batch.ids.shape
        seen[width] = seen.get(width, 0) + rows * network.training
        return original(network, batch)

    original = capbert.losses
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capbert, "losses", count)
        capbert.pretrain(short, tmp_path, BRIEF, mix=[(other, weight)], device="cpu")
    assert seen[9] == len(short.train) > 200
    assert fewest <= seen[14] <= most


def test_tokeniser_training_is_deterministic(captions: CaptionSplit) -> None:
    """Within a process the trainer's order changes from one to the next, as its hash seeds do."""
    texts = [text for text in captions.train for _ in range(3)] + [
        f"sörme w{i % 97}x{i % 89} “é” 犬{i % 7}" for i in range(2000)
    ]
    first, *others = (capbert.train_tokenizer(texts, 600).get_vocab() for _ in range(4))
    assert all(other == first for other in others)
    assert len(first) == 600


def test_too_few_captions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="3 captions to train on and 0 held out are too few: give at least 20"
    ):
        capbert.pretrain(CaptionSplit(["a dog"] * 3, []), tmp_path, CONFIG, device="cpu")


def test_watched_figures_are_in_the_history(captions: CaptionSplit, tmp_path: Path) -> None:
    capbert.pretrain(
        captions, tmp_path, BRIEF, watch=lambda network, _: {"task": 0.5}, device="cpu"
    )
    assert [line["validation_task"] for line in checkpoint.read_history(tmp_path / "training")] == [
        0.5,
        0.5,
    ]


def test_training_starts_from_no_part_of_a_model(tmp_path: Path) -> None:
    folder = save_tiny("bert", tmp_path / "bert")
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "num_hidden_layers": 1}))
    captions = CaptionSplit(["the sky is blue"] * 30, ["snow is white"])
    with pytest.raises(UserError, match=r"Cannot start from .* does not read"):
        capbert.pretrain(captions, tmp_path / "trained", capbert.PRESETS["cpu"], start=str(folder))


def test_published_presets() -> None:
    """As in the authors' code: `pretrain.py` of ViPhy, and the runs of Memory Colors' baselines."""
    published = {
        name: (config.texts, config.schedule.learning_rate, config.schedule.epochs)
        for name, config in capbert.PRESETS.items()
        if name != "cpu"
    }
    assert published == {
        "viphy": (128, 1e-5, 20),
        "memory-colors": (512, 5e-5, 1),
        "memory-colors-scratch": (2_048, 1e-4, 20),
    }
    for name in published:
        config = capbert.PRESETS[name]
        assert (config.layers, config.hidden, config.heads) == (12, 768, 12)
        assert (config.rate, config.pieces, config.statements) == (0.15, True, 0.0)
        assert (config.schedule.optimizer, config.schedule.weight_decay) == ("adam", 0.0)
    scratch = capbert.PRESETS["memory-colors-scratch"]
    # 4,400 of 88,000 steps; of 2,048 texts each, 20 times 9.0 million
    assert scratch.schedule.warmup == 4_400 / 88_000
    assert round(88_000 * scratch.texts / 9.0e6) == scratch.schedule.epochs  # type: ignore[operator]
    assert scratch.schedule.decay == "linear"
    assert capbert.PRESETS["viphy"].schedule.decay == "none"


def test_a_tiny_one_learns_from_masked_pieces(captions: CaptionSplit, tmp_path: Path) -> None:
    """The published recipe in small: batches of texts, pieces by BERT's rule, Adam."""
    schedule = Schedule(epochs=6, learning_rate=3e-3, optimizer="adam", clip=capbert.UNCLIPPED)
    config = replace(CONFIG, texts=16, pieces=True, schedule=schedule)
    result = capbert.pretrain(captions, tmp_path / "model", config, device="cpu")
    untrained = replace(config, schedule=schedule.override(epochs=0))
    start = capbert.pretrain(captions, tmp_path / "untrained", untrained, device="cpu")
    assert result.best < start.best - 1
    settings = json.loads((tmp_path / "model" / "training" / "settings.json").read_text())
    assert (settings["texts"], settings["pieces"]) == (16, True)
