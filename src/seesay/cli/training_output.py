"""What the commands that train share: options, checks, bars, the curve, and what is said at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seesay.training.loop import Result

Rate = Annotated[float | None, typer.Option("--learning-rate", help="The highest learning rate.")]
Device = Annotated[str, typer.Option(help="cpu, or auto: what Accelerate finds.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def check(learning_rate: float | None, device: str) -> None:
    """Refuse what no training can be done with."""
    from seesay.errors import UserError

    if learning_rate is not None and not 0 < learning_rate < 10:
        raise UserError(f"--learning-rate is {learning_rate}: give a number above 0, as in 0.001.")
    if device not in ("cpu", "auto"):
        raise UserError(f"--device is '{device}': choose cpu, or auto for what Accelerate finds.")


def write_curve(folder: Path, output: Path | None = None, *, of: str = "pretrain") -> list[Path]:
    """The learning curve of the training in a folder, of `pretrain` or of `reasoner`: the page and its charts."""
    from seesay.errors import UserError
    from seesay.report.pages.training import ANSWERS, CAPTIONS, training_page
    from seesay.training.checkpoint import HISTORY, read_history
    from seesay.training.loop import read_result

    training = folder / "training"
    if not (training / HISTORY).is_file():
        raise UserError(f"There is no training in {folder}: give a folder that `seesay {of}` made.")
    history = read_history(training)
    if not history:
        raise UserError(f"The training in {folder} has measured nothing yet: wait for its first validation.")
    path = output or training / "curve.html"
    return training_page(
        path, folder.resolve().name, history, read_result(training), CAPTIONS if of == "pretrain" else ANSWERS
    )


def show_curve(folder: Path, output: Path | None, *, of: str, quiet: bool, as_json: bool) -> None:
    """Write the learning curve, and say where."""
    from seesay.cli.output import out, print_json

    written = write_curve(folder, output, of=of)
    if as_json:
        print_json({"files": [str(path) for path in written]})
    elif not quiet:
        out.print("\n".join(map(str, written)), soft_wrap=True)


def best_line(folder: Path, result: Result) -> dict[str, float]:
    """The line of history of the weights that were kept."""
    from seesay.training.checkpoint import read_history

    return next(line for line in read_history(folder / "training") if line["step"] == result.best_step)


def summary(folder: Path, result: Result) -> str:
    """How a training ended, in a sentence."""
    best = best_line(folder, result)
    figures = ", ".join(
        f"{name.removeprefix('validation_')} {value:.3f}"
        for name, value in best.items()
        if name.startswith("validation_")
    )
    return (
        f"{folder}: {result.steps:,} steps in {result.seconds / 60:.1f} minutes; "
        f"held out, best at step {result.best_step:,}: {figures}"
    )


@contextmanager
def looking_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for every split that has to be made and looked at, none for what is in the cache."""
    from seesay.cli.output import progress_bar

    with ExitStack() as stack:
        behind: dict[str, int] = {}
        advance: Callable[[int, int], None] = lambda done, total: None  # noqa: E731

        def show(split: str, done: int, total: int) -> None:
            nonlocal advance
            if split not in behind:
                stack.close()
                advance = stack.enter_context(progress_bar(f"{title}, {split}", unit="items", quiet=quiet))
            advance(done - behind.get(split, 0), total)
            behind[split] = done

        yield show
