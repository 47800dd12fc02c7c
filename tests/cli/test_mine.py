"""`seesay mine` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.program import refused_here

from seesay.cli import main
from seesay.data import knowledge
from seesay.data.knowledge import SubtypeFact
from seesay.mine import rooms


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> str:
    world = rooms.write_rooms(tmp_path_factory.mktemp("rooms"), 12, width=160, height=120)
    return f"plain:{world / 'annotations.parquet'}"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    main_arguments = ["mine", *map(str, arguments), "--min-seen", "3", "--min-relation", "1", "--workers", "1"]
    with pytest.raises(SystemExit) as ended:
        main(main_arguments)
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_people_programs_and_silence(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "-a", spec, "-o", tmp_path)
    assert "12 pictures" in told
    assert f"seesay probe --task viphy-size --data {tmp_path}" in "".join(told.splitlines())
    summary = json.loads(run(capsys, "-a", spec, "-o", tmp_path, "--json", "--transitive"))
    assert summary["facts"]["sizes"] > 0
    assert {"annotations", "bad", "folder", "pictures", "pictures_per_second", "seconds"} <= set(summary)
    assert (tmp_path / "transitive/sizes.parquet").is_file()
    assert run(capsys, "-a", spec, "-o", tmp_path, "--quiet") == ""


def test_names_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["a man with a kitchen table", "a table and a kitchen table"] * 100
    (tmp_path / "captions.txt").write_text("\n".join(lines))
    summary = json.loads(run(capsys, "-a", f"captions:{tmp_path / 'captions.txt'}", "-o", tmp_path / "k", "--json"))
    assert summary["facts"] == {"subtypes": 4}
    kinds = {(fact.object, fact.subtype): fact.count for fact in knowledge.read(tmp_path / "k", SubtypeFact)}
    assert kinds == {
        ("table", "table"): 100, ("table", "kitchen table"): 200, ("kitchen table", "kitchen table"): 200,
        ("man", "man"): 100,
    }  # fmt: skip
    assert not (tmp_path / "k/sizes.parquet").exists()


def test_mistakes(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rest = ("-o", tmp_path)
    assert "Unknown space rule" in refused_here(capsys, "mine", "-a", spec, *rest, "--space-rule", "x")
    assert "names no format" in refused_here(capsys, "mine", "-a", "x", *rest)
    assert "Unknown engine" in refused_here(capsys, "mine", "-a", spec, *rest, "--engine", "spark", "-q")
