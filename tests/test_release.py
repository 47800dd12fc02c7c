"""What a release is made of agrees: citation, archives, recipe, image, workflow, paper."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tests.docs_blocks import check_call

import seesay
from seesay.tasks import load_task

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
REGISTER = "register/seesay_core_color/eval.yaml"
COMMIT = "0123456789" * 4
DOCS_ADDRESS = "https://github.com/seesay/seesay/blob/main/"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def read_yaml(path: str) -> Any:
    return yaml.safe_load(read(path))


def check_command(arguments: list[str]) -> None:
    """Parse a call of seesay; --help and --version print and end."""
    with contextlib.suppress(typer.Exit):
        check_call(arguments)


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(read("pyproject.toml"))["project"]
    return table


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    fields: dict[str, Any] = read_yaml("CITATION.cff")
    return fields


@pytest.fixture(scope="module")
def authors(citation: dict[str, Any]) -> list[str]:
    """The names of people are written `given family`."""
    names = []
    for author in citation["authors"]:
        parts = (author.get("given-names"), author.get("family-names"), author.get("name"))
        names.append(" ".join(part for part in parts if part))
    return names


def test_the_citation(
    citation: dict[str, Any], authors: list[str], project: dict[str, Any]
) -> None:
    """The fields that version 1.2.0 of the format requires, and what the package says of itself."""
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["version"] == seesay.__version__
    assert authors == [author["name"] for author in project["authors"]]
    assert citation["keywords"] == project["keywords"]
    assert " AND ".join(citation["license"]) == project["license"]


def test_zenodo(citation: dict[str, Any], authors: list[str]) -> None:
    record = json.loads(read(".zenodo.json"))
    assert record["upload_type"] == "software"
    assert record["version"] == seesay.__version__
    assert record["title"] == citation["title"]
    assert record["description"] == citation["abstract"]
    assert record["keywords"] == citation["keywords"]
    assert [creator["name"] for creator in record["creators"]] == authors
    # Zenodo takes one licence: that of the code; the other one is in the notes
    first, second = citation["license"]
    assert record["license"] == first
    assert second in record["notes"]


def test_codemeta(citation: dict[str, Any], authors: list[str], project: dict[str, Any]) -> None:
    record = json.loads(read("codemeta.json"))
    assert record["@context"] == "https://w3id.org/codemeta/3.0"
    assert record["@type"] == "SoftwareSourceCode"
    assert record["name"] == project["name"]
    assert record["description"] == project["description"]
    assert record["version"] == seesay.__version__
    assert [author["name"] for author in record["author"]] == authors
    assert record["codeRepository"] == citation["repository-code"]
    assert record["keywords"] == citation["keywords"]
    assert [Path(address).name for address in record["license"]] == citation["license"]
    assert record["runtimePlatform"] == f"Python {project['requires-python']}"
    assert record["softwareHelp"] == project["urls"]["Documentation"]


def test_the_recipe_has_the_packages_requirements(project: dict[str, Any]) -> None:
    recipe = read_yaml("recipe/recipe.yaml")
    assert recipe["context"]["version"] == seesay.__version__
    assert recipe["package"]["name"] == project["name"]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["license_file"] == project["license-files"]
    assert recipe["about"]["summary"] == project["description"]
    python = f"python {project['requires-python']}"
    # PyPI's and conda's names of these are the same
    dependencies = [
        re.sub(r"^([\w-]+)", r"\1 ", dependency) for dependency in project["dependencies"]
    ]
    assert recipe["requirements"]["run"] == [python, *dependencies]
    build_system = tomllib.loads(read("pyproject.toml"))["build-system"]["requires"]
    host = [requirement.replace(" ", "") for requirement in recipe["requirements"]["host"]]
    assert {python.replace(" ", ""), *build_system} <= set(host)
    scripts = [f"{name} = {address}" for name, address in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts


def test_what_the_recipe_tries_exists() -> None:
    modules, commands = read_yaml("recipe/recipe.yaml")["tests"]
    for module in modules["python"]["imports"]:
        import_module(module)
    for line in commands["script"]:
        program, *arguments = shlex.split(line)
        assert program == "seesay"
        check_command(arguments)


def test_entry_points_and_extras_that_release_files_name_exist(project: dict[str, Any]) -> None:
    for address in project["scripts"].values():
        module, _, function = address.partition(":")
        assert callable(getattr(import_module(module), function))
    for path in ("recipe/recipe.yaml", "docs/llms.txt", "paper/paper.md", "CONTRIBUTING.md"):
        for extras in re.findall(r"(?:seesay|\.)\[([a-z,]+)\]", read(path)):
            assert set(extras.split(",")) <= set(project["optional-dependencies"]), path


def docker_instructions() -> list[tuple[str, str]]:
    lines = [line for line in read("Dockerfile").splitlines() if line and line[0] != "#"]
    instructions = []
    for line in lines:
        name, _, rest = line.partition(" ")
        instructions.append((name, rest))
    return instructions


def copied_files() -> list[str]:
    """What the image is made of, as the Dockerfile copies it."""
    sources = []
    for name, rest in docker_instructions():
        if name == "COPY":
            sources += shlex.split(rest)[:-1]
    return sources


def test_the_image_is_made_of_what_there_is(project: dict[str, Any]) -> None:
    sources = copied_files()
    assert all((ROOT / source).exists() for source in sources)
    ignored = [line for line in read(".dockerignore").splitlines() if line and line[0] != "#"]
    assert ignored[0] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == set(sources)
    # what the build of the package reads is there
    needed = [project["readme"], *project["license-files"], "pyproject.toml", "constraints.txt"]
    for path in needed:
        assert path in sources or Path(path).parts[0] in sources, path


def test_the_commands_of_the_image_exist(project: dict[str, Any]) -> None:
    instructions = docker_instructions()
    by_name = dict(instructions)
    version = re.fullmatch(r"python:(3\.\d+)-slim-bookworm", by_name["FROM"])
    assert version is not None
    classifiers = [item.rpartition(" :: ")[2] for item in project["classifiers"]]
    assert version[1] in classifiers
    (program,) = json.loads(by_name["ENTRYPOINT"])
    assert program in project["scripts"]
    check_command(json.loads(by_name["CMD"]))
    (extras,) = (rest for name, rest in instructions if rest.startswith("EXTRAS="))
    assert set(extras.partition("=")[2].split(",")) <= set(project["optional-dependencies"])
    assert by_name["USER"] != "root"
    for call in re.findall(r"^# docker run .* seesay (.+)$", read("Dockerfile"), re.MULTILINE):
        check_command(shlex.split(call))


@pytest.mark.slow
def test_what_the_image_copies_is_enough_to_build(tmp_path: Path) -> None:
    """No daemon is needed: the same files, the same pip."""
    for source in copied_files():
        subprocess.run(["cp", "-r", ROOT / source, tmp_path / source], check=True)
    wheels = tmp_path / "wheels"
    options = ("--quiet", "--no-deps", "--wheel-dir", wheels)
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, tmp_path], check=True)
    assert [path.name for path in wheels.iterdir()] == [
        f"seesay-{seesay.__version__}-py3-none-any.whl"
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_and_grant_little(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 180
        for step in job["steps"]:
            if "uses" in step:
                assert re.search(r"@(release/)?v\d+$", step["uses"]), step["uses"]


def test_the_release_is_attested_and_published_without_a_secret() -> None:
    workflow = read_yaml(".github/workflows/release.yml")
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` as true
    jobs = workflow["jobs"]
    for name in ("build", "publish"):
        assert jobs[name]["permissions"]["id-token"] == "write"
        assert jobs[name]["permissions"]["attestations"] == "write"
    actions = {
        name: [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
        for name, job in jobs.items()
    }
    assert "actions/attest-build-provenance" in actions["build"]
    assert "pypa/gh-action-pypi-publish" in actions["publish"]
    assert jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["needs"] == "build"
    assert "secrets." not in read(".github/workflows/release.yml")
    for line in re.findall(r"empty/bin/seesay (.+)\)$", workflow_script("build", "Wheel and")):
        check_command(shlex.split(line))


def workflow_script(job: str, title: str) -> str:
    """The commands of the step whose name begins so."""
    steps = read_yaml(".github/workflows/release.yml")["jobs"][job]["steps"]
    (script,) = (step["run"] for step in steps if step.get("name", "").startswith(title))
    return str(script)


def run_script(script: str, folder: Path, tag: str) -> int:
    """How a step ends, run as the runner does."""
    environment = {
        **os.environ,
        "GITHUB_REF_NAME": tag,
        "GITHUB_SHA": COMMIT,
        "PATH": f"{folder}:{os.environ['PATH']}",
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


@pytest.mark.parametrize(
    ("tag", "heading", "passes"),
    [
        ("v{}", "## {} (2026-12-01)", True),
        ("v{}", "## {} (unreleased)", False),
        ("v9.9.9", "## {} (2026-12-01)", False),
        ("{}", "## {} (2026-12-01)", False),
    ],
)
def test_a_tag_that_names_another_version_is_stopped(
    tag: str, heading: str, passes: bool, tmp_path: Path
) -> None:
    package = tmp_path / "src" / "seesay"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(read("src/seesay/__init__.py"))
    heading = heading.format(seesay.__version__)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n\nText.\n")
    code = run_script(
        workflow_script("build", "The tag names"), tmp_path, tag.format(seesay.__version__)
    )
    assert (code == 0) is passes


def test_the_release_notes_are_the_changelogs_section(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 0.2.0 (2027-01-01)\n\nNew.\n\n## 0.1.0 (2026-12-01)\n\nFirst.\n"
    )
    shutil.copytree(ROOT / "register", tmp_path / "register")
    (tmp_path / "dist").mkdir()
    # stands in for GitHub's program, which would publish
    program = tmp_path / "gh"
    program.write_text('#!/bin/sh\necho "$@" > called\n')
    program.chmod(0o755)
    script = workflow_script("notes", "The changelog's")
    assert run_script(script, tmp_path, "v0.2.0") == 0
    assert (tmp_path / "notes.md").read_text().strip() == "New."
    assert (tmp_path / "called").read_text().startswith("release create v0.2.0 ")
    released = yaml.safe_load((tmp_path / "dist" / "eval.yaml").read_text())
    assert released["source"].pop("repository_commit") == COMMIT
    entry = read_yaml(REGISTER)
    assert set(entry["source"].pop("repository_commit")) == {"0"}
    assert released == entry
    assert run_script(script, tmp_path, "v0.3.0") != 0


def test_the_entry_in_the_register_of_inspect_evals(
    citation: dict[str, Any], project: dict[str, Any]
) -> None:
    """What its submission engine reads out of a repository: one task, a function with `@task`."""
    entry = read_yaml(REGISTER)
    assert {"full_title", "common_title", "description", "contributors"} <= set(entry)
    assert "\n" not in entry["description"]
    assert entry["source"]["repository_url"] == citation["repository-code"]
    assert any(
        line.startswith("inspect-ai") for line in project["optional-dependencies"]["inspect"]
    )
    (listed,) = entry["tasks"]
    decorated = []
    for node in ast.parse(read(listed["task_path"])).body:
        if isinstance(node, ast.FunctionDef):
            names = [getattr(part, "id", None) for part in node.decorator_list]
            decorated += [node.name] * names.count("task")
    assert decorated == [listed["name"]]
    asked = load_task(listed["name"].replace("_", "-"))
    assert listed["dataset_samples"] == len(asked.questions)
    # the real model of an entry, where the package is installed
    metadata = pytest.importorskip("inspect_evals.metadata")
    metadata.ExternalEvalMetadata(id=Path(REGISTER).parent.name, **entry)


def test_llms_txt() -> None:
    """A title, a summary, and sections of links to pages that exist (llmstxt.org)."""
    title, _, summary, *rest = read("docs/llms.txt").splitlines()
    assert title == "# seesay"
    assert summary.startswith("> ")
    links = [line for line in rest if line.startswith("- ")]
    assert len(links) > 10
    for line in links:
        match = re.fullmatch(r"- \[[^]]+\]\((\S+)\): .+", line)
        assert match is not None, line
        assert match[1].startswith(DOCS_ADDRESS)
        assert (ROOT / match[1].removeprefix(DOCS_ADDRESS)).is_file(), line
    for name in re.findall(r"`(\w+)`", read("docs/llms.txt").partition("offers")[2]):
        assert callable(getattr(seesay, name)), name


def test_the_paper(citation: dict[str, Any], authors: list[str]) -> None:
    """What JOSS asks for: the front matter, the sections, 250 to 1,000 words, cited works."""
    _, front, text = read("paper/paper.md").split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["title"] == citation["title"]
    assert [author["name"] for author in fields["authors"]] == authors
    places = {place["index"] for place in fields["affiliations"]}
    assert {author["affiliation"] for author in fields["authors"]} <= places
    assert {"tags", "date"} <= set(fields)
    headings = re.findall(r"^# (.+)$", text, re.MULTILINE)
    assert {"Summary", "Statement of need", "State of the field", "References"} <= set(headings)
    assert 250 <= len(text.split()) <= 1000
    works = read(f"paper/{fields['bibliography']}")
    keys = re.findall(r"^@\w+\{(\w+),$", works, re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert set(re.findall(r"@(\w+)", text)) == set(keys)
    for entry in works.strip().split("\n\n"):
        assert {"author", "title", "year"} <= set(re.findall(r"^  (\w+) = \{", entry, re.MULTILINE))
        assert entry.count("{") == entry.count("}")
