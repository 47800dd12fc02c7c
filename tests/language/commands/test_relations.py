"""The commands from captions to a page, with a trigram of real captions; and the default model on a
few contexts."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared
from typer.testing import CliRunner, Result

from seesay.cli.output import set_quiet
from seesay.errors import UserError
from seesay.language.commands.relations import app
from seesay.language.relations import pvectors
from seesay.language.relations.inventory import phrases
from seesay.language.relations.vectors import read_vectors
from seesay.language.training.captions import join_phrases, split
from seesay.language.training.ngram import estimate
from seesay.language.words.arpa import write_arpa
from seesay.language.words.vocabulary import Vocabulary, words


def run(*arguments: object) -> Result:
    set_quiet(False)  # as in a process of its own
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def ask(*arguments: object) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


@pytest.fixture(scope="module")
def captions() -> Path:
    return shared("captions/multi30k.val.1.en.gz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, captions: Path) -> Path:
    """A matrix of a trigram model that read the captions with their relations joined."""
    here = tmp_path_factory.mktemp("relations")
    sentences = [
        words(text) for text in join_phrases(split([captions], held_out=0.0).train, phrases())
    ]
    write_arpa(here / "tri.arpa", estimate(sentences, Vocabulary.of(sentences, smallest=2), 3))
    ask(
        "matrix",
        here / "tri.arpa",
        captions,
        "-o",
        here / "m",
        "--minimum",
        5,
        "--most",
        20,
        "--quiet",
    )
    return here / "m"


def test_find_counts_contexts(captions: Path) -> None:
    counted = json.loads(ask("find", captions, "--json").stdout)
    rows = {row["relation"]: row for row in counted["relations"]}
    assert counted["captions"] == 1014
    assert rows["in"]["contexts"] > rows["in front of"]["contexts"] > 0
    assert rows["in"]["occurrences"] > rows["in"]["contexts"]
    used = sum(row["contexts"] for row in rows.values())
    assert (
        used + counted["without_relation"] + counted["with_several"] + counted["repeated"]
        == counted["captions"]
    )
    (source,) = counted["sources"]
    assert (source["form"], source["captions"]) == ("plain text", 1014)
    assert "relations have 100 contexts or more" in " ".join(ask("find", captions).stdout.split())


def test_the_substitution_table(captions: Path) -> None:
    """Three relations, each in a context of each: nine sentences, of which three are captions as
    they were written."""
    rows = json.loads(ask("find", captions, "--examples", 3, "--json").stdout)["examples"]
    relations = list(dict.fromkeys(row["relation"] for row in rows))
    assert [(row["context_of"], row["relation"]) for row in rows] == [
        (of, word) for of in relations for word in relations
    ]
    assert all(f" {row['relation']} " in row["sentence"] for row in rows)
    frames = {
        of: {
            row["sentence"].replace(f" {row['relation']} ", " … ", 1)
            for row in rows
            if row["context_of"] == of
        }
        for of in relations
    }
    assert all(len(sentences) == 1 for sentences in frames.values())
    text = gzip.decompress(captions.read_bytes()).decode().lower()
    assert all(row["sentence"] in text for row in rows if row["context_of"] == row["relation"])
    assert "Substitutions" in ask("find", captions, "--examples", 2).stdout


def test_a_matrix_with_its_origin(folder: Path) -> None:
    matrix, about = pvectors.read(folder)
    assert {"in", "in front of"} <= set(matrix.contexts) <= set(matrix.words)
    assert about["contexts"]["in"] == 20
    assert about["level"] == "token"
    # an ARPA file does not tell what it was counted on
    assert about["seen_in_training"] == "unknown"
    fitting = [
        matrix.perplexity[matrix.words.index(word), i] for i, word in enumerate(matrix.contexts)
    ]
    assert (
        np.mean(fitting < np.median(matrix.perplexity, axis=0)) > 0.8
    )  # a word fits its own contexts
    with (folder / "pvectors.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert np.linalg.norm(np.array(rows[1][1:], dtype=float)) == pytest.approx(1)


def test_second_run_resumes_from_finished_columns(folder: Path, captions: Path) -> None:
    before = (folder / "matrix.csv").read_text(encoding="utf-8")
    columns = sorted((folder / "columns").iterdir())
    columns[0].unlink()
    times = {path: path.stat().st_mtime_ns for path in columns[1:]}
    document = ask(
        "matrix",
        folder.parent / "tri.arpa",
        captions,
        "-o",
        folder,
        "--minimum",
        5,
        "--most",
        20,
        "--json",
    ).stdout
    assert json.loads(document)["folder"] == str(folder)
    assert (folder / "matrix.csv").read_text(encoding="utf-8") == before
    assert {path: path.stat().st_mtime_ns for path in columns[1:]} == times
    assert columns[0].exists()


def test_other_vectors_and_human_ratings(folder: Path, tmp_path: Path) -> None:
    glove = tmp_path / "glove.txt"
    rng = np.random.default_rng(0)
    known = (
        "left",
        "right",
        "above",
        "below",
        "front",
        "back",
        "in",
        "out",
        "up",
        "down",
        "with",
        "without",
        "on",
    )
    glove.write_text(
        "\n".join(f"{w} {' '.join(map(str, rng.normal(size=4)))}" for w in known), encoding="utf-8"
    )
    people = shared("spatial_relations/word_similarity_judgments_from_figure.csv")
    document = json.loads(
        ask("test", folder, "--vectors", glove, "--human", people, "--json").stdout
    )
    mine, other = document["rows"]
    assert other["name"] == "glove.txt"
    assert other["tests"][0]["questions"] == 120
    assert other["tests"][0]["chance"] == pytest.approx(1 / 9)
    assert mine["people"][people.stem]["pairs"] >= 3
    assert {"rank", "cosine", "merge", "joined_directly"} <= set(document["pairs"][0])
    shown = " ".join(ask("test", folder, "--pair", "in,on").stdout.split())
    assert "in / on: nearer than" in shown


def test_the_page_opens_by_itself(folder: Path, tmp_path: Path) -> None:
    """With a study of people beside it, whose agreement is told; the unit is that of the matrix's
    level."""
    matrix, about = pvectors.read(folder)
    pvectors.write(tmp_path / "m", matrix, {**about, "level": "sentence", "seen_in_training": "no"})
    study = tmp_path / "study"
    study.mkdir()
    pairs = [(a, b) for a in ("in", "on", "with") for b in ("at", "by")]
    (study / "items.csv").write_text(
        "a,b,mean\n" + "".join(f"{a},{b},{i}\n" for i, (a, b) in enumerate(pairs)), encoding="utf-8"
    )
    report = {"people": 12, "people_counted": 9, "judgements_per_item": 6.5, "agreement": {}}
    (study / "agreement.json").write_text(json.dumps(report), encoding="utf-8")
    document = json.loads(ask("test", tmp_path / "m", "--human", study, "--json").stdout)["rows"][
        0
    ]["descriptions"]
    assert document == {"study": "9 of 12 people, 6.5 judgements per pair"}
    ask("page", tmp_path / "m", "-o", tmp_path / "page.html", "--restarts", 5, "--human", study)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "9 of 12 people, 6.5 judgements per pair" in page
    assert "bits per sentence its perplexity" in page
    assert "p (words shuffled) = " in page
    assert "chance 0." in page
    assert "never seen these contexts" in page
    assert page.count("<svg") >= 2
    assert all(
        part in page
        for part in (
            "Heat map",
            "Which relations cluster together",
            "Clusters",
            "Tests",
            "in front of",
        )
    )
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_published_figures() -> None:
    document = json.loads(
        ask("published", "--data", shared("spatial_relations"), "--json", "--readings").stdout
    )
    assert document["figures"][0] == {
        "test": "analogy",
        "vectors": "LM embeddings",
        "reading": "as published",
        "n": 120,
        "printed": 0.86,
        "value": pytest.approx(103 / 120),
    }
    assert len(document["readings"]) == 80


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("matrix", "baseline:uniform", "CAPTIONS", "-o", "OUT", "--minimum", 5),
            "cannot score texts",
        ),
        (
            ("matrix", "TRIGRAM", "CAPTIONS", "-o", "OUT", "--minimum", 5000),
            "No relation has 5000 contexts",
        ),
        (("test", "OUT"), "holds no matrix"),
        (("test", "MATRIX", "--pair", "in,far"), "needs two relations of the matrix"),
        (("find", "NOWHERE"), "There is no file"),
    ],
)
def test_mistakes_are_reported(
    folder: Path, captions: Path, tmp_path: Path, arguments: tuple[object, ...], reason: str
) -> None:
    names = {
        "CAPTIONS": captions,
        "OUT": tmp_path / "out",
        "TRIGRAM": folder.parent / "tri.arpa",
        "MATRIX": folder,
        "NOWHERE": tmp_path / "nowhere.txt",
    }
    result = run(*(names.get(str(argument), argument) for argument in arguments))
    assert isinstance(result.exception, UserError)
    assert reason in str(result.exception)


@pytest.mark.parametrize(
    ("option", "value", "choices"),
    [("--part", "some", ("all", "train", "held-out")), ("--level", "word", ("token", "sentence"))],
)
def test_unknown_choices_are_refused(
    option: str, value: str, choices: tuple[str, ...], tmp_path: Path
) -> None:
    result = run("matrix", "MODEL", "CAPTIONS", "-o", tmp_path, option, value)
    assert result.exit_code == 2
    assert all(text in result.output for text in (option, f"'{value}'", *choices))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("matrix.csv", "relation,in,on\nin,1,2\nin,2,1\n", "'in' occurs twice"),
        ("matrix.csv", "relation,in,in\nin,1,2\non,2,1\n", "two columns named 'in'"),
        ("matrix.csv", "", "is damaged"),
        ("about.json", "{", "about.json is damaged"),
        ("about.json", "[]", "about.json is damaged"),
        ("about.json", "[" * 100_000, "about.json is damaged"),
        ("people/agreement.json", '{"people": 3}', "agreement.json is damaged"),
        ("people/agreement.json", "{", "agreement.json is damaged"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "items.csv").write_text("a,b,mean\nin,on,0.5\n", encoding="utf-8")
    (tmp_path / "matrix.csv").write_text("relation,in,on\nin,1,2\non,2,1\n", encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = run("test", tmp_path, "--human", tmp_path / "people")
    assert isinstance(result.exception, UserError)
    assert reason in str(result.exception)


def test_embeddings_of_an_lstm_are_written(tmp_path: Path, captions: Path) -> None:
    """A tiny random LSTM, through the real loading code: P-vectors and embeddings stand side by
    side."""
    import torch

    from seesay.language.words.lstm import save
    from seesay.language.words.lstm_network import LstmNetwork

    torch.manual_seed(0)
    sentences = [
        words(text) for text in join_phrases(split([captions], held_out=0.0).train, phrases())
    ]
    vocabulary = Vocabulary.of(sentences, smallest=2)
    network = LstmNetwork(len(vocabulary), 8, 8)
    save(tmp_path / "lstm", network, vocabulary)
    ask(
        "matrix",
        tmp_path / "lstm",
        captions,
        "-o",
        tmp_path / "m",
        "--minimum",
        15,
        "--most",
        4,
        "-q",
    )
    p_vectors, embeddings = json.loads(ask("test", tmp_path / "m", "--json").stdout)["rows"]
    assert p_vectors["words"] == embeddings["words"]
    assert embeddings["name"].startswith("embeddings of")
    vectors = read_vectors(tmp_path / "m" / "embeddings.txt", ["in front of"])
    expected = network.embedding.weight[vocabulary.number["in_front_of"]].tolist()
    assert vectors.rows[0].tolist() == pytest.approx(expected)


@pytest.mark.slow
def test_the_default_model_prefers_a_relation_in_its_own_contexts(
    tmp_path: Path, captions: Path
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("in front of\nin\nwith\n", encoding="utf-8")
    ask(
        "matrix",
        "smollm2",
        captions,
        "-o",
        tmp_path / "m",
        "--relations",
        mine,
        "--minimum",
        10,
        "--most",
        6,
        "-q",
    )
    matrix, _ = pvectors.read(tmp_path / "m")
    assert matrix.words == matrix.contexts == ("in", "in front of", "with")
    bits = np.log2(matrix.perplexity)
    beyond = bits - bits.mean(axis=0) - bits.mean(axis=1, keepdims=True) + bits.mean()
    # beyond how easy a word and how hard a context is: each fits its own best
    assert (np.diag(beyond) < 0).all()
    assert (beyond.argmin(axis=0) == np.arange(3)).all()
