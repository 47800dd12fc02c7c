"""`seesay score`: text metrics for captions and parses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.captions.defaults import RESAMPLES
from seesay.cli.options import Json, Quiet, Seed

if TYPE_CHECKING:
    from seesay.captions.scoring.records import TextComparison, TextRecord

app = typer.Typer(
    help="Score captions (BLEU, METEOR, ROUGE-L, CIDEr-D) and parses.", no_args_is_help=True
)

Many = Annotated[
    int, typer.Option("--resamples", min=100, help="Resamples behind intervals and p-values.")
]


@app.command()
def captions(
    hypotheses: Annotated[
        Path, typer.Argument(metavar="HYPS", help="Captions: COCO JSON, JSON lines or plain text.")
    ],
    references: Annotated[
        list[Path],
        typer.Argument(metavar="REFS", help="References, likewise; several files if plain text."),
    ],
    versus: Annotated[
        Path | None, typer.Option(help="A second system's captions: adds paired tests.")
    ] = None,
    per_caption: Annotated[
        Path | None, typer.Option(help="Write every caption's scores here, as JSON lines.")
    ] = None,
    meteor: Annotated[
        Path | None, typer.Option(help="Folder with METEOR's jar and paraphrase table.")
    ] = None,
    no_meteor: Annotated[
        bool, typer.Option("--no-meteor", help="Leave METEOR out, and the average with it.")
    ] = False,
    df: Annotated[
        Path | None, typer.Option(help="Document frequencies for CIDEr-D, saved by --save-df.")
    ] = None,
    save_df: Annotated[
        Path | None, typer.Option(help="Save the references' document frequencies here.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=0, help="Processes for METEOR; 0: one per processor.")
    ] = 0,
    resamples: Many = RESAMPLES,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score captions as the COCO evaluation does, with intervals. Exit code 1: some rows were left
    out."""
    from seesay.captions.scoring import score_captions
    from seesay.cli.output import err
    from seesay.files import write_json_lines

    scores = score_captions(
        hypotheses,
        references,
        versus=versus,
        use_meteor=not no_meteor,
        meteor=meteor,
        document_frequency=df,
        resamples=resamples,
        seed=seed,
        jobs=jobs,
        notify=None if quiet else err.print,
    )
    if save_df is not None:
        scores.document_frequency().save(save_df)
    if per_caption is not None:
        write_json_lines(per_caption, scores.rows())
    _show(scores.records, scores.comparisons, as_json, scores.signature, quiet)
    _report(scores.left_out)


@app.command()
def parses(
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Gold parses in Penn Treebank brackets.")
    ],
    test: Annotated[
        Path,
        typer.Argument(metavar="TEST", help="Parses of the same sentences, in the same order."),
    ],
    parameters: Annotated[
        Path | None,
        typer.Option("--parameters", "-p", help="evalb's parameter file; default: as COLLINS.prm."),
    ] = None,
    per_sentence: Annotated[
        Path | None, typer.Option(help="Write every sentence's scores as JSON lines.")
    ] = None,
    resamples: Many = RESAMPLES,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score parses as evalb does, with intervals. Exit code 1: some sentences could not be
    compared."""
    from seesay.captions.scoring import score_parses
    from seesay.files import write_json_lines

    scores = score_parses(gold, test, parameters=parameters, resamples=resamples, seed=seed)
    if per_sentence is not None:
        write_json_lines(per_sentence, scores.rows())
    _show(scores.records, [], as_json, scores.signature, quiet)
    _report(scores.left_out)


def _show(
    records: Sequence[TextRecord],
    comparisons: Sequence[TextComparison],
    as_json: bool,
    line: str,
    quiet: bool,
) -> None:
    from seesay.cli.output import out, print_json, table

    figures = [asdict(record) for record in records]
    tests = [asdict(comparison) for comparison in comparisons]
    if as_json:
        print_json({"records": figures, "comparisons": tests} if tests else figures)
        return
    several = len({record.model for record in records}) > 1
    sliced = any(record.slice for record in records)
    rows = [
        [record.model] * several
        + [str(record.slice or "all")] * sliced
        + [record.metric, f"{record.value:.4f}", f"{record.low:.4f}", f"{record.high:.4f}"]
        for record in records
    ]
    out.print(
        table(
            [*["system"] * several, *["sentences"] * sliced, "metric", ">value", ">low", ">high"],
            rows,
        )
    )
    if comparisons:
        rows = [
            [c.metric]
            + [f"{value:+.4f}" for value in (c.difference, c.low, c.high)]
            + [f"{p:.4f}" for p in (c.p_bootstrap, c.p_signflip)]
            for c in comparisons
        ]
        title = f"{comparisons[0].a} − {comparisons[0].b}"
        out.print(
            table(
                ["metric", ">difference", ">low", ">high", ">p bootstrap", ">p sign-flip"],
                rows,
                title=title,
            )
        )
    if not quiet:
        out.print(f"n = {records[0].n}  {line}")


def _report(errors: Sequence[str]) -> None:
    """Print each row that was left out to stderr; then the exit code is 1."""
    from seesay.cli.output import err

    for error in errors:
        err.print(f"seesay: {error}")
    if errors:
        err.print(f"seesay: {len(errors)} rows left out; the figures are computed from the others.")
        raise typer.Exit(1)
