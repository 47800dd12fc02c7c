"""Editions: what is new, what stays, and what cannot be drawn anew."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from seesay import api
from seesay.cli import main
from seesay.errors import UserError
from seesay.export import export
from seesay.questions import Question, Task
from seesay.runs.store import find_runs
from seesay.tasks import expand, load_task, task_card
from seesay.tasks.editions import pair_places

PAIRS = """
rows: sizes.csv
rules:
  - draw_pairs: 30
  - compare: [size_a, size_b]
    into: [larger, smaller]
id: [name_a, name_b]
object: [name_a, name_b]
options: [larger, smaller]
gold: {weights: [larger, smaller]}
templates: The {name_a} is [MASK] than the {name_b}.
"""


def pairs_file(folder: Path, text: str = PAIRS, things: int = 20) -> Path:
    """A task file that draws 30 pairs of so many things."""
    rows = [f"thing {number},{number + 1}" for number in range(things)]
    (folder / "sizes.csv").write_text("\n".join(["name,size", *rows]))
    path = folder / "pairs.yaml"
    path.write_text(text)
    return path


def kinds(task: Task) -> Counter[tuple[tuple[str, str], ...]]:
    return Counter(tuple(sorted(question.tags.items())) for question in task.questions)


def objects(questions: Sequence[Question]) -> set[str]:
    return {question.object for question in questions}


@pytest.mark.parametrize(("name", "anchors"), [("core-size", 150), ("things-size", 750)])
def test_an_edition_has_new_questions_of_the_same_kinds(name: str, anchors: int) -> None:
    published = load_task(name)
    edition = load_task(f"{name}@2027-01")
    ids = {question.id for question in published.questions}
    stays = [question for question in edition.questions if question.id in ids]
    new = [question for question in edition.questions if question.id not in ids]
    assert (edition.series, edition.edition, published.edition) == (name, "2027-01", "")
    assert (len(edition.questions), len(stays)) == (len(published.questions), anchors)
    # things that were paired before are not paired again
    assert not objects(new) & objects(published.questions)
    assert kinds(edition) == kinds(published)
    assert edition.fingerprint != published.fingerprint
    assert not edition.provenance.as_published
    assert not edition.published


def test_anchors_are_the_same_in_all_editions_and_the_others_are_not() -> None:
    published = load_task("core-size")
    ids = {question.id for question in published.questions}
    first, second = (load_task(f"core-size@{name}") for name in ("2027-01", "2027-02"))
    anchors = [{q.id for q in task.questions} & ids for task in (first, second)]
    assert anchors[0] == anchors[1]
    shared = objects(first.questions) & objects(second.questions)
    # 75 pairs are anchors; of some 15,000 others, two draws of 225 share few
    assert 75 <= len(shared) < 85
    assert load_task("core-size@2027-01").fingerprint == first.fingerprint


def test_every_kind_gives_its_share_of_anchors_and_gets_new_ones() -> None:
    published = load_task("core-size")
    places = pair_places(published, load_task("core-size@a"))
    assert Counter(place.published[0].tags["ratio"] for place in places) == {
        "2-5": 75,
        "5-20": 75,
        "20+": 75,
    }
    # what takes a place is of its kind
    assert all(place.published[0].tags == place.renewed[0].tags for place in places)


def test_a_fixed_list_is_refused_with_what_can_be_drawn() -> None:
    with pytest.raises(UserError, match=r"'core-color' is a fixed list.* core-size, things"):
        load_task("core-color@2027-01")
    assert task_card("core-color").anchors == 0


def test_what_is_no_edition_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'core-size@a' is an edition itself"):
        api.probe("baseline:majority", "core-size@a", edition="b", output=tmp_path)
    with pytest.raises(UserError, match="edition draws tasks by their names: name 'core-size'"):
        api.probe("baseline:majority", load_task("core-size"), edition="b", output=tmp_path)
    with pytest.raises(UserError, match="edition is 'January 2027': give a name of small letters"):
        api.probe("baseline:majority", "core-size", edition="January 2027", output=tmp_path)
    with pytest.raises(UserError, match=r"from the task's own rows: leave out (--)?data"):
        load_task("core-size@2027-01", tmp_path)


def test_a_task_file_with_anchors_has_editions(tmp_path: Path) -> None:
    path = pairs_file(tmp_path, PAIRS + "anchors: 0.5\n")
    edition = load_task(f"{path}@b")
    published = load_task(str(path))
    ids = {question.id for question in published.questions}
    assert edition.name == "pairs@b"
    assert [len(edition.questions), sum(q.id in ids for q in edition.questions)] == [30, 15]


@pytest.mark.parametrize(
    ("text", "things", "message"),
    [
        (PAIRS, 20, "has no anchors, by which editions are compared: .*`anchors: 0.25`"),
        (PAIRS.replace("draw_pairs: 30", "expect: name"), 20, "no rule that draws"),
        (PAIRS + "anchors: 0.1\n", 9, "new objects for 27 places: an edition needs more rows"),
    ],
)
def test_a_task_file_says_what_is_missing(
    tmp_path: Path, text: str, things: int, message: str
) -> None:
    path = pairs_file(tmp_path, text, things)
    with pytest.raises(UserError, match=message):
        load_task(f"{path}@2027-01")


def test_a_group_is_one_of_editions() -> None:
    assert expand(["size@2027-01"])[0] == "core-size@2027-01"
    with pytest.raises(UserError, match="Unknown task 'core-siz@2027-01'"):
        expand(["core-siz@2027-01"])


def test_the_command_names_the_edition_in_the_signature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--edition", "2027-01", "--limit", "50", "--resamples", "100", "-o", str(tmp_path)]
    with pytest.raises(SystemExit) as ended:
        main(["probe", "baseline:majority", "--task", "core-size", *arguments])
    assert ended.value.code == 0
    assert "core-size@2027-01" in capsys.readouterr().out
    (run,) = find_runs([tmp_path])
    assert re.match(r"task:core-size@2027-01\.1@[0-9a-f]+\|", run.manifest.signature)
    with pytest.raises(SystemExit) as ended:
        main(["probe", "baseline:majority", "--task", "core-color", *arguments])
    assert ended.value.code == 2
    assert "fixed list" in capsys.readouterr().err


def test_an_exported_edition_is_a_task_file(tmp_path: Path) -> None:
    edition = load_task("core-size@a")
    export(edition, tmp_path / "copy", "seesay")
    copy = load_task(str(tmp_path / "copy"))
    assert copy.name == "core-size-a"
    assert [q.gold for q in copy.questions] == [q.gold for q in edition.questions]
