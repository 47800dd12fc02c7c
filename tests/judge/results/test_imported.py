"""People's answers of other programs: what each shape gives, and everything that is left out."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.judge.studies import task

from seesay.errors import UserError
from seesay.files import write_csv
from seesay.judge.results.export import StudyAnswers, export_answers
from seesay.judge.results.imported import ImportedAnswers, ImportKeys, import_answers
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import study_from_task

BUTTON = "html-button-response"
NO_KEYS = ImportKeys()


def study(count: int = 3, answer: str = "choice") -> Study:
    """A study of `thing 0` to `thing 2`, whose options are red, green and blue."""
    return study_from_task(task(count), StudyDesign(controls=0), answer=answer)


def trial(index: int, item: int | None, response: Any, **more: Any) -> dict[str, Any]:
    cells = {"trial_type": BUTTON, "trial_index": index, "response": response, "rt": 1500, **more}
    if item is not None:
        cells["item"] = f"thing {item}"
    return cells


def read(path: Path, content: object, keys: ImportKeys = NO_KEYS) -> ImportedAnswers:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return import_answers(study(), [path], keys)


def labels(imported: ImportedAnswers) -> dict[tuple[str, str], str]:
    """Who named what of which item."""
    people = {number: person for person, number in imported.numbers.items()}
    return {
        (people[judgement.person], judgement.item.id): "+".join(judgement.labels)
        for judgement in imported.judgements
    }


def test_jspsych_sessions_are_people_and_buttons_are_options(tmp_path: Path) -> None:
    sessions = [
        [trial(0, None, 0), trial(1, 0, 2), trial(2, 1, 0, trial_type="survey-text")],
        [trial(1, 0, 1, choices=["blue", "red"]), trial(2, 1, {"Q0": "Green"}), trial(3, 2, None)],
    ]
    sessions[0][2]["response"] = "blue"
    imported = read(tmp_path / "colours.json", sessions)
    assert labels(imported) == {
        ("colours 1", "thing 0"): "blue",
        ("colours 1", "thing 1"): "blue",
        ("colours 2", "thing 0"): "red",
        ("colours 2", "thing 1"): "green",
    }
    assert {judgement.seconds for judgement in imported.judgements} == {1.5}
    assert imported.notes == (
        "1 rows ask nothing of the study (colours.json, row 1).",
        "1 rows have no response (thing 2).",
        "1 answers are the numbers of buttons, whose labels the trials do not have: they count in "
        "the order of the task's options (thing 0).",
        "1 items have no answer (thing 2).",
    )


def test_jspsych_lines_as_servers_store_them(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps([trial(0, 0, number)]) for number in (0, 1))
    imported = read(tmp_path / "jatos.txt", lines)
    assert labels(imported) == {("jatos 1", "thing 0"): "red", ("jatos 2", "thing 0"): "green"}


def test_jspsych_people_by_a_key(tmp_path: Path) -> None:
    trials = [trial(0, 0, 0, subject="a"), trial(0, 0, 1, subject="b")]
    imported = read(tmp_path / "all.json", trials)
    assert labels(imported) == {("a", "thing 0"): "red", ("b", "thing 0"): "green"}
    with pytest.raises(UserError, match="has the trial 0 twice"):
        read(tmp_path / "all.json", [trial(0, 0, 0), trial(0, 0, 1)])
    both = [trial(0, 0, 0, subject="a", PROLIFIC_PID="x")]
    with pytest.raises(UserError, match="subject and PROLIFIC_PID, which differ: say --person"):
        read(tmp_path / "all.json", both)
    imported = read(tmp_path / "all.json", both, ImportKeys(person="PROLIFIC_PID"))
    assert list(imported.numbers) == ["x"]


def annotation(person: str, item: int, **labels: Any) -> str:
    row = {"instance_id": f"thing {item}", "user_id": person, "labels": labels, "spans": {}}
    return json.dumps(row)


def test_potato_annotations(tmp_path: Path) -> None:
    rows = [
        annotation("ann", 0, colour={"red": True}),
        annotation("bob", 0, colour={"red": False, "green": "green"}),
        annotation("bob", 1, colour={}),
    ]
    imported = read(tmp_path / "annotations.jsonl", "\n".join(rows))
    assert labels(imported) == {("ann", "thing 0"): "red", ("bob", "thing 0"): "green"}
    assert "1 rows have no response (thing 1)." in imported.notes
    assert all(math.isnan(judgement.seconds) for judgement in imported.judgements)
    two = annotation("ann", 0, colour={"red": True}, sure={"yes": True})
    with pytest.raises(UserError, match="the schemas colour, sure: say which one"):
        read(tmp_path / "annotations.jsonl", two)
    imported = read(tmp_path / "annotations.jsonl", two, ImportKeys(response="colour"))
    assert labels(imported) == {("ann", "thing 0"): "red"}


def test_potato_texts_and_several_labels(tmp_path: Path) -> None:
    path = tmp_path / "annotations.jsonl"
    path.write_text(annotation("ann", 0, colour={"text_box": "I would say green"}))
    (judgement,) = import_answers(study(answer="text"), [path]).judgements
    assert (judgement.text, judgement.labels) == ("I would say green", ("green",))
    path.write_text(annotation("ann", 0, colour={"red": True, "blue": True}))
    (judgement,) = import_answers(study(answer="several"), [path]).judgements
    assert judgement.labels == ("red", "blue")
    with pytest.raises(UserError, match="1 answers name no option"):
        import_answers(study(), [path])


def test_what_does_not_match_is_counted(tmp_path: Path) -> None:
    rows = [
        *(annotation("ann", item, colour={"red": True}) for item in (0, 0, 1, 7)),
        annotation("ann", 1, colour={"blue": True}),
        annotation("bob", 2, colour={"pink": True}),
        "not JSON",
        json.dumps({"instance_id": "thing 0", "user_id": "bob"}),
        json.dumps([1]),
    ]
    with pytest.raises(UserError, match="holds no row"):
        read(tmp_path / "empty.jsonl", "\n")
    imported = read(tmp_path / "annotations.jsonl", "\n".join(rows[:-1]))
    assert labels(imported) == {("ann", "thing 0"): "red"}
    assert imported.notes == (
        "2 rows cannot be read (annotations.jsonl, row 7: not JSON; "
        "annotations.jsonl, row 8: has no 'labels').",
        "1 answers are to no item of 'colours' (thing 7).",
        "1 answers name no option (['pink']).",
        "1 answers were there twice (thing 0).",
        "2 answers of one person to one item contradict one another, and none of them counts "
        "(thing 1).",
        "2 items have no answer (thing 1; thing 2).",
    )


def test_a_shape_that_nobody_knows_is_not_guessed(tmp_path: Path) -> None:
    rows = "who,what,said\nann,thing 0,red\n"
    with pytest.raises(UserError, match="is none of these: jsPsych's trials"):
        read(tmp_path / "x.csv", rows)
    imported = read(tmp_path / "x.csv", rows, ImportKeys("who", "what", "said"))
    assert labels(imported) == {("ann", "thing 0"): "red"}


PROLIFIC = (
    "Submission id,Participant id,Status,Time taken\n"
    "s1,ann,APPROVED,60\ns2,bob,RETURNED,5\ns3,bob,TIMED-OUT,5\ns4,eve,APPROVED,70\n"
    "s5,dan,AWAITING REVIEW,9\n"
)


def test_prolific_says_who_counts(tmp_path: Path) -> None:
    trials = tmp_path / "all.json"
    people = ("ann", "bob", "cat", "dan")
    content = [trial(0, 0, 0, prolific_pid=person) for person in people]
    trials.write_text(json.dumps(content))
    export = tmp_path / "prolific.csv"
    export.write_text(PROLIFIC)
    imported = import_answers(study(), [trials, export])
    people_by_number = {number: person for person, number in imported.numbers.items()}
    reasons = {people_by_number[number]: why for number, why in imported.rejected.items()}
    assert reasons == {
        "bob": "Prolific: returned, timed-out",
        "cat": "not in Prolific's export",
    }
    assert "1 participants of Prolific's export gave no answer (eve)." in imported.notes
    assert (
        "1 people with answers are not in Prolific's export, and do not count (cat)."
        in imported.notes
    )
    result = export_answers(
        StudyAnswers(imported.judgements, rejected=imported.rejected, notes=imported.notes),
        study(),
        tmp_path / "out",
        resamples=100,
    )
    assert (result.report.people, result.report.people_counted) == (4, 2)
    assert [excluded.reasons for excluded in result.report.excluded] == [
        ("Prolific: returned, timed-out",),
        ("not in Prolific's export",),
    ]
    assert result.report.remarks[: len(imported.notes)] == imported.notes
    assert result.run is not None
    assert result.run.answers[0].scores.logp[0] == pytest.approx(0, abs=1e-5)  # both said red


def test_an_export_can_be_read_back(tmp_path: Path) -> None:
    """The table of judgements, as an export and as a Psych-DS dataset, gives the same run."""
    rows = [
        annotation(person, item, colour={("red", "green", "blue")[(item + shift) % 3]: True})
        for shift, person in enumerate(("ann", "bob", "cat", "dan"))
        for item in range(3)
    ]
    imported = read(tmp_path / "annotations.jsonl", "\n".join(rows))
    first = export_answers(
        StudyAnswers(imported.judgements), study(), tmp_path / "first", resamples=100
    )
    (table,) = (tmp_path / "first" / "psych-ds" / "data").glob("*judgements_data.csv")
    assert first.run is not None
    for number, path in enumerate([tmp_path / "first" / "judgements.csv", table]):
        again = import_answers(study(), [path])
        assert again.notes == ()
        second = export_answers(
            StudyAnswers(again.judgements), study(), tmp_path / f"{number}", resamples=100
        )
        assert second.run is not None
        assert second.run.manifest.model_fingerprint == first.run.manifest.model_fingerprint
        assert second.report.agreement == first.report.agreement


def test_unknown_times_and_orders_stay_empty(tmp_path: Path) -> None:
    imported = read(tmp_path / "a.jsonl", annotation("ann", 0, colour={"red": True}))
    export_answers(StudyAnswers(imported.judgements), study(), tmp_path / "out", resamples=100)
    with (tmp_path / "out" / "judgements.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["how"], row["label"]) == ("imported", "red")
    assert [row[name] for name in ("seconds", "answered_at", "shown_at")] == ["", "", ""]
    with (tmp_path / "out" / "people.csv").open() as file:
        (person,) = csv.DictReader(file)
    assert [person[name] for name in ("seconds", "fast_share", "hasty_answers")] == ["", "", ""]


@pytest.mark.parametrize("response", [3, -1, True, 1.5, ["red", "red", "blue"], "purple"])
def test_responses_that_are_no_option(tmp_path: Path, response: Any) -> None:
    good = trial(0, 0, 0)
    imported = read(tmp_path / "t.json", [good, trial(1, 1, response)])
    assert labels(imported) == {("t", "thing 0"): "red"}
    assert any("answers name no option" in note for note in imported.notes)


def test_a_long_table_is_read_in_reasonable_time(tmp_path: Path) -> None:
    rows = [
        {"person": person, "item": f"thing {item}", "label": "red"}
        for person in range(200)
        for item in range(3)
    ]
    write_csv(tmp_path / "long.csv", ["person", "item", "label"], rows)
    assert len(import_answers(study(), [tmp_path / "long.csv"]).judgements) == 600
