"""What a run records of the command line."""

from __future__ import annotations

import pytest

from seesay.command_line import recorded_command, remove_secrets, typed_command
from seesay.models.base import Model


@pytest.mark.parametrize(
    ("argument", "recorded"),
    [
        (
            "postgresql://ann:hunter2@db.example.org/studies",
            "postgresql://***@db.example.org/studies",
        ),
        (
            "postgresql://ann:hunter2@/studies?host=/run/pg",
            "postgresql://***@/studies?host=/run/pg",
        ),
        ("postgresql://ann:hun@hunter2@db/studies", "postgresql://***@db/studies"),
        ("postgresql://ann:hunter2/hunter2@db/studies", "postgresql://***@db/studies"),
        ("postgresql://ann:hun@ter/hunter2@db/studies", "postgresql://***@db/studies"),
        ("postgresql://ann:hunter2#?@db/studies", "postgresql://***@db/studies"),
        (
            "postgresql://db/studies?user=ann&password=hunter2",
            "postgresql://db/studies?user=ann&password=***",
        ),
        ("server:https://ann:hunter2@host:8000/v1", "server:https://***@host:8000/v1"),
        ("https://hunter2@host/v1", "https://***@host/v1"),
        ("https://host:8000/v1?api_key=hunter2&x=1", "https://host:8000/v1?api_key=***&x=1"),
        (
            "https://host/v1?X-Amz-Security-Token=hunter2",
            "https://host/v1?X-Amz-Security-Token=***",
        ),
        ("host=db password=hunter2 user=ann", "host=db password=*** user=ann"),
        ("--api-key=hunter2", "--api-key=***"),
        # These hold no secret and stay as they were typed.
        ("https://host:8000/models/a@main", "https://host:8000/models/a@main"),
        ("https://host/models/a@main", "https://host/models/a@main"),
        ("postgresql://db/studies", "postgresql://db/studies"),
        ("notes@2", "notes@2"),
    ],
)
def test_secrets_are_removed(argument: str, recorded: str) -> None:
    assert remove_secrets(argument) == recorded
    assert "hunter2" not in recorded_command(["probe", argument])


@pytest.mark.parametrize(
    "option", ["--password", "--api-key", "--token", "--hf-token", "--client-secret", "--API_KEY"]
)
def test_the_values_of_secret_options_are_removed(option: str) -> None:
    assert (
        recorded_command(["probe", option, "hunter 2", "--limit", "3"])
        == f"seesay probe {option} *** --limit 3"
    )


def test_other_options_are_recorded_as_typed() -> None:
    arguments = [
        "perplexity",
        "--per-token",
        "out.jsonl",
        "--password-file",
        "secret.txt",
        "a file.txt",
        "it's",
    ]
    assert recorded_command(arguments) == (
        "seesay perplexity --per-token out.jsonl --password-file secret.txt 'a file.txt' "
        "'it'\"'\"'s'"
    )


def test_this_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/bin/seesay", "report", "caf\udce9"])
    assert recorded_command() == "seesay report 'caf\\udce9'"


def test_notes_name_options_as_the_caller_gives_them() -> None:
    note = "--limit 20 takes a share; --chat asks through it, --how generate freely."
    with typed_command():
        model = Model()
        model.note(note)
        assert model.notes() == [note]
    called = Model()
    called.note(note)
    assert called.notes() == [
        "limit=20 takes a share; chat=True asks through it, how='generate' freely."
    ]
