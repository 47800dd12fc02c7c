"""The page's structure: self-contained, escaped, complete."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.reports.made_up import COLORS, HOSTILE, comparison, hostile_run, run, task

from seesay.condition import How
from seesay.errors import UserError
from seesay.questions import Answer, Published, Scores, Slice, Task
from seesay.reports import overview_html, render, write
from seesay.reports.answers import Choice, choice_shares, choices, confusion, place_bias
from seesay.reports.groups import group_runs
from seesay.runs.answer_table import AnswerTable
from seesay.runs.run import Run


class Page(HTMLParser):
    """Elements with their attributes and what stands in script, style and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements[-1:] and self.elements[-1][0] in {"script", "style"} and self.cdata_elem:
            self.scripts.append(data)
        else:
            self.text.append(data)

    def data(self) -> list[Any]:
        return [json.loads(text) for text in self.scripts if text.startswith('{"title"')]


def page(*runs: Any, **options: Any) -> Page:
    return Page(render(list(runs), **options))


def test_nothing_is_loaded_from_outside() -> None:
    parsed = page(run(task()), hostile_run(), comparisons=[comparison()])
    for tag, attributes in parsed.elements:
        assert tag not in {
            "iframe",
            "object",
            "embed",
            "base",
            "img",
            "video",
            "audio",
            "source",
            "form-action",
        }
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))


def test_a_model_that_was_asked_in_two_ways_is_one_model() -> None:
    runs = [run(task(), "m"), run(task(), "m", how=How.CHOICE)]
    assert "1 model, 1 task" in " ".join(render(runs).split())


def test_the_policy_allows_only_this_style_and_this_script() -> None:
    text = render([run(task())])
    policy = next(
        e["content"]
        for tag, e in Page(text).elements
        if e.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        inlined = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(inlined) == 1
        digest = base64.b64encode(hashlib.sha256(inlined[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_hostile_names_are_only_text() -> None:
    plain, hostile = (
        page(run(task())),
        page(run(task()), hostile_run(), comparisons=[comparison(*HOSTILE[:2])]),
    )
    allowed_tags = {tag for tag, _ in plain.elements} | {"b", "i", "details", "small", "ul", "li"}
    assert {tag for tag, _ in hostile.elements} <= allowed_tags | {"bdi"}
    executable = [
        e for tag, e in hostile.elements if tag == "script" and e.get("type") != "application/json"
    ]
    assert len(executable) == 1
    assert HOSTILE[0] in "".join(hostile.text)
    assert "49" not in [text.strip() for text in hostile.text]


def test_embedded_data_is_complete() -> None:
    a_run = hostile_run()
    (data,) = page(a_run).data()
    assert data["objects"] == list(HOSTILE)
    assert data["labels"] == list(HOSTILE)
    assert data["models"][0]["label"] == HOSTILE[1]
    assert data["fields"] == {"object": list(HOSTILE)}
    assert data["templates"][0]["pieces"] == [["<b>", "object"], ["</b> & </script> [MASK].", None]]
    (embedded,) = re.findall(
        r'<script type="application/json" id="data-0">(.*?)</script>', render([a_run]), re.DOTALL
    )
    assert not re.search("[<>&\u2028\u2029]", embedded)
    assert json.loads(embedded) == data


def test_the_same_runs_give_the_same_page() -> None:
    assert render([run(task())]) == render([run(task())])


def test_every_part_is_there() -> None:
    published = (
        Published("people", "accuracy", 0.94, "Norlund 2021"),
        Published("old", "accuracy", 0.2, "X", None, Slice.of(half="first")),
    )
    example = replace(task(), published=published)
    parsed = page(run(example), run(example, "b-model", 1), comparisons=[comparison()])
    ids = {e.get("id") for _, e in parsed.elements}
    assert {"overview", "task-made-up", "questions", "comparisons", "made"} <= ids
    text = " ".join(parsed.text)
    for expected in (
        "0.412",
        "0.362–0.462",
        "people",
        "Norlund 2021",
        "a-model is ahead",
        "+0.050",
        "Cite made-up",
        "task:made-up|model:b-model|length:sum",
        "row 7: no gold",
        "seesay probe a-model",
    ):
        assert expected in text
    assert any("c-red" in (e.get("class") or "") for _, e in parsed.elements)
    links = {e["href"] for tag, e in parsed.elements if tag == "a"}
    assert {str(link)[1:] for link in links} <= {str(i) for i in ids}


def choice(
    options: tuple[str, ...], scores: Scores, gold: dict[str, float], metric: str, length: str
) -> Choice:
    """What a model chooses that is asked one question."""
    question = replace(task().questions[0], options=options, gold=gold)
    example = replace(
        task(), questions=(question,), templates=task().templates[:1], metrics=(metric,)
    )
    answer = Answer(question.id, "is", tuple(map(str.title, options)), scores)
    (choice,) = choices(
        replace(run(example, length=length), answers=AnswerTable.of([answer]))
    ).values()
    return choice


def test_a_choice_follows_the_length_rule() -> None:
    scores = Scores((-3.0, -4.0), (1, 2), (3, 6))
    by_sum, by_mean = (
        choice(("red", "orange"), scores, {"orange": 1.0}, "accuracy", length)
        for length in ("sum", "mean")
    )
    assert (by_sum.labels, by_sum.mark) == (("red",), "0")
    assert (by_mean.labels, by_mean.mark) == (("orange",), "1")
    assert by_sum.probability == pytest.approx(1 / (1 + math.exp(-1)))
    assert by_sum.shares == pytest.approx((1 / (1 + math.exp(-1)), 1 / (1 + math.e)))


def test_any_gold_label_is_right_where_accuracy_is_relaxed() -> None:
    scores, gold = Scores((-3.0, -4.0), (1, 1), (3, 6)), {"orange": 0.7, "red": 0.3}
    strict, relaxed = (
        choice(("red", "orange"), scores, gold, metric, "sum")
        for metric in ("true_confidence", "relaxed_accuracy")
    )
    assert (strict.mark, relaxed.mark) == ("0", "1")


def test_a_tie_is_shared() -> None:
    n = len(COLORS)
    tie = choice(
        COLORS, Scores((0.0,) * n, (1,) * n, (1,) * n), {COLORS[0]: 1.0}, "accuracy", "sum"
    )
    assert (tie.mark, tie.labels) == ("=", COLORS)
    assert choice_shares({("q0", "is"): tie}, COLORS) == pytest.approx([1 / n] * n)
    assert confusion(task(), {("q0", "is"): tie}, COLORS)[0] == pytest.approx([1 / n] * n)


def test_the_overview_for_notebooks_is_a_fragment() -> None:
    published = (Published(HOSTILE[1], "accuracy", 0.94, HOSTILE[2]),)
    text = overview_html([run(replace(task(), published=published)), hostile_run()])
    fragment = Page(text)
    assert {tag for tag, _ in fragment.elements} <= {
        *("div", "style", "table", "thead", "tbody", "tr", "th", "td", "bdi", "small"),
    }
    assert all(
        line.startswith(".seesay-overview ") for line in fragment.scripts[0].strip().splitlines()
    )
    shown = "".join(fragment.text)
    for expected in (
        "0.412",
        "0.362–0.462",
        "calibrated_accuracy",
        "0.940",
        HOSTILE[1],
        HOSTILE[2],
    ):
        assert expected in shown
    with pytest.raises(UserError, match="at least one run"):
        overview_html([])


def test_runs_that_share_a_name_are_told_apart() -> None:
    example = task()
    labels = [
        e.label for g in group_runs([run(example), run(example, length="mean")]) for e in g.entries
    ]
    assert labels == ["a-model · length sum", "a-model · length mean"]


def test_one_task_at_two_limits_is_one_task() -> None:
    full, few = run(task(count=6)), run(task(count=2))
    few = replace(few, folder=Path("few"), manifest=few.manifest.model_copy(update={"limit": 2}))
    (group,) = group_runs([few, full])
    assert (group.title, len(group.task.questions)) == ("Task made-up", 6)
    assert [entry.label for entry in group.entries] == ["a-model · limit 2", "a-model"]
    (data,) = page(few, full).data()
    assert [column["marks"][2:] for column in data["answers"][0]] == ["----", "----"]
    assert "-" not in data["answers"][1][0]["marks"]
    other = replace(
        task(count=3),
        questions=(replace(task().questions[0], gold={"red": 1.0}), *task().questions[1:]),
    )
    assert [g.title for g in group_runs([full, run(other)])] == [
        "Task made-up · 6 questions",
        "Task made-up · 3 questions",
    ]


def test_the_confusion_matrix_is_of_questions_with_one_right_answer() -> None:
    both = {"black": 1.0, "blue": 1.0}
    example = task(count=3)
    example = replace(
        example,
        questions=(replace(example.questions[0], gold=both), *example.questions[1:]),
        metrics=("relaxed_accuracy",),
    )
    by_key = {(f"q{i}", "is"): Choice(("blue",), 1.0, 1.0) for i in range(3)}
    matrix = confusion(example, by_key, COLORS)
    # q0 accepts both, q1 is blue
    assert matrix[:2] == [None, [float(color == "blue") for color in COLORS]]
    text = " ".join(" ".join(page(run(example)).text).split())
    assert "of the 2 questions with one right answer (others accept several)" in text
    none = replace(example, questions=tuple(replace(q, gold=both) for q in example.questions))
    assert "Confusion matrix" not in " ".join(page(run(none)).text)


def test_slices_show_how_many_questions_they_rest_on() -> None:
    a_run = run(task(count=6))
    figures = tuple(
        f.model_copy(update={"n": 1234}) if f.slice == Slice.of(half="first") else f
        for f in a_run.figures
    )
    text = render([replace(a_run, figures=figures)])
    assert '<td class="num quiet">1,234</td>' in text


@pytest.mark.seconds
def test_a_full_run_stays_small() -> None:
    text = render([run(task(name, count=600)) for name in ("one", "two", "three", "four")])
    assert len(text.encode()) < 1_000_000


def test_writing_replaces_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.html"
    assert write(path, [run(task())]) == path
    write(path, [run(task()), hostile_run()])
    assert path.read_text(encoding="utf-8").endswith("</html>")
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least one run"):
        render([])
    with pytest.raises(UserError, match="is a folder"):
        write(tmp_path, [run(task())])


def with_pictures(paths: Sequence[str | None]) -> Run:
    """A run whose questions come with these pictures."""
    example = task(count=len(paths))
    questions = tuple(
        replace(question, picture=path)
        for question, path in zip(example.questions, paths, strict=True)
    )
    return run(replace(example, questions=questions))


def test_pictures_are_thumbnails_each_once(tmp_path: Path) -> None:
    red, blue = str(tmp_path / "red.png"), str(tmp_path / "blue.png")
    Image.new("RGB", (400, 200), "red").save(red)
    Image.new("RGB", (50, 80), "blue").save(blue)
    (data,) = page(with_pictures([red, None, blue, red])).data()
    pictures = data["pictures"]
    assert pictures["of"] == [0, None, 1, 0]
    assert pictures["note"] == ""
    colors = []
    for address in pictures["addresses"]:
        kind, _, content = address.partition(",")
        assert kind == "data:image/png;base64"
        with Image.open(io.BytesIO(base64.b64decode(content))) as image:
            colors.append((image.size, image.convert("RGB").getpixel((0, 0))))
    assert colors == [((96, 48), (255, 0, 0)), ((50, 80), (0, 0, 255))]


def test_a_page_says_which_pictures_it_does_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seesay.reports.answers.MAX_PICTURES", 3)
    paths = []
    for shade in range(5):
        paths.append(str(tmp_path / f"{shade}.png"))
        Image.new("RGB", (8, 8), (shade, 0, 0)).save(paths[-1])
    Path(paths[0]).unlink()
    Path(paths[1]).write_bytes(b"no picture")
    (data,) = page(with_pictures(paths)).data()
    assert data["pictures"]["of"] == [None, None, 0, None, None]
    assert data["pictures"]["note"] == (
        "The first 3 of 5 pictures are shown. 2 pictures could not be opened where this page was "
        "made."
    )
    # the limit is the page's: two tasks share it
    other = replace(with_pictures(paths), folder=Path("other"))
    other = replace(other, task=replace(other.task, name="other"))
    notes = [each["pictures"]["note"] for each in page(with_pictures(paths), other).data()]
    assert all(note.startswith("The first 1 of 5 pictures are shown.") for note in notes)
    (plain,) = page(run(task())).data()
    assert plain["pictures"] is None


def chooses(places: Sequence[int]) -> tuple[Task, dict[tuple[str, str], Choice]]:
    """Questions with two options, the right one first in half of them, and what is chosen."""
    example = task(count=len(places))
    questions = []
    by_key = {}
    for number, (question, place) in enumerate(zip(example.questions, places, strict=True)):
        options = (f"left {number}", f"right {number}")
        gold = {options[number % 2]: 1.0}
        questions.append(replace(question, options=options, gold=gold))
        for template in example.templates:
            by_key[question.id, template.name] = Choice((options[place],), 1.0, 1.0)
    return replace(example, questions=tuple(questions)), by_key


def test_a_place_chosen_far_too_often_is_a_bias() -> None:
    bias = place_bias(*chooses([1] * 36 + [0] * 4))
    assert bias is not None
    assert (bias.place, bias.chosen, bias.right) == ("option 2 of 2", 0.9, 0.5)
    # 60 % of twenty are 12: as chance would have it
    assert place_bias(*chooses([1] * 12 + [0] * 8)) is None
    # as often as it is right, question by question
    assert place_bias(*chooses([0, 1] * 10)) is None


def test_a_bias_counts_the_questions_in_which_its_place_is_accepted() -> None:
    """Half of the questions accept both options, a quarter each only the first or the second."""
    asked, by_key = chooses([1] * 40)
    questions = []
    for number, question in enumerate(asked.questions):
        left, right = question.options
        one_gold = {left: 1.0} if number % 4 else {right: 1.0}
        gold = {left: 0.9, right: 0.1} if number % 2 else one_gold
        questions.append(replace(question, gold=gold))
    asked = replace(asked, questions=tuple(questions))
    relaxed = place_bias(replace(asked, metrics=("relaxed_accuracy",)), by_key)
    assert relaxed is not None
    assert (relaxed.place, relaxed.chosen, relaxed.right) == ("option 2 of 2", 1.0, 0.75)
    # where only the commonest answer is right
    strict = place_bias(replace(asked, metrics=("accuracy",)), by_key)
    assert strict is not None
    assert strict.right == 0.25


def test_a_headline_that_is_not_registered_is_shown() -> None:
    other = replace(task(), metrics=("another_packages_metric", "accuracy"))
    assert "another_packages_metric" in render([run(other)])


def test_too_few_objects_are_marked_and_explained() -> None:
    few = run(task(), too_few=True)
    page = render([few], [comparison(too_few=True)])
    assert "† Fewer than 10 objects (n counts questions): too few" in page
    assert "0.362–0.462†" in page  # the overview
    assert ">3†<" in page  # n of a slice
    assert "0.020–0.080†" in page  # a difference
    assert "†" in overview_html([few])
    enough = run(task())
    assert "†" not in render([enough], [comparison()])
    assert "†" not in overview_html([enough])


def test_the_spread_stands_beside_the_plain_value() -> None:
    page = render([run(task(), "model")])
    table = page[page.index('class="metrics stack"') :]
    header = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', table.split("</thead>")[0])
    assert header.index("Value") < header.index("Spread") < header.index("Calibrated")
    labels = re.findall(r'data-label="([^"]*)"', table.split('class="headline"')[1])
    assert labels[:4] == ["value", "95 % interval", "spread", "calibrated"]
