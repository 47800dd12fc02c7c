"""`seesay perplexity`: how well a model predicts the texts of a file, one per line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.completion import complete_models
from seesay.cli.options import (
    AllowPickle,
    BatchSize,
    Device,
    Family,
    Json,
    Quiet,
    Revision,
    TrustRemoteCode,
)
from seesay.errors import UserError

if TYPE_CHECKING:
    from contextlib import ExitStack

    from seesay.language.perplexity.score import PerplexityResult, ScoredText
    from seesay.language.perplexity.surprisal import SentenceSurprisal, WordSurprisal

PRINTED = 10
"""Sentences whose surprisals are printed; the page has more."""


def perplexity(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            autocompletion=complete_models,
            help="A Hub id, a folder, a .gguf or .arpa file, arpa:FILE or a catalogue name.",
        ),
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Texts, one per line, or captions of any known form; - for standard input.",
        ),
    ],
    eos: Annotated[
        bool | None,
        typer.Option(
            help=(
                "Score the end-of-sentence token too, or not. "
                "Default: as the model itself ends texts."
            )
        ),
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens by which the window moves over a long text. Default: half the window.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Score only the first N texts.")
    ] = None,
    per_sentence: Annotated[
        Path | None, typer.Option(help="Write the perplexity of every text here, as JSON lines.")
    ] = None,
    per_token: Annotated[
        Path | None,
        typer.Option(help="Write the log-probability of every token here, as JSON lines."),
    ] = None,
    tokens: Annotated[
        bool,
        typer.Option(
            "--tokens", help="Print and plot the surprisal of every word and its pieces, in bits."
        ),
    ] = False,
    beside: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="With --tokens: a second model on the same sentences."),
    ] = None,
    report: Annotated[
        Path, typer.Option(help="With --tokens: where the page of surprisals goes.")
    ] = Path("surprisal.html"),
    batch_size: BatchSize = None,
    device: Device = "auto",
    family: Family = None,
    revision: Revision = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Perplexity at token, word and sentence level, bits per character and word. Exit code 1: some
    lines were left out.

    Examples:
        seesay perplexity smollm2 captions.txt
        seesay perplexity smollm2 captions.txt --tokens --beside captions.arpa
    """
    from contextlib import ExitStack

    from seesay.cli.output import print_json, progress_bar
    from seesay.data.captions import Corpus
    from seesay.language.perplexity.score import perplexity as compute
    from seesay.language.perplexity.score import require_scoring
    from seesay.models import ModelOptions, ModelSource

    options = ModelOptions(
        batch_size=batch_size,
        device=device,
        family=family,
        revision=revision,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
    )
    # Before anything is loaded, which may take long.
    source = ModelSource.parse(model, options)
    other_source = ModelSource.parse(beside, options) if beside else None
    _validate_options(beside, tokens, file, (per_sentence, per_token))
    scored_texts: list[ScoredText] = []
    with ExitStack() as stack:
        stack.enter_context(_explain_interrupt())
        texts = stack.enter_context(Corpus(file))
        loaded = source.load()
        # Before the output files are opened, which empties them.
        require_scoring(loaded)
        write_sentences = _row_writer(stack, per_sentence)
        write_tokens = _row_writer(stack, per_token)
        silent = quiet or as_json or texts.size is None
        advance = stack.enter_context(progress_bar(f"{model}: {file}", unit="kB", quiet=silent))
        shown = 0

        def on_text(scored: ScoredText) -> None:
            nonlocal shown
            if tokens:
                scored_texts.append(scored)
            write_sentences([scored.sentence_row()])
            write_tokens(scored.token_rows())
            # The corpus knows how far it has read; standard input has no size.
            if texts.size is not None:
                position = texts.position // 1024
                advance(position - shown, texts.size // 1024 + 1)
                shown = position

        result = compute(loaded, texts, eos=eos, stride=stride, limit=limit, on_text=on_text)
    document = result.as_json()
    if not as_json:
        _show(result, f"{model} on {file}", quiet)
    if tokens:
        from seesay.language.perplexity.page import write_surprisals
        from seesay.language.perplexity.surprisal import sentence_surprisals

        by_model = [(model, scored_texts)]
        signatures = [result.signature]
        if beside and other_source:
            # A corpus is a stream: for the second model the file is opened again.
            others: list[ScoredText] = []
            with Corpus(file) as again:
                other = compute(
                    other_source.load(),
                    again,
                    eos=eos,
                    stride=stride,
                    limit=limit,
                    on_text=others.append,
                )
            by_model.append((beside, others))
            signatures.append(other.signature)
        sentences = sentence_surprisals(by_model)
        page = write_surprisals(report, sentences, signatures)
        document["surprisals"] = [sentence.as_json() for sentence in sentences]
        if not as_json:
            _show_surprisals(sentences, page, quiet)
    if as_json:
        print_json(document)
    _report_skipped(result, texts.name, texts.unit, quiet)


@contextmanager
def _explain_interrupt() -> Iterator[None]:
    """Note that an interrupt loses the figures.

    A perplexity is a sum over the whole file, unlike the answers of `seesay probe`.
    """
    from seesay.cli.output import err

    try:
        yield
    except KeyboardInterrupt:
        err.print(
            "seesay: Interrupted: a perplexity needs the whole file, and the same command starts "
            "again at its first line. Rows already written stay until then."
        )
        raise typer.Exit(130) from None


def _validate_options(
    beside: str | None,
    tokens: bool,
    file: str,
    outputs: tuple[Path | None, Path | None],
) -> None:
    """Raise UserError for options that do not go together."""
    # Standard input can be read once only.
    if beside and (not tokens or file == "-"):
        raise UserError("--beside goes with --tokens and a file, which both models read.")
    per_sentence, per_token = outputs
    if per_sentence is not None and per_sentence == per_token:
        raise UserError("--per-sentence and --per-token name the same file: give each its own.")


def _row_writer(
    stack: ExitStack,
    path: Path | None,
) -> Callable[[Iterable[dict[str, object]]], None]:
    """Return a function that writes rows to the file as JSON lines, or nothing without a file."""
    import json

    if path is None:
        return lambda rows: None
    path.parent.mkdir(parents=True, exist_ok=True)
    file = stack.enter_context(path.open("w", encoding="utf-8"))
    return lambda rows: file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _show(result: PerplexityResult, title: str, quiet: bool) -> None:
    """Print the figures as a table."""
    from seesay.cli.output import out, sources_table, table

    rows = [
        ["token perplexity", f"{result.token_perplexity:,.4f}"],
        ["word perplexity", f"{result.word_perplexity:,.4f}"],
        ["sentence perplexity", f"{result.sentence_perplexity:.4g}"],
        ["bits per sentence", f"{result.bits_per_sentence:,.4f}"],
        ["bits per character", f"{result.bits_per_character:,.4f}"],
        ["bits per word", f"{result.bits_per_word:,.4f}"],
        ["tokens", f"{result.tokens:,}"],
        ["words", f"{result.words:,}"],
        ["sentences", f"{result.sentences:,}"],
    ]
    out.print(table(["", ">"], rows, title=title))
    if not quiet:
        out.print(sources_table([result.source]))
        out.print(result.signature)


def _show_surprisals(
    sentences: list[SentenceSurprisal],
    page: Path,
    quiet: bool,
) -> None:
    """Print the words of the first sentences with their bits under each model."""
    from seesay.cli.output import out, table

    columns = ["word", *(f">{name}" for name in sentences[0].models), "pieces"]
    for sentence in sentences[:PRINTED]:
        rows = []
        for words in zip(*sentence.models.values(), strict=True):
            bits = [f"{word.bits:.2f}" for word in words]
            pieces = " | ".join(map(_join_pieces, words))
            rows.append([words[0].word, *bits, pieces])
        out.print(table(columns, rows, title=f"{sentence.line}. {sentence.text}"))
    if len(sentences) > PRINTED:
        out.print(f"… and {len(sentences) - PRINTED:,} more sentences.")
    if not quiet:
        out.print(f"Report: {page}")


def _join_pieces(word: WordSurprisal) -> str:
    """Return the pieces of a word, separated by blanks."""
    return " ".join(token for token, _ in word.pieces)


def _report_skipped(
    result: PerplexityResult,
    name: str,
    unit: str,
    quiet: bool,
) -> None:
    """Print on stderr what a reader of the figures must know; exit code 1 if texts were left
    out."""
    from seesay.cli.output import err

    remarks = []
    if math.isinf(result.sentence_perplexity) and math.isfinite(result.logp):
        bits = f"{result.bits_per_sentence:,.1f}"
        remarks.append(
            f"The sentence perplexity is 2 to the power of {bits}, too large for a floating-point "
            "number."
        )
    if result.blank:
        remarks.append(f"Empty lines skipped: {result.blank:,}.")
    if result.unscored:
        remarks.append(
            f"Texts skipped because they have no token that the model scores: {result.unscored:,}."
        )
    if not quiet:
        for remark in remarks:
            err.print(f"seesay: {remark}")
    if result.left_out:
        for row in result.bad_rows:
            err.print(f"seesay: {name}, {unit} {row.row:,}: {row.reason}")
        err.print(
            f"seesay: {unit.title()}s left out: {result.left_out:,}; the figures are of the others."
        )
        raise typer.Exit(1)
