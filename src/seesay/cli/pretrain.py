"""`seesay pretrain capbert | lstm | trigram | split | curve`: language models of our own, from captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.training_output import (
    Device,
    Json,
    Quiet,
    Rate,
    TrainingDevice,
    check_rate,
    show_curve,
    summary,
    training_bar,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from seesay.questions import BadRow
    from seesay.training.captions import CaptionSplit
    from seesay.training.loop import Measurements, Result

app = typer.Typer(help="Train language models on captions: a BERT, an LSTM, n-grams.", no_args_is_help=True)

Files = Annotated[
    list[Path], typer.Argument(metavar="FILES…", help="Captions: one a line, or Flickr's name#0 form; .gz too.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the model, new or begun before.")]
Epochs = Annotated[int | None, typer.Option(min=0, help="Times through the captions; 0 saves untrained weights.")]
Phrases = Annotated[
    Path | None, typer.Option(help="Phrases read as one word, one a line. Default: the 97 spatial relations.")
]
HeldOut = Annotated[float, typer.Option(help="Share of the pictures that is held out.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of weights, order, masks and what is held out.")]


@app.command()
def capbert(
    files: Files,
    output: Output,
    preset: Annotated[str, typer.Option(help="cpu (4 layers of 256) or paper (BERT-base).")] = "cpu",
    start: Annotated[
        str | None, typer.Option("--from", help="Go on from this masked model: a folder or Hub id, tokeniser and all.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="Take this tokeniser, a folder or Hub id, with random weights.")
    ] = None,
    mix: Annotated[
        list[str] | None, typer.Option(help="Other text to mix in, FILE:WEIGHT; weight 0.5 draws half of it an epoch.")
    ] = None,
    statements: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.95,
            help="Share of texts that, in the second half of the epochs, say a caption's colours as statements.",
        ),
    ] = None,
    watch: Annotated[
        list[str] | None, typer.Option(help="A task to ask at every validation, for the learning curve.")
    ] = None,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    mask_rate: Annotated[float | None, typer.Option(min=0.01, max=0.9, help="Share of words masked.")] = None,
    batch_tokens: Annotated[int | None, typer.Option(min=128, help="Tokens a batch.")] = None,
    vocabulary: Annotated[int | None, typer.Option(min=300, help="Word pieces of the trained tokeniser.")] = None,
    validate_every: Annotated[int | None, typer.Option(min=1, help="Steps between validations.")] = None,
    held_out: HeldOut = 0.1,
    seed: Seed = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a BERT on captions by masking whole words. Interrupted, the same command goes on where it stopped."""
    from dataclasses import replace

    from seesay.training import capbert as cap

    config = _preset(cap.PRESETS, preset)
    check_rate(learning_rate)
    schedule = config.schedule.changed(
        epochs=epochs, learning_rate=learning_rate, validate_every=validate_every, seed=seed
    )
    given = {
        "schedule": schedule,
        "rate": mask_rate,
        "tokens": batch_tokens,
        "vocabulary": vocabulary,
        "statements": statements,
    }
    config = replace(config, **{name: value for name, value in given.items() if value is not None})
    mixed = [_mixed(text, quiet) for text in mix or []]
    captions = _captions(files, held_out, seed, quiet)
    watched = _watch(watch) if watch else None
    with training_bar(f"capbert → {output}", quiet=quiet or as_json) as show:
        result = cap.pretrain(
            captions,
            output,
            config,
            start=start,
            tokenizer=tokenizer,
            mix=mixed,
            watch=watched,
            device=device,
            progress=show,
        )
    _report(output, captions, result, quiet, as_json)


@app.command()
def lstm(
    files: Files,
    output: Output,
    preset: Annotated[str, typer.Option(help="cpu, or paper (embedding 300, LSTM 300, 20 epochs).")] = "cpu",
    epochs: Epochs = None,
    learning_rate: Rate = None,
    smallest_count: Annotated[
        int | None, typer.Option(min=1, help="Times a word must be seen; a rarer one is <unk>, or drops its sentence.")
    ] = None,
    phrases: Phrases = None,
    held_out: HeldOut = 0.1,
    seed: Seed = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a word-level LSTM, spatial relations as one word each. Interrupted, the same command goes on."""
    from dataclasses import replace

    from seesay.training import lstm as model

    config = _preset(model.PRESETS, preset)
    check_rate(learning_rate)
    config = replace(config, schedule=config.schedule.changed(epochs=epochs, learning_rate=learning_rate, seed=seed))
    config = config if smallest_count is None else replace(config, smallest_count=smallest_count)
    joined = _phrases(phrases)
    captions = _captions(files, held_out, seed, quiet)
    with training_bar(f"lstm → {output}", quiet=quiet or as_json) as show:
        result = model.pretrain(captions, output, config, phrases=joined, device=device, progress=show)
    _report(output, captions, result, quiet, as_json)


@app.command()
def trigram(
    files: Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="The ARPA file.")],
    order: Annotated[int, typer.Option(min=2, max=6, help="Words in an n-gram.")] = 3,
    smallest_count: Annotated[int, typer.Option(min=1, help="Times a word must be seen; a rarer one is <unk>.")] = 20,
    phrases: Phrases = None,
    held_out: HeldOut = 0.1,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Count an n-gram model (Kneser-Ney) as a baseline, on the captions that the LSTM of the same seed learns from."""
    from seesay.cli.output import out, print_json
    from seesay.models.words.arpa import write_arpa
    from seesay.models.words.vocabulary import Vocabulary, words
    from seesay.training.captions import join_phrases
    from seesay.training.ngram import estimate

    joined = _phrases(phrases)
    captions = _captions(files, held_out, seed, quiet)
    sentences = [words(text) for text in join_phrases(captions.train, joined)]
    vocabulary = Vocabulary.of(sentences, smallest=smallest_count)
    ngrams = estimate(sentences, vocabulary, order)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_arpa(output, ngrams)
    if as_json:
        print_json({"file": str(output), "order": order, "words": len(vocabulary), "sentences": len(sentences)})
    elif not quiet:
        out.print(f"{output}: {len(vocabulary):,} words, {len(sentences):,} sentences", soft_wrap=True)


@app.command(name="split")
def split_captions(
    files: Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for train.txt and held-out.txt.")],
    held_out: HeldOut = 0.1,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the two parts that training with the same seed learns from and holds out, for `seesay perplexity`.

    They are captions as they stand: a model that learnt phrases as one word joins them when it reads.
    """
    from seesay.cli.output import out, print_json

    captions = _captions(files, held_out, seed, quiet)
    output.mkdir(parents=True, exist_ok=True)
    parts = {"train.txt": captions.train, "held-out.txt": captions.held_out}
    for name, texts in parts.items():
        with (output / name).open("w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in texts)
    if as_json:
        print_json({str(output / name): len(texts) for name, texts in parts.items()})
    elif not quiet:
        out.print(f"{output}: {', '.join(f'{name} {len(texts):,}' for name, texts in parts.items())}", soft_wrap=True)


@app.command()
def curve(
    folder: Annotated[Path, typer.Argument(help="A model of `pretrain capbert` or `lstm`, finished or still at it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page. Default: training/curve.html in the folder.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw the learning curve: a page, and each chart beside it as SVG. Works while the training runs."""
    show_curve(folder, output, command="pretrain", quiet=quiet, as_json=as_json)


def _phrases(path: Path | None) -> tuple[str, ...]:
    """The phrases of a file, one a line; without one the spatial relations."""
    from seesay.data.relations import phrases

    if path is None:
        return phrases()
    from seesay.relations.lexicon import read_lexicon

    return read_lexicon(path).relations


def _preset(presets: dict[str, Any], name: str) -> Any:
    from seesay.errors import UserError

    if name not in presets:
        raise UserError(f"--preset is '{name}': choose {' or '.join(presets)}.")
    return presets[name]


def _captions(files: Sequence[Path], held_out: float, seed: int, quiet: bool) -> CaptionSplit:
    from seesay.errors import UserError
    from seesay.training.captions import split

    if not 0 < held_out < 1:
        raise UserError(f"--held-out is {held_out}: give a share between 0 and 1, as in 0.1.")
    captions = split(files, held_out=held_out, seed=seed)
    _left_out(captions.bad_rows, quiet)
    if captions.repeated and not quiet:
        from seesay.cli.output import err

        err.print(
            f"{captions.repeated:,} captions of held-out pictures are left out: they stand word for word among those "
            "to learn from.",
            soft_wrap=True,
        )
    return captions


def _left_out(bad_rows: Sequence[tuple[Path, BadRow]], quiet: bool) -> None:
    from seesay.cli.output import err

    if bad_rows and not quiet:
        err.print(f"{len(bad_rows)} lines left out:")
        for path, bad in bad_rows[:5]:
            err.print(f"  {path}, line {bad.row}: {bad.reason}", soft_wrap=True)


def _mixed(text: str, quiet: bool) -> tuple[list[str], float]:
    """`FILE:WEIGHT` as texts and their weight."""
    from seesay.errors import UserError
    from seesay.questions import BadRow
    from seesay.training.captions import read

    name, _, weight = text.rpartition(":")
    try:
        value = float(weight)
    except ValueError:
        value = -1.0
    if not name or not 0 < value <= 100:
        raise UserError(f"--mix is '{text}': write FILE:WEIGHT, as in wiki.txt:0.5.")
    rows = list(read(Path(name)))
    _left_out([(Path(name), row) for row in rows if isinstance(row, BadRow)], quiet)
    texts = [row.text for row in rows if not isinstance(row, BadRow)]
    if not texts:
        raise UserError(f"{name} holds no text.")
    return texts, value


def _watch(names: Sequence[str]) -> Callable[[PreTrainedModel, PreTrainedTokenizerBase], Measurements]:
    """The headline figure of tasks, mean over templates, as the network stands."""
    import tempfile
    from dataclasses import replace

    from seesay import metrics
    from seesay.models.hf.loading import Checkpoint
    from seesay.models.hf.masked import MaskedModel
    from seesay.runs.ask import ask, assemble
    from seesay.runs.figures import items_by_template
    from seesay.runs.journal import Journal
    from seesay.tasks import expand, load_task

    tasks = [replace(load_task(name), neutral={}) for name in expand(names)]

    def figures(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Measurements:
        made: Measurements = {}
        model = MaskedModel("the network", Checkpoint(network.eval(), tokenizer, network.config, "", ()))
        for task in tasks:
            with tempfile.TemporaryDirectory() as folder:
                said = ask(model, task, Journal(Path(folder) / "journal.jsonl"))
            metric = metrics.get(task.metrics[0])
            values = [metric(items) for items in items_by_template(task, assemble(task, said), "sum")]
            made[task.name] = sum(values) / len(values)
        return made

    return figures


def _report(output: Path, captions: CaptionSplit, result: Result, quiet: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from seesay.cli.output import out, print_json
    from seesay.report.pages.training import write_curve
    from seesay.training.checkpoint import best_line

    write_curve(output)
    if as_json:
        read = {
            "train": len(captions.train), "held_out": len(captions.held_out), "repeated": captions.repeated,
            "bad_rows": len(captions.bad_rows),
        }  # fmt: skip
        print_json(
            {
                "folder": str(output),
                "captions": read,
                **asdict(result),
                "validation": best_line(output / "training", result.best_step),
            }
        )
    elif not quiet:
        out.print(summary(output, result), soft_wrap=True)
