"""`seesay perplexity`: how well a model predicts the texts of a file, a text a line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from seesay.cli.options import AllowPickle, BatchSize, Device, Family, Revision, TrustRemoteCode

if TYPE_CHECKING:
    from contextlib import ExitStack

    from seesay.data.lines import Texts
    from seesay.metrics.perplexity import Tally
    from seesay.models import Model, TokenScores


def perplexity(
    model: Annotated[
        str, typer.Argument(help="A Hub id, a folder, a .gguf or .arpa file, arpa:FILE or a catalogue name.")
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Texts, one a line, plain or .gz; - for standard input.")],
    eos: Annotated[
        bool | None,
        typer.Option(help="Score the end-of-sentence token too, or not. Default: as the model itself ends texts."),
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens by which the window moves over a long text. Default: half the window."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Score the first so many texts.")] = None,
    per_sentence: Annotated[
        Path | None, typer.Option(help="Write every text's perplexity here, as JSON lines.")
    ] = None,
    per_token: Annotated[
        Path | None, typer.Option(help="Write every token's log-probability here, as JSON lines.")
    ] = None,
    batch_size: BatchSize = None,
    device: Device = "auto",
    family: Family = None,
    revision: Revision = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the figures and errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Perplexity at token and sentence level, bits per character and word. Exit code 1: some lines were left out."""
    import warnings
    from contextlib import ExitStack

    from seesay.cli.output import print_json, progress_bar
    from seesay.data.lines import Texts
    from seesay.errors import UserError
    from seesay.metrics.perplexity import Tally, tally
    from seesay.models import ModelOptions, locate

    if quiet:
        warnings.showwarning = lambda *_, **__: None
    options = ModelOptions(
        batch_size=batch_size, device=device, family=family, revision=revision,
        trust_remote_code=trust_remote_code, allow_pickle=allow_pickle,
    )  # fmt: skip
    load = locate(model, options)
    total, without = Tally(), 0
    with ExitStack() as stack:
        texts = stack.enter_context(Texts(file))
        stack.enter_context(_told_when_interrupted())
        loaded = load()
        if "score" not in loaded.abilities:
            raise UserError(
                f"'{model}' ({loaded.family}) gives texts no log-probability: use a causal or masked model, "
                "an LSTM of seesay's or an ARPA file."
            )
        sentences, tokens = _opened(stack, per_sentence), _opened(stack, per_token)
        silent = quiet or as_json or texts.size is None
        advance = stack.enter_context(progress_bar(f"{model}: {file}", unit="kB", quiet=silent))
        shown = 0
        for line, text, found in _scored(loaded, texts.lines(limit), eos, stride):
            if found.left_out:
                texts.leave_out(line, found.left_out)
                continue
            if not found.logp:
                without += 1
                continue
            one = tally(text, found.logp)
            total += one
            _write(sentences, _sentence(line, text, one))
            for position, (token, logp) in enumerate(zip(found.tokens, found.logp, strict=True) if tokens else ()):
                _write(tokens, {"line": line, "position": position, "token": token, "logp": _finite(logp)})
            if texts.size is not None:
                read = texts.position // 1024
                advance(read - shown, texts.size // 1024 + 1)
                shown = read
    if not total.tokens:
        first = f" (line {texts.bad_rows[0].row:,}: {texts.bad_rows[0].reason})" if texts.bad_rows else ""
        raise UserError(
            f"'{file}' holds no text that can be scored (empty lines: {texts.blank:,}, lines left out: "
            f"{texts.bad:,}{first}, without a token: {without:,}): is it the right file?"
        )
    signature = _signature(loaded, eos, stride, texts)
    if as_json:
        print_json(_figures(total, signature))
    else:
        _show(total, f"{model} on {file}", "" if quiet else signature)
    _remark(total, texts, without, quiet)


def _scored(
    model: Model, lines: Iterator[tuple[int, str]], eos: bool | None, stride: int | None
) -> Iterator[tuple[int, str, TokenScores]]:
    """Each line with its scores. Models read ahead by a batch: only that many lines wait here."""
    from collections import deque

    waiting: deque[tuple[int, str]] = deque()

    def texts() -> Iterator[str]:
        for line, text in lines:
            waiting.append((line, text))
            yield text

    for found in model.score(texts(), end=eos, stride=stride):
        yield *waiting.popleft(), found


@contextmanager
def _told_when_interrupted() -> Iterator[None]:
    """A perplexity is a sum over the whole file: what was summed is gone, unlike what `seesay probe` has asked."""
    from seesay.cli.output import err

    try:
        yield
    except KeyboardInterrupt:
        err.print(
            "seesay: Interrupted: there is no figure of half a file, and the same command begins at its first line. "
            "Rows already written stay until then.",
            soft_wrap=True,
        )
        raise typer.Exit(130) from None


def _opened(stack: ExitStack, path: Path | None) -> TextIO | None:
    if path is None:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    return stack.enter_context(path.open("w", encoding="utf-8"))


def _write(file: TextIO | None, row: dict[str, object]) -> None:
    import json

    if file is not None:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _sentence(line: int, text: str, one: Tally) -> dict[str, object]:
    counts = {"tokens": one.tokens, "words": one.words, "characters": one.characters}
    return {
        "line": line,
        "text": text,
        "logp": _finite(one.logp),
        "perplexity": _finite(one.token_perplexity),
        **counts,
    }


def _signature(model: Model, eos: bool | None, stride: int | None, texts: Texts) -> str:
    """What the figures rest on. A model tells what its defaults came to; another package's may not."""
    from seesay import __version__

    return (
        f"model:{model.name}|fingerprint:{model.fingerprint}|family:{model.family}|"
        f"{model.describe_scoring(eos, stride)}|texts:{texts.digest}|seesay:{__version__}"
    )


def _figures(total: Tally, signature: str) -> dict[str, object]:
    return {
        "token_perplexity": _finite(total.token_perplexity),
        "sentence_perplexity": _finite(total.sentence_perplexity),
        "bits_per_character": _finite(total.bits_per_character),
        "bits_per_word": _finite(total.bits_per_word),
        "tokens": total.tokens,
        "words": total.words,
        "sentences": total.sentences,
        "signature": signature,
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def _show(total: Tally, title: str, signature: str) -> None:
    from seesay.cli.output import out, table

    rows = [
        ["token perplexity", f"{total.token_perplexity:,.4f}"],
        ["sentence perplexity", f"{total.sentence_perplexity:.4g}"],
        ["bits per sentence", f"{total.bits_per_sentence:,.4f}"],
        ["bits per character", f"{total.bits_per_character:,.4f}"],
        ["bits per word", f"{total.bits_per_word:,.4f}"],
        ["tokens", f"{total.tokens:,}"],
        ["words", f"{total.words:,}"],
        ["sentences", f"{total.sentences:,}"],
    ]
    out.print(table(["", ">"], rows, title=title))
    if signature:
        out.print(signature, soft_wrap=True)


def _remark(total: Tally, texts: Texts, without: int, quiet: bool) -> None:
    """What a reader of the figures must know, on stderr; the exit code says whether lines were left out."""
    from seesay.cli.output import err, plain

    remarks = []
    if math.isinf(total.sentence_perplexity) and math.isfinite(total.logp):
        bits = f"{total.bits_per_sentence:,.1f}"
        remarks.append(f"The sentence perplexity is 2 to the power of {bits}, more than a number holds.")
    if texts.blank:
        remarks.append(f"Empty lines skipped: {texts.blank:,}.")
    if without:
        remarks.append(f"Texts skipped because they have no token that the model scores: {without:,}.")
    for remark in [] if quiet else remarks:
        err.print(f"seesay: {remark}", soft_wrap=True)
    if texts.bad:
        for row in texts.bad_rows:
            err.print(f"seesay: {plain(texts.name)}, line {row.row:,}: {row.reason}", soft_wrap=True)
        err.print(f"seesay: Lines left out: {texts.bad:,}; the figures rest on the others.", soft_wrap=True)
        raise typer.Exit(1)
