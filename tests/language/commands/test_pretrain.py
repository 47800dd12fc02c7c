"""`seesay pretrain`, as a user types it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.program import error_here, usage_error
from tests.language.training import colored, grammar
from tests.tiny import save_tiny

from seesay.cli import main
from seesay.models import load_model
from seesay.questions import Prompt

UNTRAINED = ("--epochs", "0", "--vocabulary", "300", "--device", "cpu")


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return grammar.write(tmp_path / "captions.txt")


def run(*arguments: str | Path) -> None:
    """To a good end."""
    with pytest.raises(SystemExit) as ended:
        main(["pretrain", *map(str, arguments)])
    assert ended.value.code == 0


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    return error_here(capsys, "pretrain", *arguments)


def test_capbert(captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trained on from a tiny model, asked for again, its curve drawn; other settings are
    refused."""
    folder = tmp_path / "made"
    start = save_tiny("bert", tmp_path / "start")
    command = (
        "capbert",
        captions,
        "-o",
        folder,
        "--from",
        start,
        "--epochs",
        "1",
        "--device",
        "cpu",
    )
    run(*command)
    out, err = capsys.readouterr()
    assert f"{folder}: " in out
    assert "best at step" in out
    assert "capbert" in err
    run(*command, "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["captions"]["train"] + document["captions"]["held_out"] == 600
    assert document["validation"]["validation_loss"] == document["best"]
    run(*command, "--silent")
    assert capsys.readouterr() == ("", "")
    assert load_model(str(folder)).family == "masked"
    assert (folder / "training" / "curve-loss.svg").is_file()
    run("curve", folder, "-o", tmp_path / "page.html", "--json")
    files = json.loads(capsys.readouterr().out)["files"]
    assert files == [
        str(tmp_path / name) for name in ("page.html", "page-loss.svg", "page-accuracy.svg")
    ]
    assert "was started with seed 0, not 1" in error_of(capsys, *command, "--seed", "1")
    assert "was started with learning_rate" in error_of(capsys, *command, "--learning-rate", "0.1")


def test_untrained_from_scratch(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("capbert", captions, "-o", tmp_path / "made", *UNTRAINED, "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["steps"], document["best_step"]) == (0, 0)
    assert document["learnt"] is False
    assert document["warning"].startswith("It was not trained")
    (note,) = load_model(str(tmp_path / "made")).notes()
    assert "learnt nothing in its training" in note
    config = json.loads((tmp_path / "made" / "config.json").read_text(encoding="utf-8"))
    # the preset of two cores
    assert (config["num_hidden_layers"], config["hidden_size"]) == (4, 256)


def test_corpora_of_other_forms(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """COCO's captions to train on further and Conceptual Captions mixed in: a table says how much
    of each was read."""
    coco, conceptual = tmp_path / "coco.json", tmp_path / "cc.tsv"
    sentences = grammar.sentences()
    annotations = [
        {"image_id": number, "caption": text} for number, text in enumerate(sentences[:100])
    ]
    coco.write_text(json.dumps({"annotations": [*annotations, {"image_id": 1}]}), encoding="utf-8")
    conceptual.write_text(
        "".join(f"{text}\thttp://a.org/{text[0]}.jpg\n" for text in sentences[:50]),
        encoding="utf-8",
    )
    start = save_tiny("bert", tmp_path / "start")
    command = (
        "capbert",
        captions,
        coco,
        "-o",
        tmp_path / "made",
        "--from",
        start,
        "--epochs",
        "0",
        "--device",
        "cpu",
    )
    run(*command, "--mix", f"{conceptual}:0.5", "--json")
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [
        (source["form"], source["captions"], source["left_out"]) for source in document["sources"]
    ] == [
        ("plain text", 600, 0),
        ("COCO captions", 100, 1),
        ("Conceptual Captions", 50, 0),
    ]
    assert document["sources"][2]["source"] == f"{conceptual}:0.5"
    assert document["captions"]["bad_rows"] == 1
    assert "COCO captions" in err
    assert "row 101: no text in 'caption'" in err.replace("\n", "")
    coco.write_text('{"annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4]}]}', encoding="utf-8")
    assert "is not a corpus that seesay knows" in error_of(capsys, *command)
    assert "is not a corpus that seesay knows" in error_of(
        capsys, "split", captions, "-o", "x", captions, coco
    )


def test_imagination(captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A CLIP-BERT from captions, which is asked with its imagination while it is trained, too."""
    start, encoder = (
        save_tiny("bert", tmp_path / "start"),
        save_tiny("bert", tmp_path / "encoder", initializer_range=1.0),
    )
    command = (
        "capbert",
        captions,
        "--from",
        start,
        "--epochs",
        "0",
        "--device",
        "cpu",
        "--watch",
        "core-color",
        "--json",
    )
    run(*command, "-o", tmp_path / "plain")
    plain = json.loads(capsys.readouterr().out)["validation"]
    run(*command, "-o", tmp_path / "imagining", "--imagine", encoder)
    imagining = json.loads(capsys.readouterr().out)["validation"]
    assert imagining["validation_loss"] != plain["validation_loss"]
    assert load_model(str(tmp_path / "imagining")).scope == "slot-explicit"
    with pytest.raises(SystemExit):
        main(
            [
                "probe",
                str(tmp_path / "imagining"),
                "--task",
                "core-color",
                "-o",
                str(tmp_path / "runs"),
                "--json",
            ]
        )
    headline = json.loads(capsys.readouterr().out)[0]
    # watched as it is asked
    assert headline["value"] == pytest.approx(imagining["validation_core-color"], abs=1e-6)
    assert "Could not load './absent'" in error_of(
        capsys, *command, "-o", tmp_path / "none", "--imagine", "./absent"
    )


def test_watched_tasks_are_asked(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = save_tiny("bert", tmp_path / "start")
    command = (
        "capbert",
        captions,
        "-o",
        tmp_path / "made",
        "--from",
        start,
        "--epochs",
        "0",
        "--device",
        "cpu",
    )
    run(*command, "--watch", "core-color", "--json")
    document = json.loads(capsys.readouterr().out)
    assert (
        0 <= document["validation"]["validation_core-color"] < 0.5
    )  # random weights, eleven colours
    assert (tmp_path / "made" / "training" / "curve-core-color.svg").is_file()


def test_a_folder_without_a_training_has_no_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "There is no training in" in error_of(capsys, "curve", tmp_path)


def test_lstm(captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    phrases = tmp_path / "phrases.txt"
    phrases.write_text("on top of\nin front of\n", encoding="utf-8")
    command = (
        "lstm",
        captions,
        "-o",
        tmp_path / "made",
        "--epochs",
        "1",
        "--smallest-count",
        "2",
        "--device",
        "cpu",
    )
    run(*command, "--phrases", phrases, "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["validation"]["validation_perplexity"] < 27  # every one of its words alike
    assert "on_top_of" in (tmp_path / "made" / "vocabulary.txt").read_text(encoding="utf-8").split()
    assert "was started with phrases" in error_of(capsys, *command)


def test_unknown_choices_are_answered_with_the_choices(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("pretrain", "lstm", captions, "-o", tmp_path / "made")
    assert "'gpu' is not one of 'cpu', 'auto'" in usage_error(capsys, *command, "--device", "gpu")
    assert "'huge' is not one of 'cpu', 'paper'" in usage_error(
        capsys, *command, "--preset", "huge"
    )


def test_trigram_and_split(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(
        "trigram",
        captions,
        "-o",
        tmp_path / "deep" / "made.arpa",
        "--smallest-count",
        "1",
        "--json",
    )
    counted = json.loads(capsys.readouterr().out)
    run("split", captions, "-o", tmp_path / "parts", "--json")
    sizes = json.loads(capsys.readouterr().out)
    assert counted["sentences"] == sizes[str(tmp_path / "parts" / "train.txt")]
    assert sum(sizes.values()) == 600
    # for any model to read
    assert " on top of " in (tmp_path / "parts" / "train.txt").read_text(encoding="utf-8")
    assert load_model(str(tmp_path / "deep" / "made.arpa")).family == "n-gram"


def test_a_curve_while_the_training_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing measured yet; one line and a half; and rubbish in the middle."""
    history = tmp_path / "training" / "history.jsonl"
    history.parent.mkdir()
    history.write_text("", encoding="utf-8")
    assert "has measured nothing yet" in error_of(capsys, "curve", tmp_path)
    line = '{"step": 0, "epoch": 0.0, "seconds": 1.5, "validation_loss": 3.0}\n'
    history.write_text(line + '{"step": 4, "epo', encoding="utf-8")
    run("curve", tmp_path, "-q")
    assert "0 steps" in (tmp_path / "training" / "curve.html").read_text(encoding="utf-8")
    history.write_text("{\n" + line, encoding="utf-8")
    assert "history.jsonl is damaged" in error_of(capsys, "curve", tmp_path)


def test_lines_that_cannot_be_read_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "captions.txt"
    path.write_text(
        "".join(f"{text}\n" for text in ["12 34", *grammar.sentences()]), encoding="utf-8"
    )
    run("split", path, "-o", tmp_path / "parts")
    assert f"{path}, row 1: without a single letter" in capsys.readouterr().err.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("absent.txt",), "There is no file"),
        (("empty.txt",), "holds no caption"),
        (("few.txt",), "are too few"),
        (("captions.txt", "--mix", "captions.txt"), "write FILE:WEIGHT, as in wiki.txt:0.5."),
        (("captions.txt", "--mix", "captions.txt:-1"), "write FILE:WEIGHT, as in wiki.txt:0.5."),
        (("captions.txt", "--mix", "absent.txt:1"), "There is no file"),
        (
            ("captions.txt", "--mix", "empty.txt:1"),
            "empty.txt holds no caption or other text: give",
        ),
        (("captions.txt", "--held-out", "1.5"), "--held-out is 1.5: give a share between 0 and 1"),
        (("captions.txt", "--learning-rate", "0"), "--learning-rate is 0.0: give a number above 0"),
        (
            ("captions.txt", "--learning-rate", "nan"),
            "--learning-rate is nan: give a number above 0",
        ),
        (("captions.txt", "--tokenizer", "./absent"), "Cannot load the tokeniser of './absent'"),
        (("captions.txt", "--from", "./absent"), "Cannot start from './absent'"),
        (("captions.txt", "--watch", "core-colour"), "core-color"),
    ],
)
def test_mistakes_are_one_sentence(
    captions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("\n", encoding="utf-8")
    Path("few.txt").write_text("a dog\na cat\n", encoding="utf-8")
    assert sentence in error_of(capsys, "capbert", *arguments, "-o", "made", *UNTRAINED)
    assert not Path("made").exists()


def test_training_with_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Features of a folder's pictures, and both designs that are trained on them; features that
    lack a picture end in one sentence."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    names = list(colored.save_pictures(pictures))
    rows = []
    for number in range(60):
        color = names[number % 3]
        caption = f"{colored.TEXT.format(f'{number} cups', color)}"
        rows.append({"image_id": f"{color}.png", "caption": caption})
    captions = tmp_path / "captions.json"
    captions.write_text(json.dumps(rows))
    features = tmp_path / "features.npz"
    run("features", pictures, "-o", features, "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["pictures"], document["width"]) == (3, 64)
    shared = (captions, "--pictures", features, "--held-out", "0.4", "--device", "cpu")
    run("capbert", *shared, "-o", tmp_path / "bert", "--epochs", "0", "--vocabulary", "300")
    language_model = save_tiny("llama", tmp_path / "language")
    start = ("--from", language_model)
    run("prefix", *shared, "-o", tmp_path / "seeing", *start, "--epochs", "1")
    run("causal", captions, "-o", tmp_path / "raised", "--held-out", "0.4", "--epochs", "0")
    prompt = Prompt(colored.TEXT.format("cup", "[MASK]"), ("red", "blue"))
    shown = replace(prompt, picture=str(pictures / "red.png"))
    for folder in ("bert", "seeing"):
        first, second = load_model(str(tmp_path / folder)).answer([prompt, shown])
        assert first.logp != pytest.approx(second.logp, abs=1e-6)
    assert load_model(str(tmp_path / "raised")).family == "causal"
    (pictures / "blue.png").unlink()
    run("features", pictures, "-o", features)
    capsys.readouterr()
    error = error_of(capsys, "prefix", *shared, "-o", tmp_path / "other", *start)
    assert "lack 1 picture of the captions, the first being" in error
    assert "end in .npz" in error_of(capsys, "features", pictures, "-o", tmp_path / "a.csv")
