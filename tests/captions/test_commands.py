"""`seesay score`, through its own sub-command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from seesay.captions.commands import app
from seesay.errors import UserError
from seesay.questions import Slice
from seesay.runs.records import Comparison, Record

HYPOTHESES = ["A dog runs in the park.", "Two cats sleep.", "A man rides a bike."] * 4
REFERENCES = [
    "The dog is running in a park.",
    "Two cats are sleeping.",
    "A man is riding his bike.",
] * 4


@pytest.fixture(autouse=True)
def _no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """METEOR's data are not there: what is tested must not hang on them."""
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("SEESAY_METEOR", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("COLUMNS", "200")


def as_record(row: dict[str, Any]) -> Record:
    """A printed row: its slice is a text there."""
    return Record(**{**row, "slice": row["slice"] and Slice.parse(row["slice"])})


def _score(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    hypotheses, references = tmp_path / "ours.json", tmp_path / "refs.jsonl"
    hypotheses.write_text(
        json.dumps([{"image_id": i, "caption": text} for i, text in enumerate(HYPOTHESES)])
    )
    references.write_text(
        "".join(json.dumps({"image_id": i, "caption": t}) + "\n" for i, t in enumerate(REFERENCES))
    )
    return hypotheses, references


def test_json_is_a_list_of_records(
    files: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    done = _score("captions", *files, "--resamples", "100", "--json")
    assert done.exit_code == 0, done.output
    records = [as_record(row) for row in json.loads(done.stdout)]
    assert [record.metric for record in records][:5] == [
        "BLEU-1",
        "BLEU-2",
        "BLEU-3",
        "BLEU-4",
        "METEOR(ex_st)",
    ]
    assert {(record.model, record.task, record.n) for record in records} == {
        ("ours", "captions", 12)
    }
    assert all(record.low <= record.value <= record.high for record in records)
    assert "nrefs:1" in records[0].signature
    assert "the reduced variant METEOR(ex_st) is computed" in caplog.text


def test_the_table_and_the_quiet_one(files: tuple[Path, Path]) -> None:
    done = _score("captions", *files, "--no-meteor", "--resamples", "100")
    assert re.search(r"ROUGE-L +0\.\d{4} +0\.\d{4} +0\.\d{4}", done.stdout)
    assert "n = 12  tok:ptb" in done.stdout
    assert not done.stderr
    assert (
        "tok:ptb"
        not in _score("captions", *files, "--no-meteor", "--resamples", "100", "--quiet").stdout
    )


def test_a_few_perfect_captions_are_no_certainty(tmp_path: Path) -> None:
    """Two of two that are right have 0.342 to 1 (Wilson); the interval was 1 to 1."""
    captions = tmp_path / "same.json"
    captions.write_text(json.dumps([{"image_id": i, "caption": "a dog runs"} for i in range(2)]))
    arguments = ("captions", captions, captions, "--no-meteor", "--resamples", "100")
    records = [as_record(row) for row in json.loads(_score(*arguments, "--json").stdout)]
    (precision,) = (record for record in records if record.metric == "unigram precision")
    assert (precision.value, precision.high) == (1, 1)
    assert precision.low == pytest.approx(0.342, abs=1e-3)
    assert precision.too_few
    assert "Fewer than 10 texts" in _score(*arguments).stdout


def test_two_systems(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "theirs.json"
    other.write_text(
        json.dumps([{"image_id": i, "caption": text} for i, text in enumerate(REFERENCES)])
    )
    done = _score(
        "captions", *files, "--versus", other, "--no-meteor", "--resamples", "100", "--json"
    )
    document = json.loads(done.stdout)
    comparison = Comparison(**document["comparisons"][0])
    assert (comparison.a, comparison.b, comparison.n) == ("ours", "theirs", 12)
    assert comparison.difference < 0
    assert comparison.high < 0
    assert {as_record(row).model for row in document["records"]} == {"ours", "theirs"}
    shown = _score(
        "captions", *files, "--versus", other, "--no-meteor", "--resamples", "100"
    ).stdout
    assert "ours − theirs" in shown
    # the p-value that allows for all the metrics is the one that is shown
    metrics = document["comparisons"]
    assert f"corrected for {len(metrics)} metrics (Holm)" in shown
    assert any(metric["p_holm"] != metric["p_signflip"] for metric in metrics)
    (line,) = [line for line in shown.split("ours − theirs")[1].splitlines() if "CIDEr" in line]
    (cider,) = [metric for metric in metrics if metric["metric"].startswith("CIDEr")]
    assert line.split()[-1] == f"{cider['p_holm']:.4f}"


def test_empty_captions_count_and_are_named(
    files: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    captions, references = files
    rows = json.loads(captions.read_text())
    rows[1]["caption"] = " "
    captions.write_text(json.dumps(rows))
    done = _score("captions", captions, references, "--no-meteor", "--resamples", "100", "--json")
    assert done.exit_code == 0
    assert {row["n"] for row in json.loads(done.stdout)} == {12}
    assert "ours: 1 of 12 captions without a word; they count" in caplog.text


def test_per_caption_scores_and_document_frequencies(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    rows, table = tmp_path / "rows.jsonl", tmp_path / "df.json"
    first = _score(
        "captions",
        *files,
        "--per-caption",
        rows,
        "--save-df",
        table,
        "--resamples",
        "100",
        "--json",
    )
    written = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(written) == 12
    assert written[0]["tokens"] == "a dog runs in the park"
    assert 0 < written[0]["ROUGE-L"] < 1
    second = _score("captions", *files, "--df", table, "--resamples", "100", "--json")
    figures = [
        {r["metric"]: r["value"] for r in json.loads(done.stdout)} for done in (first, second)
    ]
    assert figures[0]["CIDEr-D"] == pytest.approx(figures[1]["CIDEr-D"])
    assert "df=given:12" in json.loads(second.stdout)[0]["signature"]


def test_one_bad_row_in_a_hundred(tmp_path: Path) -> None:
    """Each is reported by its line, the rest is scored, and the exit code says so."""
    rows = [json.dumps({"image_id": i, "caption": HYPOTHESES[i % 3]}) for i in range(500)]
    for line in (100, 200, 300, 400, 499):
        rows[line - 1] = rows[line - 1][:-1]
    hypotheses, references = tmp_path / "h.jsonl", tmp_path / "r.jsonl"
    hypotheses.write_text("\n".join(rows))
    references.write_text(
        "\n".join(json.dumps({"image_id": i, "caption": REFERENCES[i % 3]}) for i in range(500))
    )
    done = _score("captions", hypotheses, references, "--no-meteor", "--resamples", "100", "--json")
    assert done.exit_code == 1
    assert {row["n"] for row in json.loads(done.stdout)} == {495}
    assert re.findall(r"h\.jsonl, line (\d+): not JSON", done.stderr) == [
        "100",
        "200",
        "300",
        "400",
        "499",
    ]
    assert "left out" in done.stderr


def test_parses(tmp_path: Path) -> None:
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    tree = "(S (NP (N dogs)) (VP (V ran)))"
    long = f"(S {' '.join(['(NP (N dogs))'] * 50)})"
    gold.write_text("\n".join([tree] * 4 + [long, tree, tree]))
    test.write_text(
        "\n".join(
            [
                tree,
                tree.replace("VP", "NP"),
                tree.replace("dogs", "cats"),
                "(S (N x)",
                long,
                "",
                tree,
            ]
        )
    )
    done = _score(
        "parses", gold, test, "--resamples", "100", "--json", "--per-sentence", tmp_path / "s.jsonl"
    )
    assert done.exit_code == 1
    assert "line 3: the words differ: 'dogs' in gold, 'cats' in test" in done.stderr
    assert "line 4: 1 bracket not closed" in done.stderr
    assert "line 6: no parse" in done.stderr
    records = [as_record(row) for row in json.loads(done.stdout)]
    figures = {(record.metric, record.slice and str(record.slice)): record for record in records}
    assert figures["labelled precision", None].value == pytest.approx((3 + 2 + 51 + 3) / 60)
    assert figures["unlabelled F1", None].value == 1
    assert figures["labelled precision", "length<=40"].value == pytest.approx(8 / 9)
    assert figures["complete match", None].n == 4
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["captions", "nowhere.json", "nowhere.json"], "There is no file"),
        (["parses", "nowhere.mrg", "nowhere.mrg"], "There is no file nowhere.mrg"),
    ],
)
def test_mistakes_are_sentences(arguments: list[str], sentence: str) -> None:
    done = _score(*arguments)
    assert isinstance(done.exception, UserError)
    assert sentence in str(done.exception)


def test_parses_that_do_not_fit(tmp_path: Path) -> None:
    gold, test = tmp_path / "g", tmp_path / "t"
    gold.write_text("(S (N a))\n(S (N b))\n")
    test.write_text("(S (N a))\n")
    assert "2 parses" in str(_score("parses", gold, test).exception)
    gold.write_text("(S (N b))\n")
    assert "could be compared" in str(_score("parses", gold, test).exception)


def test_perfect_captions_leave_doubt_up_to_the_best_score(tmp_path: Path) -> None:
    """Also where a metric reaches 10. By Wilson's interval 0 of 2 may be up to 0.6576 (z^2 / (2 +
    z^2), z = 1.96), so that CIDEr-D may be 3.424 as well."""
    captions = ["A dog runs in the wide green park.", "Two small cats sleep on an old sofa."]
    path = tmp_path / "perfect.txt"
    path.write_text("\n".join(captions) + "\n")
    done = _score("captions", path, path, "--resamples", "100", "--json")
    by_metric = {row["metric"]: row for row in json.loads(done.stdout)}
    consensus = by_metric["CIDEr-D"]
    assert (consensus["value"], consensus["too_few"]) == (pytest.approx(10), True)
    assert consensus["low"] == pytest.approx(10 * (1 - 0.6576), abs=1e-3)
    assert consensus["high"] == pytest.approx(10)
    assert by_metric["BLEU-4"]["low"] == pytest.approx(1 - 0.6576, abs=1e-4)
    # two systems that are alike: others might differ by up to 0.6576 of the range, either way
    done = _score("captions", path, path, "--versus", path, "--resamples", "100", "--json")
    tests = {row["metric"]: row for row in json.loads(done.stdout)["comparisons"]}
    assert tests["CIDEr-D"]["low"] == pytest.approx(-6.576, abs=1e-3)
    assert tests["CIDEr-D"]["high"] == pytest.approx(6.576, abs=1e-3)
    printed = _score("captions", path, path, "--resamples", "100").stdout
    assert "Fewer than 10 texts: too few" in printed
