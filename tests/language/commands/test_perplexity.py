"""`seesay perplexity`: figures for every family, files of every kind."""

from __future__ import annotations

import fcntl
import gzip
import json
import math
import signal
import subprocess
import sys
import termios
import time
import tracemalloc
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pytest
from tests.cli.program import error_here
from tests.language.words.test_arpa import SMALL
from tests.language.words.word_lstm import reference, saved

from seesay.cli import main

KEYS = [
    "token_perplexity",
    "word_perplexity",
    "sentence_perplexity",
    "bits_per_character",
    "bits_per_word",
    "tokens",
    "words",
    "sentences",
    "signature",
    "sources",
]
Folder = Callable[[str], Path]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("the cat\n\nthe\n   \n", encoding="utf-8")
    return path


@pytest.fixture
def arpa(tmp_path: Path) -> Path:
    path = tmp_path / "small.arpa"
    path.write_text(SMALL, encoding="utf-8")
    return path


def figures(capsys: Capture, *arguments: str | Path) -> dict[str, Any]:
    main_(*arguments, "--json")
    document = json.loads(capsys.readouterr().out)
    assert list(document) == KEYS
    del document["sources"]  # names the file
    assert isinstance(document, dict)
    return document


def main_(*arguments: str | Path) -> int:
    try:
        main(["perplexity", *map(str, arguments)])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_an_arpa_file_by_hand(arpa: Path, texts: Path, capsys: Capture) -> None:
    """the cat: -0.2 - 0.4 - 1.1; the: -0.2 - 0.3 - 1 (log10): 3.2 over 5 tokens, 3 words, 10
    characters."""
    document = figures(capsys, arpa, texts)
    assert document["token_perplexity"] == pytest.approx(10 ** (3.2 / 5))
    assert document["word_perplexity"] == pytest.approx(10 ** (3.2 / 3))
    assert document["sentence_perplexity"] == pytest.approx(10 ** (3.2 / 2))
    assert document["bits_per_word"] == pytest.approx(3.2 * math.log2(10) / 3)
    assert document["bits_per_character"] == pytest.approx(3.2 * math.log2(10) / 10)
    assert (document["tokens"], document["words"], document["sentences"]) == (5, 3, 2)
    without = figures(capsys, f"arpa:{arpa}", texts, "--no-eos")
    assert without["token_perplexity"] == pytest.approx(10 ** (0.8 / 3))  # -0.2 - 0.4 and -0.2
    # without an end, the tokens of a model of words are its words
    assert without["word_perplexity"] == without["token_perplexity"]
    assert "eos:no" in without["signature"]
    assert "eos:yes|window:none" in document["signature"]  # what the default came to
    _, fingerprint, *rest = document["signature"].split("|")
    assert fingerprint in without["signature"]
    assert [part.replace("eos:yes", "eos:no") for part in rest] == without["signature"].split("|")[
        2:
    ]


def test_figures_are_printed_as_a_table(arpa: Path, texts: Path, capsys: Capture) -> None:
    assert main_(arpa, texts) == 0
    out, err = capsys.readouterr()
    for word in (
        "token perplexity",
        "4.3652",
        "word perplexity",
        "11.6591",
        "sentence perplexity",
        "39.81",
        "bits per word",
        "fingerprint:",
    ):
        assert word in out
    assert "Empty lines skipped: 2." in err
    assert main_(arpa, texts, "--quiet") == 0
    out, err = capsys.readouterr()
    assert "fingerprint" not in out
    assert err == ""


def test_lstm_with_all_output_files(tmp_path: Path, texts: Path, capsys: Capture) -> None:
    folder = saved(tmp_path / "lstm")
    sentences, tokens = tmp_path / "out" / "sentences.jsonl", tmp_path / "tokens.jsonl"
    document = figures(capsys, folder, texts, "--per-sentence", sentences, "--per-token", tokens)
    rows = [reference(folder, text) for text in (["the", "cat"], ["the"])]
    assert document["token_perplexity"] == pytest.approx(
        math.exp(-sum(map(sum, rows)) / 5), rel=1e-4
    )
    written = [json.loads(line) for line in sentences.read_text(encoding="utf-8").splitlines()]
    assert [(row["line"], row["text"], row["tokens"]) for row in written] == [
        (1, "the cat", 3),
        (3, "the", 2),
    ]
    assert [row["logp"] for row in written] == pytest.approx([sum(row) for row in rows], abs=1e-4)
    assert written[0]["perplexity"] == pytest.approx(math.exp(-sum(rows[0]) / 3), rel=1e-4)
    every = [json.loads(line) for line in tokens.read_text(encoding="utf-8").splitlines()]
    assert [(row["line"], row["position"], row["token"]) for row in every] == [
        (1, 0, "the"),
        (1, 1, "cat"),
        (1, 2, "</s>"),
        (3, 0, "the"),
        (3, 1, "</s>"),
    ]
    assert [row["logp"] for row in every] == pytest.approx(
        [x for row in rows for x in row], abs=1e-4
    )


@pytest.mark.parametrize("kind", ["gpt2", "bert"])
def test_transformers(kind: str, tiny_folder: Folder, tmp_path: Path, capsys: Capture) -> None:
    lines = ["The sky is blue.", "a yellow banana"]
    (tmp_path / "plain.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "zipped.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    plain = figures(capsys, tiny_folder(kind), tmp_path / "plain.txt")
    assert figures(capsys, tiny_folder(kind), tmp_path / "zipped.txt.gz") == plain
    first = figures(capsys, tiny_folder(kind), tmp_path / "plain.txt", "--limit", "1")
    assert (plain["sentences"], first["sentences"]) == (2, 1)
    assert first["signature"] != plain["signature"]  # other texts
    other = figures(capsys, tiny_folder(kind), tmp_path / "plain.txt", "--batch-size", "16")
    assert other["token_perplexity"] == pytest.approx(plain["token_perplexity"], rel=1e-5)
    assert other["signature"] == plain["signature"]


def test_captions_of_coco(arpa: Path, texts: Path, tmp_path: Path, capsys: Capture) -> None:
    """The same two texts as plain lines and as COCO's captions have the same figures; the form is
    stated."""
    rows = [{"image_id": 1, "caption": "the cat"}, {"image_id": 2, "caption": "the"}]
    (tmp_path / "coco.json").write_text(
        json.dumps({"images": [], "annotations": rows}), encoding="utf-8"
    )
    assert figures(capsys, arpa, tmp_path / "coco.json") == figures(capsys, arpa, texts)
    assert main_(arpa, tmp_path / "coco.json", "--json") == 0
    (source,) = json.loads(capsys.readouterr().out)["sources"]
    assert (source["form"], source["captions"], source["blank"], source["left_out"]) == (
        "COCO captions",
        2,
        0,
        0,
    )
    assert main_(arpa, tmp_path / "coco.json") == 0
    assert "COCO captions" in capsys.readouterr().out


def test_standard_input(arpa: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "seesay", "perplexity", str(arpa), "-", "--json"],
        input=b"the cat\nthe\n",
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["token_perplexity"] == pytest.approx(10 ** (3.2 / 5))


def test_a_line_of_ten_megabytes(
    arpa: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    """A model of words reads it in one go; a masked one cannot, and says so."""
    word, times = "c" * 75, 131_072
    arpa.write_text(SMALL.replace("cat", word), encoding="utf-8")
    long = tmp_path / "long.txt"
    long.write_text(f"the {word} " * times + "\nthe\n", encoding="utf-8")
    assert long.stat().st_size > 10_000_000
    assert main_(arpa, long, "--json") == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    # the: -0.2 once, then back off from ccc…: -0.1 - 0.7; ccc… after the: -0.4; the end: -1.1. And
    # "the" alone: -1.5.
    total = 0.2 + (times - 1) * 0.8 + times * 0.4 + 1.1 + 1.5
    assert document["tokens"] == 2 * times + 1 + 2
    assert math.log10(document["token_perplexity"]) == pytest.approx(
        total / document["tokens"], rel=1e-9
    )
    assert document["sentence_perplexity"] is None
    assert "too large for a floating-point number" in err
    short = tmp_path / "shorter.txt"  # the same sentence for less, as tokenising takes its time
    short.write_text("red banana " * 2_000, encoding="utf-8")
    assert "more than the 128 that" in error_here(capsys, "perplexity", tiny_folder("bert"), short)


def test_a_line_that_a_masked_model_cannot_read_is_left_out(
    tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    (tmp_path / "one.txt").write_text("a red banana\nblue\n", encoding="utf-8")
    (tmp_path / "more.txt").write_text(f"a red banana\n\n{'red ' * 200}\nblue\n", encoding="utf-8")
    expected = figures(capsys, tiny_folder("bert"), tmp_path / "one.txt")
    assert main_(tiny_folder("bert"), tmp_path / "more.txt", "--json") == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["token_perplexity"] == pytest.approx(
        expected["token_perplexity"], rel=1e-5
    )
    assert "line 3: 202 tokens, more than the 128" in err
    assert "Lines left out: 1" in err


def test_a_model_that_cannot_score_leaves_files_alone(
    texts: Path, tmp_path: Path, capsys: Capture
) -> None:
    rows = tmp_path / "kept.jsonl"
    rows.write_text("from the last run\n", encoding="utf-8")
    error_here(capsys, "perplexity", "baseline:uniform", texts, "--per-sentence", rows)
    both = ("--per-sentence", tmp_path / "rows.jsonl", "--per-token", tmp_path / "rows.jsonl")
    assert "the same file" in error_here(capsys, "perplexity", "baseline:uniform", texts, *both)
    assert rows.read_text(encoding="utf-8") == "from the last run\n"


def unread_bytes(pipe: IO[bytes]) -> int:
    """How much of what was written to a pipe nobody has read yet."""
    count = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def test_an_interrupt_is_explained(arpa: Path) -> None:
    """It waits for standard input when Ctrl-C is pressed."""
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import seesay.cli; seesay.cli.main()",
            "perplexity",
            arpa,
            "-",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin
        assert running.stderr
        running.stdin.write(b"the\n")
        running.stdin.flush()
        # it has read the line, and waits for another
        while unread_bytes(running.stdin) and running.poll() is None:
            time.sleep(0.01)
        # pressed again where Python was not listening: in a destructor, say, it drops the first
        while running.poll() is None:
            running.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                running.wait(5)
        message = running.stderr.read().decode()
        assert running.returncode == 130
    assert "starts again at its first line" in message
    assert "is kept" not in message


def test_a_long_line_goes_through_a_causal_models_window(
    tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    long = tmp_path / "long.txt"
    long.write_text("The sky is blue and the banana is yellow. " * 200, encoding="utf-8")
    document = figures(capsys, tiny_folder("gpt2"), long)
    finer = figures(capsys, tiny_folder("gpt2"), long, "--stride", "32")
    assert document["tokens"] == finer["tokens"] > 1000
    assert document["token_perplexity"] != finer["token_perplexity"]
    assert "eos:no|window:128|stride:64" in document["signature"]
    assert "eos:no|window:128|stride:32" in finer["signature"]
    assert "give less" in error_here(
        capsys, "perplexity", tiny_folder("gpt2"), long, "--stride", "500"
    )


def test_unseen_words(arpa: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "unseen.txt").write_text("the yeti\n", encoding="utf-8")
    assert main_(arpa, tmp_path / "unseen.txt", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["token_perplexity"] == pytest.approx(10 ** ((0.2 + 2.3 + 1) / 3))
    assert "1 of 2 words are unknown" in err


def test_lines_that_are_no_text_are_named(arpa: Path, tmp_path: Path, capsys: Capture) -> None:
    mixed = tmp_path / "mixed.txt"
    mixed.write_bytes(b"the cat\n\xff\xfe\x9c\nthe\n\x00\x01\n")
    assert main_(arpa, mixed, "--json") == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["sentences"] == 2
    assert "line 2: not UTF-8 text" in err
    assert "line 4: holds NUL characters" in err
    assert "Lines left out: 2" in err


def test_mistakes(arpa: Path, tmp_path: Path, texts: Path, capsys: Capture) -> None:
    rubbish = tmp_path / "rubbish.bin"
    rubbish.write_bytes(bytes(range(256)) * 40)
    assert "not a corpus that seesay knows (it is not text" in error_here(
        capsys, "perplexity", arpa, rubbish
    )
    rubbish.write_bytes(b"\n \n")
    assert "holds no text that can be scored (empty: 2" in error_here(
        capsys, "perplexity", arpa, rubbish
    )
    rubbish.write_bytes(gzip.compress(b"the cat\n" * 1000)[:-12])
    assert "is damaged after line" in error_here(capsys, "perplexity", arpa, rubbish)
    assert "There is no file" in error_here(capsys, "perplexity", arpa, tmp_path / "none.txt")
    assert "it is a folder without a data set" in error_here(capsys, "perplexity", arpa, tmp_path)
    assert "There is no ARPA file" in error_here(capsys, "perplexity", "none.arpa", texts)
    sentence = error_here(capsys, "perplexity", "baseline:uniform", texts)
    assert sentence.startswith("'baseline:uniform' (baseline) cannot score texts")
    assert "leave --stride out" in error_here(capsys, "perplexity", arpa, texts, "--stride", "4")


def test_a_longer_file_needs_no_more_memory(arpa: Path, tmp_path: Path, capsys: Capture) -> None:
    long = tmp_path / "long.txt.gz"
    with gzip.open(long, "wt", encoding="utf-8") as file:
        file.writelines(f"the cat the {number}\n" for number in range(5_000))
    peaks = []
    for limit in ("600", "600", "5000"):  # the first one also imports
        tracemalloc.start()
        figures(capsys, arpa, long, "--limit", limit)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < peaks[1] * 1.2
