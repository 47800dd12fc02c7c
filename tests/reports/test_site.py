"""The leaderboard as files, and in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from huggingface_hub import SpaceCard, parse_eval_result_entries
from playwright.sync_api import Browser, Page, expect
from tests.browser import chromium
from tests.reports.made_up import comparison, hostile_run, run, task

from seesay.errors import UserError
from seesay.questions import Published, Template
from seesay.reports.site import stated_parameters, write_site
from seesay.runs.records import Comparison
from seesay.runs.run import Run

PUBLISHED = (
    Published("people", "accuracy", 0.94, "Norlund 2021"),
    Published("BERT-110M", "accuracy", 0.2, "X 2020"),
)


def board() -> list[Run]:
    """Three models and a hostile one on two tasks; the second is best on the first task."""
    colors = replace(task("core-color"), published=PUBLISHED)
    sizes = task("core-size")
    runs = [run(colors, f"owner/model-{size}M", seed=size) for size in (70, 160, 410)]
    runs += [run(sizes, "owner/model-70M", 4), hostile_run()]
    raised = tuple(
        f.model_copy(update={end: getattr(f, end) + 0.2 for end in ("value", "low", "high")})
        for f in runs[1].figures
    )
    runs[1] = replace(runs[1], figures=raised)
    return runs


def paired_tests(runs: list[Run]) -> list[Comparison]:
    best = runs[1]
    return [
        comparison(other.manifest.model, best.manifest.model, -0.2).model_copy(
            update={
                "task": "core-color",
                "signature_a": other.manifest.signature,
                "signature_b": best.manifest.signature,
                "p_holm": 0.0321,
            }
        )
        for other in (runs[0], runs[2])
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = board()
    folder = tmp_path_factory.mktemp("site") / "public"
    return write_site(folder, runs, paired_tests(runs), url="https://example.org/board/").parent


class Links(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "a":
            self.links.append(attributes["href"] or "")
        if attributes.get("id"):
            self.ids.add(str(attributes["id"]))


def test_there_is_a_page_for_every_model_and_task_and_no_link_leads_nowhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert {len(list((site / kind).iterdir())) for kind in ("tasks", "models")} == {3, 4}
    for page in pages:
        for link in Links(page).links:
            target, _, anchor = link.partition("#")
            path = (page.parent / target).resolve() if target else page
            assert path.is_file(), (page, link)
            assert not anchor or anchor in Links(path).ids, (page, link)


def test_every_number_has_its_interval_signature_and_command(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    row = next(part for part in index.split("<tr") if 'data-name="owner/model-70m"' in part)
    assert "0.362–0.462" in row
    assert "task:core-color|model:owner/model-70M|length:sum" in row
    assert "seesay probe owner/model-70M" in row
    page = next((site / "models").glob("owner_model-70M*")).read_text(encoding="utf-8")
    for expected in (
        "task:core-size|model:owner/model-70M",
        "seesay probe owner/model-70M",
        "0.412",
        "0.362–0.462",
    ):
        assert expected in page


def test_only_what_a_test_shows_is_bold(site: Path, tmp_path: Path) -> None:
    bold = re.compile(r'<a href="([^"#]*)[^"]*" title="[^"]*" class="value">')
    (page,) = bold.findall((site / "index.html").read_text(encoding="utf-8"))
    assert "model-160M" in page
    runs = board()
    assert not bold.findall(write_site(tmp_path, runs, paired_tests(runs)[:1]).read_text())


def test_a_task_page_has_the_corrected_tests_the_published_rows_and_the_slices(site: Path) -> None:
    text = (site / "tasks" / "task-core-color.html").read_text(encoding="utf-8")
    for expected in ("0.032", "Norlund 2021", "0.940", "owner/model-160M", "By category", "n = 3"):
        assert expected in text
    names = re.findall(r'class="name"><a [^>]*><bdi>([^<]*)</bdi>', text)
    assert names[0] == "owner/model-160M"


def test_the_hub_reads_its_files(site: Path) -> None:
    (file,) = (site / "hub").rglob("core-size.yaml")
    assert file.parent.name == ".eval_results"
    (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text(encoding="utf-8")))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("seesay/seesay", "core-size", 0.412)
    assert (entry.source_url or "").startswith("https://example.org/board/models/owner_model-70M")
    assert entry.notes is not None
    assert "95 % interval 0.362–0.462, n = 3; task:core-size|" in entry.notes


def test_the_folder_is_a_space(site: Path, tmp_path: Path) -> None:
    """As the Hub reads its card; a card that is there stays."""
    card = SpaceCard.load(site / "README.md").data.to_dict()
    assert card["sdk"] == "static"
    assert (site / card["app_file"]).is_file()
    (tmp_path / "README.md").write_text("Mine.")
    write_site(tmp_path, board())
    assert (tmp_path / "README.md").read_text() == "Mine."


def test_a_task_asked_in_two_conditions_has_two_files_for_the_hub(tmp_path: Path) -> None:
    example = task()
    other = replace(
        example, templates=(Template("question", "What colour is the {object}? [MASK]"),)
    )
    write_site(tmp_path, [run(example), run(other, signature="other")])
    files = sorted(tmp_path.glob("hub/*/.eval_results/*.yaml"))
    assert [file.name for file in files] == ["made-up-2.yaml", "made-up.yaml"]
    assert ["other" in file.read_text() for file in files] == [True, False]


def test_sizes_are_read_from_names() -> None:
    names = [
        "SmolLM2-135M",
        "pythia-1.4b · 5 shots",
        "bert-base-uncased",
        "T5-v1_1",
        "made-2B-it",
        "gpt4all",
    ]
    assert [stated_parameters(name) for name in names] == [135e6, 1.4e9, None, None, 2e9, None]


def test_parameters_are_those_of_the_network_where_they_were_counted(tmp_path: Path) -> None:
    runs = [run(task("core-color"), name) for name in ("small-7B", "large-70M")]
    counted = [
        replace(each, manifest=each.manifest.model_copy(update={"parameters": count}))
        for each, count in zip(runs, (260_032, None), strict=True)
    ]
    text = write_site(tmp_path, counted).read_text(encoding="utf-8")
    rows = text.split("<tr")
    small = next(row for row in rows if 'data-name="small-7b"' in row)
    large = next(row for row in rows if 'data-name="large-70m"' in row)
    assert ">260 K<" in small
    # known by its name alone
    assert ">70 M<" in large


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least one run"):
        write_site(tmp_path, [])
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
        write_site(tmp_path / "file", board())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    noise: list[str] = []
    opened.on("console", lambda message: noise.append(message.text))
    opened.on("pageerror", lambda error: noise.append(str(error)))
    opened.goto((site / "index.html").as_uri())
    yield opened
    opened.close()
    assert noise == []


def names(page: Page) -> list[str]:
    shown = page.locator(".board tbody tr:visible th bdi:first-child")
    return [
        name for name in shown.all_text_contents() if name.startswith(("owner", "people", "BERT"))
    ]


def test_sorting_and_filtering(page: Page, site: Path) -> None:
    heading = page.locator("th", has=page.get_by_role("button", name="Task core-color"))
    page.get_by_role("button", name="Task core-color").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert names(page)[:2] == ["people", "owner/model-160M"]
    page.get_by_role("button", name="Parameters").click()
    assert names(page)[:4] == [
        "owner/model-410M",
        "owner/model-160M",
        "BERT-110M",
        "owner/model-70M",
    ]
    page.get_by_label("Search").fill("MODEL-1")
    assert names(page) == ["owner/model-160M"]
    page.get_by_label("Search").fill("")
    page.get_by_role("combobox", name="Tasks").select_option("size")
    assert names(page) == ["owner/model-70M"]
    page.get_by_role("combobox", name="Tasks").select_option("")
    page.get_by_role("combobox", name="Kind").select_option("people")
    assert names(page) == ["people"]
    for file in site.rglob("*.html"):
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, file


def test_dials_in_which_models_differ_are_columns(tmp_path: Path) -> None:
    runs = []
    for number, typical in enumerate(("0", "1")):
        plain = run(task("core-color"), f"reared-{number}", seed=number)
        diet = {"learner": "text", "typical": typical}
        runs.append(replace(plain, manifest=plain.manifest.model_copy(update={"diet": diet})))
    # who was raised elsewhere makes no column of a dial in which all reared models agree
    runs.append(run(task("core-color"), "published", seed=2))
    page = write_site(tmp_path / "public", runs).read_text(encoding="utf-8")
    headers = re.findall(r'<th scope="col" data-type="text"[^>]*>([^<]*)</th>', page)
    assert headers == ["Model", "typical"]
    values = re.findall(r'data-label="typical" data-value="(\d?)"', page)
    assert sorted(values) == ["", "0", "1"]


def test_tasks_of_one_title_are_told_apart_by_their_names(tmp_path: Path) -> None:
    tasks = [replace(task(name), title="Which is larger") for name in ("things", "verbs")]
    runs = [run(one, "model", seed) for seed, one in enumerate(tasks)]
    page = write_site(tmp_path, runs).read_text(encoding="utf-8")
    for name in ("things", "verbs"):
        assert f'<a href="tasks/task-{name}.html"><bdi>{name}</bdi></a>' in page
        assert f'data-label="{name} accuracy"' in page


def test_cells_say_on_a_phone_too_that_they_are_of_a_sample(tmp_path: Path) -> None:
    """There the row of headers is cut off, and each cell has its own."""
    whole = run(task("core-color"), "model")
    sample = replace(whole, manifest=whole.manifest.model_copy(update={"limit": 60}))
    page = write_site(tmp_path, [sample]).read_text(encoding="utf-8")
    assert 'data-label="core-color accuracy · a sample (limit 60)"' in page


def test_a_figure_of_fewer_questions_is_marked_and_ranks_below(tmp_path: Path) -> None:
    whole = run(task("core-color"), "model")
    figures = tuple(f.model_copy(update={"value": 0.9, "n": 2}) for f in whole.figures)
    other = run(whole.task, "other", 1)
    manifest = other.manifest.model_copy(update={"limit": 2})
    sample = replace(other, manifest=manifest, figures=figures)
    index = write_site(tmp_path, [whole, sample])
    page = index.read_text(encoding="utf-8")
    assert "0.900</a>‡" in page
    assert "0.412</a><small>" in page
    assert "‡ Of fewer questions than others of its column" in page
    ranking = (tmp_path / "tasks/task-core-color.html").read_text(encoding="utf-8")
    models, _, _ = ranking.partition('id="made"')
    assert 0 < models.index("<bdi>model</bdi>") < models.index("<bdi>other · limit 2</bdi>")
