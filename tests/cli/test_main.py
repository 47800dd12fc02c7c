"""The program itself: help, exit codes, and what happens to its output."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.program import SEESAY, error_here, error_of, seesay

from seesay.cli import command_addresses, load_command, main, output
from seesay.cli.output import set_silent
from seesay.errors import UserError
from seesay.progress import AtMost, Kept, bar

COMMANDS = ["probe", "compare", "report", "tasks", "models", "data"]
HEAVY = ["torch", "transformers", "numpy", "pyarrow", "pydantic", "httpx", "rich", "jinja2"]


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS), ["data", "fetch"], ["data", "add"]]
)
def test_every_command_has_help(command: list[str]) -> None:
    done = seesay(*command, "--help")
    assert done.returncode == 0
    assert "--help" in done.stdout
    assert "╭" not in done.stdout  # plain text, of groups too
    assert not command or "--install-completion" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("command", [[], ["probe"]])
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    code = (
        "import sys; from seesay.cli import main\n"
        f"try: main([*{command}, '--help'])\n"
        f"finally: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    by_typer = ["pydantic"] if command else []  # newer ones check a command's options with it
    assert ast.literal_eval(done.stderr) in ([], by_typer)
    assert "Usage" in done.stdout


def test_every_command_takes_quiet_and_silent() -> None:
    assert len(command_addresses()) > 7
    for name in command_addresses():
        command = load_command(name)
        for leaf in [command, *getattr(command, "commands", {}).values()]:
            options = [option for parameter in leaf.params for option in parameter.opts]
            assert options.count("-q") == 1, leaf.name
            assert options.count("--silent") == 1, leaf.name


@pytest.mark.parametrize("arguments", [["--silent", "models"], ["models", "--silent"]])
def test_silent_before_or_after_the_command(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(SystemExit, match="0"):
        main(["models"])
    assert "smollm2" in capsys.readouterr().out, "it holds for one command only"


@pytest.mark.parametrize(
    ("word", "option", "sentence"),
    [
        ("abc", "--limit", "'abc' is not a whole number."),
        ("1.5", "--limit", "'1.5' is not a whole number."),
        ("much", "--margin", "'much' is not a number."),
    ],
)
def test_a_word_that_is_no_number_is_named(
    word: str, option: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["probe", "baseline:majority", option, word])
    error = capsys.readouterr().err
    assert option in error
    assert error.rstrip().endswith(sentence)


def test_quiet_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--quiet", "tasks", "core"])
    text = capsys.readouterr().out
    assert "core-color" in text
    assert "Next: " not in text


def test_probe_help_is_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    command = load_command("probe")
    context = command.make_context("probe", [], resilient_parsing=True)
    panels = command.help_panels(context)
    assert list(panels) == [
        "Arguments",
        "Most used",
        "What to ask",
        "How to ask",
        "Model",
        "Server",
        "Cluster",
        "Output",
    ]
    assert len(panels["Most used"]) == 6
    lines = [line for title, rows in panels.items() if title != "Arguments" for line in rows]
    assert len(lines) == len(command.get_params(context)) - 1, "each option is in one group"


def test_names_from_files_send_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    set_silent(False)  # a console on the captured stream
    output.out.print("red \x1b[31m [bold]")
    output.out.print(output.table(["a\x1b"], [["b\x1b"]], title="c\x1b"))
    shown = capsys.readouterr().out
    assert shown.startswith("red \N{REPLACEMENT CHARACTER}[31m [bold]\n")
    assert "\x1b" not in shown
    set_silent(False)


def test_no_arguments_show_help() -> None:
    done = seesay()
    assert (done.returncode, done.stderr) == (0, "")
    assert "probe" in done.stdout


def test_help_is_short_and_speaks_of_values(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["probe", "-h"])
    text = capsys.readouterr().out
    assert "--data PATH" in text
    assert "--shots NUMBER" in text
    assert "<" not in text.replace("<=", "").replace("x<", "")


def test_a_typing_mistake_is_noticed_before_the_hub_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seesay.models.hf.hub.on_hub", lambda *_: pytest.fail("the hub was asked"))
    assert "did you mean 'smollm2'" in error_here(capsys, "probe", "smolm2")
    with pytest.raises(SystemExit, match="2"):
        main(["prob"])
    assert "No such command 'prob' (did you mean 'probe'?)." in capsys.readouterr().err
    assert "no device 'cuda'" in error_here(capsys, "probe", "smollm2", "--device", "cuda")


def test_names_are_not_broken_in_narrow_tables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from seesay.cli import output

    monkeypatch.delattr(output, "out", raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    name = "spatial-commonsense-position"
    output.__getattr__("out").print(
        output.table(["name", "title"], [(name, "where a thing is in a picture")])
    )
    assert name in capsys.readouterr().out


def test_progress_without_a_terminal_is_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from seesay.cli.output import progress_bar

    with progress_bar("rooms", unit="pictures") as advance:
        advance(3, 10)
        advance(7, 10)
    start, line = capsys.readouterr().err.splitlines()
    assert start == "rooms …"
    assert line.startswith("rooms: 10 of 10 · ")
    assert "pictures/s" in line


def test_a_rate_is_of_what_is_new(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that goes on has 80 answers; ten more take 20 seconds, and so will the last ten."""
    # however long it took to read what is there
    seconds = iter([0.0, 5.0, 20.0])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    advance = output._plain_progress("rooms", "pictures")
    advance(Kept(80), 100)
    advance(10, 100)
    line = capsys.readouterr().err.splitlines()[-1]
    assert line == "rooms: 90 of 100 · 80 from before · 0.5 pictures/s · 20 s left"


def test_what_is_done_at_once_is_not_from_before(capsys: pytest.CaptureFixture[str]) -> None:
    advance = output._plain_progress("rooms", "pictures")
    advance(2, 3)
    advance(1, 3)
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("rooms: 3 of 3 · ")
    assert "before" not in line


def test_a_bar_says_what_an_earlier_run_has_done() -> None:
    console = Console(file=StringIO(), force_terminal=True, width=120)
    with bar(console, "rooms", "pictures") as advance:
        advance(Kept(80), 100)
        advance(10, 100)
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert "90/100" in shown
    assert "80 from before" in shown


def test_what_may_end_sooner_is_at_most(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter([0.0, 20.0, 30.0])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    advance = output._plain_progress("rooms", "pictures")
    advance(10, AtMost(40))
    line = capsys.readouterr().err.splitlines()[-1]
    assert line == "rooms: 10 of at most 40 · 0.5 pictures/s · at most 1 min 0 s left"


def test_a_bar_says_at_most_of_the_count_and_of_the_time() -> None:
    shown = StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    with bar(console, "rooms", "pictures") as advance:
        advance(10, AtMost(40))
    assert re.search(r"10/40\S* at most.* at most \S*-:--:--", shown.getvalue())
    shown.truncate(0)
    with bar(console, "rooms", "pictures") as advance:
        advance(10, 40)
    assert "10/40" in shown.getvalue()
    assert "at most" not in shown.getvalue()


def test_version() -> None:
    assert seesay("--version").stdout.startswith("seesay ")


@pytest.mark.parametrize(
    "arguments", [["bogus"], ["probe", "--bogus"], ["report"], ["probe", "mock", "--limit", "x"]]
)
def test_usage_mistakes(arguments: list[str]) -> None:
    done = seesay(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["tasks"], ["tasks", "--json"], ["models"], ["--help"]])
def test_a_closed_pipe_ends_quietly(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(
        [*SEESAY, *arguments], stdout=write, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(write)
        _, printed = process.communicate(timeout=60)
    assert printed == ""
    assert process.returncode in (1, 141)


def test_head_gets_its_line() -> None:
    command = f"{sys.executable} -m seesay tasks --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("{\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["tasks"], ["tasks", "--json"]])
def test_no_room_for_the_output_is_one_sentence(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*SEESAY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


def test_names_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    few = ["--task", "core-color", "--limit", "2", "--resamples", "100", "--output", str(tmp_path)]
    done = seesay("probe", "mock:🍋", *few, PYTHONIOENCODING="ascii")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    done = seesay("probe", "mock:🍋", *few, "--json", PYTHONIOENCODING="ascii")
    assert {record["model"] for record in json.loads(done.stdout)} == {"mock:🍋"}


def test_json_of_the_listings_is_one_document() -> None:
    models = json.loads(seesay("models", "--json").stdout)
    assert [row["name"] for row in models if row["default"]] == ["smollm2"]
    assert {"baseline:uniform", "baseline:majority", "baseline:frequency"} <= {
        row["name"] for row in models
    }
    for row in models:
        assert row.keys() == {
            "name",
            "what",
            "parameters",
            "can",
            "licence",
            "source",
            "default",
        }
    assert json.loads(seesay("tasks", "--json").stdout)["groups"]["core"]
    assert json.loads(seesay("tasks", "core-color", "--json").stdout)["questions"] >= 200
    assert json.loads(seesay("data", "--json").stdout)["datasets"]


def test_listings_for_people() -> None:
    printed = seesay("models").stdout
    assert "smollm2" in printed
    assert "--base-url" in printed


def test_bugs_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from seesay import cli

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(ZeroDivisionError):
        cli.main([])


def test_user_errors_exit_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from seesay import cli

    def mistaken(*_: object) -> None:
        raise UserError("Do this.")

    monkeypatch.setattr(cli, "app", mistaken)
    with pytest.raises(SystemExit, match="2"):
        cli.main([])
    assert capsys.readouterr().err == "seesay: Do this.\n"


def test_mistakes_about_tasks_and_data() -> None:
    assert "Did you mean 'core-color'" in error_of("tasks", "core-colour")
    assert "Unknown data set" in error_of("data", "fetch", "memory-colour")
