"""`seesay score`: text metrics for captions and parses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.captions.defaults import RESAMPLES, WEIGHT
from seesay.cli.application import Application
from seesay.cli.options import Json, Quiet, Seed

if TYPE_CHECKING:
    from seesay.captions.scoring import CaptionScores, ParseScores, RelevanceScores
    from seesay.captions.scoring.records import TextComparison, TextRecord

app = Application(
    help="Score captions (BLEU, METEOR, ROUGE-L, CIDEr-D; relevance) and parses.",
    no_args_is_help=True,
)

ResampleCount = Annotated[
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
    resamples: ResampleCount = RESAMPLES,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score captions as the COCO evaluation does, with intervals. Exit code 1: some rows were left
    out.

    Examples:
        seesay score captions hypotheses.txt references.txt
    """
    from seesay.captions.scoring import score_captions
    from seesay.cli.output import err

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
    _show(scores, per_caption, as_json=as_json, quiet=quiet)


@app.command()
def relevance(
    hypotheses: Annotated[
        Path, typer.Argument(metavar="HYPS", help="Captions with image ids: COCO JSON, JSON lines.")
    ],
    pictures: Annotated[
        Path, typer.Argument(metavar="PICTURES", help="Folder of the pictures, named by image id.")
    ],
    encoder: Annotated[
        str,
        typer.Option(help="A dual encoder, such as CLIP or SigLIP: a Hub id or a folder."),
    ],
    versus: Annotated[
        Path | None, typer.Option(help="A second system's captions: adds a paired test.")
    ] = None,
    per_caption: Annotated[
        Path | None, typer.Option(help="Write every caption's score here, as JSON lines.")
    ] = None,
    weight: Annotated[float, typer.Option(help="w of w * max(cos, 0).")] = WEIGHT,
    resamples: ResampleCount = RESAMPLES,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score how well captions fit their pictures, by the cosine of their vectors. Exit code 1: some
    captions were left out.

    Examples:
        seesay score relevance ours.json pictures/ --encoder openai/clip-vit-base-patch32
    """
    from seesay.captions.scoring import score_relevance

    scores = score_relevance(
        hypotheses,
        pictures,
        encoder,
        versus=versus,
        weight=weight,
        resamples=resamples,
        seed=seed,
    )
    _show(scores, per_caption, as_json=as_json, quiet=quiet)


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
    resamples: ResampleCount = RESAMPLES,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score parses as evalb does, with intervals. Exit code 1: some sentences could not be
    compared.

    Examples:
        seesay score parses gold.mrg test.mrg
    """
    from seesay.captions.scoring import score_parses

    scores = score_parses(gold, test, parameters=parameters, resamples=resamples, seed=seed)
    _show(scores, per_sentence, as_json=as_json, quiet=quiet)


def _show(
    scores: CaptionScores | RelevanceScores | ParseScores,
    rows_path: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the score of every text, print figures and paired tests, and report what was left
    out."""
    from seesay.cli.output import out, print_json
    from seesay.files import write_json_lines

    if rows_path is not None:
        write_json_lines(rows_path, scores.rows())
    if as_json:
        figures = [asdict(record) for record in scores.records]
        tests = [asdict(comparison) for comparison in scores.comparisons]
        print_json({"records": figures, "comparisons": tests} if tests else figures)
    else:
        _show_figures(scores.records)
        if scores.comparisons:
            _show_tests(scores.comparisons)
        if any(record.too_few for record in scores.records):
            out.print("Fewer than 10 texts: too few, the intervals may be too narrow.")
        if not quiet:
            out.print(f"n = {scores.records[0].n}  {scores.signature}")
    _report(scores.left_out)


def _show_figures(records: Sequence[TextRecord]) -> None:
    """Print a table of figures.

    Systems and slices have a column only where there are several.
    """
    from seesay.cli.output import out, table

    heads = ["metric", ">value", ">low", ">high"]
    rows = [
        [record.metric, f"{record.value:.4f}", f"{record.low:.4f}", f"{record.high:.4f}"]
        for record in records
    ]
    if any(record.slice for record in records):
        heads.insert(0, "sentences")
        for row, record in zip(rows, records, strict=True):
            row.insert(0, str(record.slice or "all"))
    if len({record.model for record in records}) > 1:
        heads.insert(0, "system")
        for row, record in zip(rows, records, strict=True):
            row.insert(0, record.model)
    out.print(table(heads, rows))


def _show_tests(comparisons: Sequence[TextComparison]) -> None:
    """Print a table of the paired tests of two systems."""
    from seesay.cli.output import out, table

    rows = [
        [
            test.metric,
            f"{test.difference:+.4f}",
            f"{test.low:+.4f}",
            f"{test.high:+.4f}",
            f"{test.p_holm:.4f}",
        ]
        for test in comparisons
    ]
    heads = ["metric", ">difference", ">low", ">high", ">p"]
    title = f"{comparisons[0].a} − {comparisons[0].b}"
    out.print(table(heads, rows, title=title))
    if len(comparisons) > 1:
        out.print(
            f"p: sign-flip test, corrected for {len(comparisons)} metrics (Holm); --json has the "
            "uncorrected ones, too. The intervals are not corrected."
        )


def _report(errors: Sequence[str]) -> None:
    """Print each row that was left out to stderr; then the exit code is 1."""
    from seesay.cli.output import err
    from seesay.quantities import quantity

    for error in errors:
        err.print(f"seesay: {error}")
    if errors:
        rows = quantity(len(errors), "row")
        err.print(f"seesay: {rows} left out; the figures are computed from the others.")
        raise typer.Exit(1)
