"""`seesay score`: text metrics for captions and parses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seesay.metrics.bootstrap import Resamples
    from seesay.metrics.captions import Corpus, Measured, Resources
    from seesay.metrics.captions.read import Captions
    from seesay.metrics.parses import Parameters, Score, Tree
    from seesay.questions import BadRow
    from seesay.runs.records import Comparison, Record

app = typer.Typer(help="Score captions (BLEU, METEOR, ROUGE-L, CIDEr-D) and parses.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but the figures and errors.")]
Seed = Annotated[int, typer.Option(help="Seed of the resampling.")]
Many = Annotated[int, typer.Option("--resamples", min=100, help="Resamples behind intervals and p-values.")]


@app.command()
def captions(
    hypotheses: Annotated[Path, typer.Argument(metavar="HYPS", help="Captions: COCO JSON, JSON lines or plain text.")],
    references: Annotated[
        list[Path], typer.Argument(metavar="REFS…", help="References, likewise; several files if plain text.")
    ],
    versus: Annotated[Path | None, typer.Option(help="A second system's captions: adds paired tests.")] = None,
    per_caption: Annotated[Path | None, typer.Option(help="Write every caption's scores here, as JSON lines.")] = None,
    meteor: Annotated[Path | None, typer.Option(help="Folder with METEOR's jar and paraphrase table.")] = None,
    no_meteor: Annotated[bool, typer.Option("--no-meteor", help="Leave METEOR out, and the average with it.")] = False,
    df: Annotated[Path | None, typer.Option(help="Document frequencies for CIDEr-D, saved by --save-df.")] = None,
    save_df: Annotated[Path | None, typer.Option(help="Save the references' document frequencies here.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes for METEOR; 0: one a processor.")] = 0,
    resamples: Many = 1000,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score captions as the COCO evaluation does, with intervals. Exit code 1: some rows were left out."""
    from seesay.metrics.bootstrap import Resamples
    from seesay.metrics.captions import Corpus, DocumentFrequency, evaluate, signature
    from seesay.metrics.captions.read import pair, read_captions, read_references

    refs = read_references(references)
    systems = [read_captions(path, single=True) for path in (hypotheses, versus) if path is not None]
    _agree(systems)
    paired = [pair(system, refs) for system in systems]
    common = set(paired[0][0]).intersection(*(images for images, *_ in paired))
    bad = list(dict.fromkeys(row for *_, rows in paired for row in rows))
    resources = None if no_meteor else _resources(meteor, quiet)
    frequency = DocumentFrequency.load(df) if df else None
    names = _names([system.path for system in systems])
    ids = [image for image in paired[0][0] if image in common]
    results: list[tuple[str, Corpus, list[Measured]]] = []
    for name, (images, texts, wanted, _) in zip(names, paired, strict=True):
        chosen = dict(zip(images, zip(texts, wanted, strict=True), strict=True))
        corpus = Corpus.tokenized([chosen[image][0] for image in ids], [chosen[image][1] for image in ids])
        results.append((name, corpus, evaluate(corpus, resources, frequency, jobs or os.cpu_count() or 1)))
    if save_df is not None:
        DocumentFrequency.of(results[0][1].references).save(save_df)
    line = signature(results[0][1], resources, frequency, resamples, seed)
    drawn = Resamples(ids, resamples, seed)
    records = [record for name, _, measured in results for record in _records("captions", name, measured, drawn, line)]
    comparisons = _comparisons("captions", results, ids, drawn, line) if len(results) > 1 else []
    if per_caption is not None:
        _write_scores(per_caption, ids, results)
    _show(records, comparisons, as_json, line, quiet)
    _report(
        [f"{path}, {unit} {row.row}: {row.reason}" if row.row else f"{path}: {row.reason}" for path, unit, row in bad]
    )


@app.command()
def parses(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Gold parses in Penn Treebank brackets.")],
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Parses of the same sentences, in the same order.")],
    parameters: Annotated[
        Path | None, typer.Option("--parameters", "-p", help="evalb's parameter file; default: as COLLINS.prm.")
    ] = None,
    per_sentence: Annotated[
        Path | None, typer.Option(help="Write every sentence's scores here, as JSON lines.")
    ] = None,
    resamples: Many = 1000,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score parses as evalb does, with intervals. Exit code 1: some sentences could not be compared."""
    from seesay import __version__
    from seesay.errors import UserError
    from seesay.metrics.bootstrap import Resamples
    from seesay.metrics.parses import Parameters, parseval, read_parameters, read_trees

    rules = read_parameters(parameters) if parameters else Parameters()
    golds, tests = read_trees(gold), read_trees(test)
    if len(golds) != len(tests):
        raise UserError(f"{gold} has {len(golds)} parses and {test} has {len(tests)}: they go sentence by sentence.")
    scores, errors = _score_trees(gold, golds, test, tests, rules)
    if not scores:
        raise UserError(f"No sentence of {test} could be compared with {gold}: {errors[0]}.")
    source = parameters.name if parameters else "COLLINS.prm"
    line = f"evalb:{source}|sentences:{len(golds)}|boot:{resamples}-seed{seed}|seesay:{__version__}"
    name = _names([test])[0]
    numbers = sorted(scores)
    drawn = Resamples([str(i) for i in numbers], resamples, seed)
    records = _records("parses", name, parseval([scores[i] for i in numbers], rules), drawn, line)
    short = [i for i in numbers if scores[i].length <= rules.cutoff]
    if short and len(short) < len(numbers):
        few = Resamples([str(i) for i in short], resamples, seed)
        part = parseval([scores[i] for i in short], rules)
        records += _records("parses", name, part, few, line, f"length<={rules.cutoff}")
    if per_sentence is not None:
        _write_sentences(per_sentence, scores)
    _show(records, [], as_json, line, quiet)
    _report(errors)


def _resources(folder: Path | None, quiet: bool) -> Resources:
    from seesay.cli.output import err
    from seesay.metrics.captions import load

    def notice(text: str) -> None:
        if not quiet:
            err.print(text, soft_wrap=True)

    resources = load(folder, notice)
    if not resources.complete:
        err.print(
            f"seesay: METEOR's data are not all there: METEOR({resources.modules}) is a lesser variant. "
            "`pip install --no-deps pycocoevalcap` brings them, or name their folder with --meteor.",
            soft_wrap=True,
        )
    return resources


def _agree(systems: Sequence[Captions]) -> None:
    from seesay.errors import UserError

    if len({system.plain for system in systems}) > 1:
        raise UserError("Both systems' captions must be plain text, or neither: plain text has no image ids.")


def _names(paths: Sequence[Path]) -> list[str]:
    """File names without endings; whole paths where two would be the same."""
    names = [path.name.removesuffix(".gz").rpartition(".")[0] or path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _records(
    task: str, name: str, measured: Sequence[Measured], drawn: Resamples, line: str, part: str | None = None
) -> list[Record]:
    from seesay.metrics.measured import intervals
    from seesay.runs.records import Record

    return [
        Record(
            model=name, task=task, metric=one.name, template=None, slice=part, value=found.value, low=found.low,
            high=found.high, n=len(one.scores), signature=line,
        )
        for one, found in zip(measured, intervals(measured, drawn), strict=True)
    ]  # fmt: skip


def _comparisons(
    task: str, results: Sequence[tuple[str, Corpus, list[Measured]]], ids: list[str], drawn: Resamples, line: str
) -> list[Comparison]:
    from seesay.metrics import holm
    from seesay.metrics.captions import compare
    from seesay.runs.records import Comparison

    (a, _, left), (b, _, right) = results
    tests = compare(left, right, ids, drawn)
    adjusted = holm([test.p_signflip for test in tests])
    return [
        Comparison(
            task=task, metric=test.name, a=a, b=b, value_a=test.difference.value_a, value_b=test.difference.value_b,
            difference=test.difference.difference, low=test.difference.low, high=test.difference.high,
            p_bootstrap=test.difference.p, p_signflip=test.p_signflip, p_holm=float(p), p_mcnemar=None, n=len(ids),
            signature_a=line, signature_b=line,
        )
        for test, p in zip(tests, adjusted, strict=True)
    ]  # fmt: skip


def _write_scores(path: Path, ids: list[str], results: Sequence[tuple[str, Corpus, list[Measured]]]) -> None:
    import json

    with path.open("w", encoding="utf-8") as file:
        for name, corpus, measured in results:
            for i, image in enumerate(ids):
                scores = {one.name: float(one.scores[i]) for one in measured}
                row = {"model": name, "image_id": image, "tokens": corpus.hypotheses[i], **scores}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _score_trees(
    gold: Path,
    golds: Sequence[tuple[int, Tree | BadRow | None]],
    test: Path,
    tests: Sequence[tuple[int, Tree | BadRow | None]],
    rules: Parameters,
) -> tuple[dict[int, Score], list[str]]:
    """Scores by sentence, and a sentence for each that has none."""
    from seesay.metrics.parses import MismatchError, score
    from seesay.questions import BadRow

    scores, errors = {}, []
    for i, ((row, wanted), (line, found)) in enumerate(zip(golds, tests, strict=True), 1):
        bad = [
            f"{path}, line {n}: {t.reason}"
            for path, n, t in ((gold, row, wanted), (test, line, found))
            if isinstance(t, BadRow)
        ]
        errors += bad
        if wanted is None or found is None:
            path, n = (gold, row) if wanted is None else (test, line)
            errors.append(f"{path}, line {n}: no parse (sentence {i} skipped)")
        elif not isinstance(wanted, BadRow) and not isinstance(found, BadRow):
            try:
                scores[i] = score(wanted, found, rules)
            except MismatchError as error:
                errors.append(f"{test}, line {line}: {error}")
    return scores, errors


def _write_sentences(path: Path, scores: dict[int, Score]) -> None:
    import json
    from dataclasses import asdict

    rows = [json.dumps({"sentence": i, **asdict(found)}) for i, found in scores.items()]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _show(records: Sequence[Record], comparisons: Sequence[Comparison], as_json: bool, line: str, quiet: bool) -> None:
    from seesay.cli.output import out, print_json, table

    figures = [record.model_dump() for record in records]
    tests = [comparison.model_dump() for comparison in comparisons]
    if as_json:
        print_json({"records": figures, "comparisons": tests} if tests else figures)
        return
    several = len({record.model for record in records}) > 1
    sliced = any(record.slice for record in records)
    rows = [
        [record.model] * several
        + [record.slice or "all"] * sliced
        + [record.metric, f"{record.value:.4f}", f"{record.low:.4f}", f"{record.high:.4f}"]
        for record in records
    ]
    out.print(table([*["system"] * several, *["sentences"] * sliced, "metric", ">value", ">low", ">high"], rows))
    if comparisons:
        rows = [
            [
                c.metric,
                f"{c.difference:+.4f}",
                f"{c.low:+.4f}",
                f"{c.high:+.4f}",
                f"{c.p_bootstrap:.4f}",
                f"{c.p_signflip:.4f}",
            ]
            for c in comparisons
        ]
        title = f"{comparisons[0].a} − {comparisons[0].b}"
        out.print(table(["metric", ">difference", ">low", ">high", ">p bootstrap", ">p sign-flip"], rows, title=title))
    if not quiet:
        out.print(f"n = {records[0].n}  {line}", soft_wrap=True)


def _report(errors: Sequence[str]) -> None:
    """Each row that was left out, on stderr; the exit code says that there were some."""
    from seesay.cli.output import err, plain

    for error in errors:
        err.print(f"seesay: {plain(error)}", soft_wrap=True)
    if errors:
        err.print(f"seesay: {len(errors)} left out; the figures rest on the others.", soft_wrap=True)
        raise typer.Exit(1)
