"""`seesay reasoner diagnose`, from a trained folder to the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from tests.scenes.reasoners.one_epoch import train_one
from typer.testing import CliRunner

from seesay.errors import UserError
from seesay.scenes.commands.reasoner_diagnose import diagnose

app = typer.Typer()
app.command()(diagnose)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEESAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        return train_one("stacked-attention", "compositional", tmp_path_factory.mktemp("trained"))


def test_json_holds_what_the_page_shows(trained: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = [str(trained), "-o", str(page), "--items", "20", "--examples", "2", "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    printed = json.loads(result.stdout)
    [one] = printed["reasoners"]
    assert (one["network"], one["task"]) == ("stacked-attention", "compositional")
    assert one["task_tests"] == ["compositional-seen", "compositional-unseen"]
    assert len(one["accuracy"]) == 2 * 4
    assert [len(example["attention"]) for example in one["examples"]] == [2, 2]
    assert all(Path(path).is_file() for path in printed["written"])
    assert printed["written"][0] == str(page)
    own = next(row for row in one["accuracy"] if row["group"] == ["reasoner"])
    assert f"{own['accuracy']:.3f}" in page.read_text(encoding="utf-8")


def test_output_is_a_table_by_default(trained: Path, tmp_path: Path) -> None:
    arguments = [str(trained), "-o", str(tmp_path / "page.html"), "--items", "4"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False, env={"COLUMNS": "200"})
    assert "unseen combinations" in result.stdout
    assert "page.html" in result.stdout


def test_wrong_folder_is_refused_before_any_prediction(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no trained reasoner"):
        CliRunner().invoke(
            app, [str(trained), str(tmp_path), "-o", "x.html", "-q"], catch_exceptions=False
        )
