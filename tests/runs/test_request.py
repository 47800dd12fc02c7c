"""Requests as models and tasks: under which condition each pair is asked, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seesay.api import probe
from seesay.condition import Condition, How, Sampling, label, parse_how
from seesay.errors import UserError
from seesay.models import ModelOptions
from seesay.runs.request import Request, expand, validate_names
from seesay.tasks import load_task

COLOR = load_task("core-color")


def conditions(request: Request, model: str) -> list[Condition]:
    return [asked_model.condition for asked_model, _ in expand(request, model, [COLOR])]


def test_the_condition_says_how_a_model_is_asked(tiny_folder: Callable[[str], Path]) -> None:
    gpt2 = str(tiny_folder("gpt2"))
    plain = Condition(scope="sentence")
    sampling = Sampling(3, 1.0, 8)
    expected = {
        Request(): [plain],
        Request(How.CHOICE): [plain.replace(how=How.CHOICE)],
        Request(How.GENERATE, sampling=sampling): [
            plain.replace(how=How.GENERATE, sampling=sampling, scope="generated")
        ],
        Request(shots=2, shot_seeds=2): [
            plain.replace(shots=2, shot_seed=0),
            plain.replace(shots=2, shot_seed=1),
        ],
        Request(How.CHOICE, shots=1): [plain.replace(how=How.CHOICE, shots=1, shot_seed=0)],
    }
    for request, wanted in expected.items():
        assert conditions(request, gpt2) == wanted
        assert {model.name for model, _ in expand(request, gpt2, [COLOR])} == {gpt2}


def test_a_baseline_is_asked_by_choice_only_in_templates_for_it() -> None:
    """It weighs options in a blank, and sees neither letters nor examples."""
    assert conditions(Request(How.CHOICE), "baseline:uniform") == [Condition(how=How.CHOICE)]
    assert conditions(Request(How.GENERATE), "baseline:uniform") == [Condition()]
    assert conditions(Request(shots=3), "baseline:uniform") == [Condition()]
    (condition,) = conditions(Request(How.LINEAR), "baseline:uniform")
    assert condition == Condition(how=How.LINEAR)
    assert label("baseline:uniform", condition) == "baseline:uniform"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": How.LINEAR, "options": ModelOptions(engine="ray")}, "trained on this machine"),
        ({"how": How.LINEAR, "shots": 1}, "not for --how linear"),
        ({"how": How.LINEAR, "options": ModelOptions(chat=True)}, "not for --how linear"),
        ({"shots": -1}, "a number of examples"),
        ({"shots": 1, "shot_seeds": 0}, "a number of draws"),
        ({"shot_seeds": 2}, "say how many with --shots"),
    ],
)
def test_contradictory_requests_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Request(**options)


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_names_that_cannot_be_models_are_refused(name: str) -> None:
    with pytest.raises(UserError, match="is not a model's name"):
        validate_names(Request(), [name])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NOSUCHMODEL", "Could not load 'NOSUCHMODEL': there is no such folder"),
        ("nobody/nothing", "Could not load 'nobody/nothing'"),
        ("baseline:nothing", "Unknown baseline 'nothing'"),
        ("{empty}", "holds no config.json"),
    ],
)
def test_an_unknown_name_is_refused_before_the_first_model_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, message: str
) -> None:
    monkeypatch.setattr("seesay.models.hf.hub.on_hub", lambda hub_id, revision=None: False)
    (tmp_path / "empty").mkdir()
    name = name.format(empty=tmp_path / "empty")
    output = tmp_path / "runs"
    with pytest.raises(UserError, match=message):
        probe(["baseline:uniform", name], "core-color", limit=5, output=output)
    assert not output.exists()


def test_a_folder_of_checkpoints_is_known_by_them(
    tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    training = tmp_path / "training"
    training.mkdir()
    (training / "checkpoint-5").symlink_to(tiny_folder("gpt2"))
    validate_names(Request(), [str(training), str(tiny_folder("gpt2"))])


@pytest.mark.parametrize("name", ["lens", "guess", ""])
def test_only_conditions_that_can_be_requested_are_parsed(name: str) -> None:
    with pytest.raises(UserError, match=f"--how is '{name}': choose cloze, choice, generate"):
        parse_how(name)
