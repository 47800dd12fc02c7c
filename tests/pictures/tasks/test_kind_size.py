"""kind-size: the pictures show what the answers say, and each rule is right about its own set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.needs import absent
from tests.pictures.tasks.test_prior_tasks import figure, run_task

from seesay.data.picture_sets import open_picture_set
from seesay.errors import UserError
from seesay.pictures import icons
from seesay.pictures.drawing import rgb
from seesay.pictures.kind_training_set import TESTS, KindSizeSet
from seesay.pictures.kinds import is_big, kind_pictures
from seesay.questions import Task
from seesay.tasks import load_task

COLUMNS, ROWS, SIDE = 3, 2, 384
BACKGROUND = (200, 208, 214)


@pytest.fixture(scope="module")
def task() -> Task:
    try:
        icons.icon("lemon")
    except UserError as error:
        absent(str(error))
    return load_task("kind-size")


def drawn_lengths(pixels: np.ndarray) -> tuple[list[int], int]:
    """The longer side of what each cell shows, and the cell with the frame, by the pixels alone."""
    red = (pixels == (212, 0, 0)).all(axis=2)
    lengths = []
    cells = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            box = (
                slice(row * SIDE // ROWS, (row + 1) * SIDE // ROWS),
                slice(column * SIDE // COLUMNS, (column + 1) * SIDE // COLUMNS),
            )
            # what the frame leaves free
            inside = pixels[box][7:-7, 7:-7].astype(int)
            thing = np.abs(inside - BACKGROUND).sum(axis=2) > 12
            sides = [np.flatnonzero(thing.any(axis=axis)) for axis in (0, 1)]
            lengths.append(max(int(side[-1] - side[0] + 1) for side in sides))
            cells.append(int(red[box].sum()))
    return lengths, int(np.argmax(cells))


def test_the_rule_is_malevics() -> None:
    # the longest is 10 and the shortest 2: the threshold is 10 - 0.29 * 8 = 7.68
    assert is_big(7.7, [2, 7.7, 10])
    assert not is_big(7.6, [2, 7.6, 10])


def test_pictures_show_what_the_answers_say(task: Task) -> None:
    """Measured again in the pixels: big is what is longer than the rule's threshold."""
    for picture in kind_pictures()[::36]:
        lengths, framed = drawn_lengths(rgb(picture, SIDE))
        middle = (max(lengths) + min(lengths)) / 2
        is_large = [length > middle for length in lengths]
        assert sum(is_large) == 3
        same_kind = [
            n for n, large in zip(lengths, is_large, strict=True) if large == is_large[framed]
        ]
        answers = picture.answers
        assert answers["kind"] == ("yes" if is_big(lengths[framed], same_kind) else "no")
        assert answers["here"] == ("yes" if is_large[framed] else "no")


def test_four_questions_about_each_picture(task: Task) -> None:
    assert len(task.questions) == 4 * len(kind_pictures())
    gold = Counter((q.tags["question_type"], q.best_label) for q in task.questions)
    assert set(gold.values()) == {360}  # yes as often as no, in all four
    for question in task.questions:
        assert (question.picture is None) == question.tags["question_type"].startswith("told")
        assert "mm long" in question.fields["question"] or question.picture


@pytest.mark.parametrize(
    ("rule", "own", "other"),
    [("baseline:big-here", "here", "kind"), ("baseline:big-for-kind", "kind", "here")],
)
def test_a_rule_knows_one_set(task: Task, rule: str, own: str, other: str, tmp_path: Path) -> None:
    finished = run_task(task, rule, tmp_path)
    for told in ("", "told "):
        accuracies = {
            (asked, condition): figure(
                finished, "accuracy", question_type=f"{told}{asked}", condition=condition
            )
            for asked in (own, other)
            for condition in ("agree", "disagree")
        }
        assert accuracies == {
            (own, "agree"): 1.0,
            (own, "disagree"): 1.0,
            (other, "agree"): 1.0,
            (other, "disagree"): 0.0,
        }


def test_rules_are_refused_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="use it with kind-size"):
        run_task(load_task("core-color"), "baseline:big-here", tmp_path)


def test_training_never_meets_the_pairs_of_the_tests(task: Task) -> None:
    items = KindSizeSet(400)
    met = {
        (p.small.name, p.large.name) for split in ("train", "val") for p, _ in items.items(split)
    }
    for test in TESTS:
        asked, condition = test.split("-")
        for picture, question_type in items.items(test):
            assert (picture.small.name, picture.large.name) not in met
            assert (question_type, picture.condition) == (asked, condition)
    pixels, question, answer = items.open("train").read(items.items("train")[0], 64)
    assert pixels.shape == (64, 64, 3)
    assert question.startswith("Compared with everything")
    assert answer in (0, 1)
    with pytest.raises(UserError, match="there is only kind-size"):
        open_picture_set("kind-size-5", None)
    with pytest.raises(UserError, match="has no test items"):
        items.items("test")
