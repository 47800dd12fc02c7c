"""The documentation is true: its names exist, its commands parse, its tutorials run, and its site
builds."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import nbformat
import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from nbclient import NotebookClient
from tests.docs_blocks import blocks, check_call, command_lines, follow, seesay_calls
from tools.json_tables import fill_tables

import seesay
from seesay.metrics import METRICS
from seesay.plugins import collect

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMPORT = re.compile(r"^\s*(?:>>> )?(from seesay[\w.]* import (?:\([^)]*\)|.+))$", re.MULTILINE)
DOTTED = re.compile(r"\bseesay(?:\.[a-z_]\w*)+(?:\.[A-Z]\w*)?")
FILES = (".yml", ".toml", ".tsv", ".json", ".py", ".svg", ".html")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_in_the_documentation_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = {name for name in DOTTED.findall(text) if not name.endswith(FILES)}
    for line in IMPORT.findall(text):
        for statement in ast.parse(line).body:
            if isinstance(statement, ast.ImportFrom):
                names |= {f"{statement.module}.{alias.name}" for alias in statement.names}
    for name in sorted(names):
        resolve_name(name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_documentation_parse(page: Path) -> None:
    for arguments in seesay_calls(page.read_text(encoding="utf-8")):
        check_call(arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_of_the_project_that_the_documentation_names_exist(page: Path) -> None:
    paths = re.findall(
        r"\b(?:src/seesay|tests|benchmarks)/[\w/.-]*\.\w+", page.read_text(encoding="utf-8")
    )
    invented = re.compile(r"/my[-_]|NAME")  # how the reader's own file would be called
    assert [
        path for path in paths if not invented.search(path) and not (ROOT / path).exists()
    ] == []


def test_the_tables_of_json_documents_are_those_of_their_models() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    assert page.count("<!-- fields: ") >= 3
    assert fill_tables(page) == page, "run `make index`"


FIGURE = re.compile(r"[−+]?\d+\.\d+")
MOST_WORDS = 175
"""Of a finding: more are not read to their end."""


def test_findings_are_short_and_their_figures_stand_where_they_come_from() -> None:
    text = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    findings = [part.split("\n\n")[0] for part in re.split(r"(?m)^- (?=\*\*)", text)[1:]]
    assert len(findings) > 10
    for finding in findings:
        assert finding.count("*What would explain it away*: ") == 1, finding
        assert len(finding.split()) <= MOST_WORDS, finding
    section = "## Behind the findings"
    page = (ROOT / "docs/leaderboard/index.md").read_text(encoding="utf-8")
    behind = page.split(section)[1].split("\n## ")[0]
    # the page is written from this text
    assert behind in (ROOT / "benchmarks/battery_page.md").read_text(encoding="utf-8")
    by_leaderboard = [finding for finding in findings if "(leaderboard/index.md#" in finding]
    assert len(by_leaderboard) == behind.count("\n### ")
    for figure in FIGURE.findall(" ".join(by_leaderboard)):
        assert figure in behind, figure


def test_every_finding_names_tests_that_are_there() -> None:
    rows = [
        line
        for line in (ROOT / "docs/security.md").read_text(encoding="utf-8").splitlines()
        if "::" in line
    ]
    assert len(rows) > 40
    for row in rows:
        file = ""
        for path, name in re.findall(r"`(tests/[\w/]+\.py)?::(\w+)`", row):
            file = path or file
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{name}"


def test_every_image_is_shown_on_a_page() -> None:
    shown = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    images = [path.name for path in (ROOT / "docs" / "images").iterdir()]
    assert len(images) > 40
    assert [name for name in images if f"images/{name}" not in shown] == []


SLOW = ("mining", "cluster", "rearing")  # over ten seconds
FOLLOWED = ["docs/index.md", "docs/how-a-number-is-made.md"]
FOLLOWED += sorted(
    page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "tutorials").glob("*.md")
)


@pytest.mark.seconds
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if Path(page).stem in SLOW else [])
        for page in FOLLOWED
    ],
)
def test_pages_that_readers_follow_run_as_they_stand(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    follow((ROOT / page).read_text(encoding="utf-8"))


ELSEWHERE = {  # what commands of the README need that tests do not have, by a part of the command
    **dict.fromkeys(("git clone", "make demo", "source ", "pip install"), "they install"),
    "bert-base-uncased": "the hub",
    **dict.fromkeys(("./my-model", "openai:my-model"), "a reader's own files"),
}
SMALLER = {"--limit 100": "--limit 6", "limit=50": "limit=6"}


@pytest.mark.slow
def test_the_readmes_commands_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer questions than the README asks for."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for large, small in SMALLER.items():
        assert large in text
        text = text.replace(large, small)
    steps = []
    for block in blocks(text):
        if block.language == "python":
            steps.append(f"```python\n{block.text}```")
        for command in command_lines(block.text) if block.language == "sh" else ():
            if not any(part in f"{command} " for part in ELSEWHERE):
                limited = re.sub(r"^seesay probe(?!.*--limit)", "seesay probe --limit 4", command)
                steps.append(f"```sh\n{limited}\n```")
    assert len(steps) == 4
    follow("\n\n".join(steps))
    assert (tmp_path / "page.html").is_file()
    assert (tmp_path / "report.html").is_file()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, built strictly: a broken link or an unknown name is an error."""
    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.mark.seconds
def test_the_site_has_every_command_and_every_public_name(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for name in (
        "seesay probe",
        "seesay tasks check",
        "seesay judge serve",
        "seesay relations page",
    ):
        assert f'id="{name.replace(" ", "-")}"' in commands
    assert "--shot-seeds" in commands
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert [
        name
        for name in seesay.__all__
        if not name.startswith("_") and f'id="seesay.{name}"' not in python
    ] == []


@pytest.mark.seconds
def test_no_list_of_the_site_breaks_off(site: Path) -> None:
    """What belongs to an item is indented by four: else the next item is running text."""
    broken = [
        page.name
        for page in site.rglob("*.html")
        if re.search(r"^- <strong>", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert broken == []


def _results(notebook: Any) -> list[str]:
    """What the cells return, as plain text."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output["data"]["text/plain"] for output in outputs if "data" in output]


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path) -> None:
    notebook: Any = nbformat.read(  # type: ignore[no-untyped-call]
        ROOT / "docs" / "tutorials" / "first-look.ipynb", as_version=4
    )
    stored = _results(notebook)
    NotebookClient(
        notebook, timeout=600, startup_timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("smollm2" in output.get("data", {}).get("text/html", "") for output in shown)
    # the page shows what the notebook gives: stored outputs do not go stale
    assert _results(notebook) == stored
    assert (tmp_path / "first-look.html").is_file()


def test_the_glossary_has_every_metric_and_every_noun() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    names = [*METRICS, *collect(lambda plugin: plugin.metrics)]
    assert [name for name in names if f"`{name}`" not in glossary] == []
    nouns = "question template task model answers run results knowledge scene picture reasoner"
    more = "condition fingerprint edition slice spread chance interval signature instrument"
    assert [noun for noun in f"{nouns} {more}".split() if f"**{noun}**" not in glossary] == []


@pytest.mark.seconds
def test_the_notebook_is_stored_with_its_outputs_and_is_a_page(site: Path) -> None:
    path = ROOT / "docs" / "tutorials" / "first-look.ipynb"
    assert path.stat().st_size < 100_000
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # the first one imports, the others show something
    assert all(cell.outputs for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    assert {output.output_type for output in outputs} == {"execute_result", "stream"}
    page = (site / "tutorials" / "first-look.html").read_text(encoding="utf-8")
    assert page.count('class="notebook-output"') == sum(
        "text/html" in output.get("data", {}) for output in outputs
    )
    index = (site / "tutorials" / "index.html").read_text(encoding="utf-8")
    assert 'href="first-look.html"' in index
