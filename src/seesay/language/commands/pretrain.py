"""`seesay pretrain`: language models trained on captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.application import Application
from seesay.cli.options import Json, Quiet
from seesay.cli.training_output import Device, Rate, TrainingDevice, curve, summary, training_bar
from seesay.defaults import LARGEST_SEED
from seesay.errors import UserError
from seesay.language.defaults import HELD_OUT, NGRAM_ORDER, NGRAM_SMALLEST_COUNT

if TYPE_CHECKING:
    from seesay.language.training.captions import CaptionSplit
    from seesay.training.loop import Result

app = Application(
    help="Train language models on captions: a BERT, an LSTM, n-grams.", no_args_is_help=True
)
app.command()(curve)

PretrainPreset = StrEnum("PretrainPreset", ["cpu", "paper"])
CPU = PretrainPreset.cpu


class CapBertPreset(StrEnum):
    """Networks and trainings of CapBERT: ours for a CPU, and those of published models."""

    CPU = "cpu"
    VIPHY = "viphy"
    MEMORY_COLORS = "memory-colors"
    MEMORY_COLORS_SCRATCH = "memory-colors-scratch"


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILES",
        help="Captions of any known form, gzipped or not: text, JSON, TSV, data sets.",
    ),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Folder of the model, new, or of an interrupted run.")
]
Epochs = Annotated[
    int | None, typer.Option(min=0, help="Passes through the captions; 0 saves untrained weights.")
]
Phrases = Annotated[
    Path | None,
    typer.Option(help="Phrases read as one word, one per line. Default: the 97 spatial relations."),
]
Pictures = Annotated[
    Path | None,
    typer.Option(
        metavar="FEATURES",
        help="Features of the pictures that the captions describe (.npz, .h5; see `features`).",
    ),
]
HeldOut = Annotated[float, typer.Option(help="Share of the pictures to hold out.")]
Seed = Annotated[
    int,
    typer.Option(
        min=0, max=LARGEST_SEED, help="Seed of weights, order, masks and held-out pictures."
    ),
]


@app.command()
def capbert(
    files: Files,
    output: Output,
    preset: Annotated[
        CapBertPreset,
        typer.Option(
            help="cpu: 4 layers of 256. The others: BERT-base as ViPhy's CapBERT was trained, the "
            "visual-text BERTs of Memory Colors (with --from), and the one of them from scratch."
        ),
    ] = CapBertPreset.CPU,
    start: Annotated[
        str | None,
        typer.Option(
            "--from", help="Start from this masked model and its tokeniser: a folder or Hub id."
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Use this tokeniser (a folder or Hub id) with random weights."),
    ] = None,
    imagine: Annotated[
        str | None,
        typer.Option(
            help=(
                "Make it a CLIP-BERT that is shown this text encoder's vector of each text: "
                "minilm, a CLIP."
            )
        ),
    ] = None,
    pictures: Pictures = None,
    mix: Annotated[
        list[str] | None,
        typer.Option(
            help="Other text to mix in, FILE:WEIGHT; weight 0.5 draws half of it per epoch."
        ),
    ] = None,
    statements: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.95,
            help="Share of texts that are statements of colours in the second half of the epochs.",
        ),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(help="A task to measure at every validation, for the learning curve."),
    ] = None,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    mask_rate: Annotated[
        float | None, typer.Option(min=0.01, max=0.9, help="Share of words masked.")
    ] = None,
    batch_tokens: Annotated[int | None, typer.Option(min=128, help="Tokens per batch.")] = None,
    vocabulary: Annotated[
        int | None, typer.Option(min=300, help="Word pieces of the trained tokeniser.")
    ] = None,
    validate_every: Annotated[
        int | None, typer.Option(min=1, help="Steps between validations.")
    ] = None,
    held_out: HeldOut = HELD_OUT,
    seed: Seed = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a BERT on captions by masking whole words. If interrupted, the same command resumes.

    Examples:
        seesay pretrain capbert captions.txt -o capbert --watch core-color
    """
    from seesay.language.training import capbert as cap
    from seesay.language.training.watch import watch_tasks
    from seesay.training.schedule import override

    sizes = {
        "rate": mask_rate,
        "tokens": batch_tokens,
        "vocabulary": vocabulary,
        "statements": statements,
    }
    preset_config = cap.PRESETS[preset]
    # a batch is of so many tokens or of so many texts
    if batch_tokens is not None:
        preset_config = replace(preset_config, texts=None)
    times = {
        "epochs": epochs,
        "learning_rate": learning_rate,
        "validate_every": validate_every,
        "seed": seed,
    }
    config = override(preset_config, schedule=preset_config.schedule.override(**times), **sizes)
    mixed = [_mixed(text) for text in mix or []]
    other_texts = [texts for texts, _ in mixed]
    captions = _captions(files, held_out, seed, quiet, other_texts, pictures)
    watched = watch_tasks(watch) if watch else None
    train = partial(
        cap.pretrain,
        config=config,
        start=start,
        tokenizer=tokenizer,
        imagine=imagine,
        features=captions.features,
        mix=[(texts.train, weight) for texts, weight in mixed],
        watch=watched,
        device=device,
    )
    _train(train, captions, output, quiet, as_json)


@app.command()
def causal(
    files: Files,
    output: Output,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    held_out: HeldOut = HELD_OUT,
    seed: Seed = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a small causal transformer on captions. If interrupted, the same command resumes.

    Examples:
        seesay pretrain causal captions.json -o raised
    """
    from seesay.language.training import causal as model

    schedule = model.PRESET.schedule.override(epochs=epochs, learning_rate=learning_rate, seed=seed)
    config = replace(model.PRESET, schedule=schedule)
    captions = _captions(files, held_out, seed, quiet)
    train = partial(model.pretrain, config=config, device=device)
    _train(train, captions, output, quiet, as_json)


@app.command()
def prefix(
    files: Files,
    output: Output,
    pictures: Annotated[
        Path,
        typer.Option(
            metavar="FEATURES",
            help="Features of the pictures that the captions describe (.npz, .h5; see `features`).",
        ),
    ],
    start: Annotated[
        str,
        typer.Option(
            "--from", help="The causal language model, which stays as it is: a name or a folder."
        ),
    ] = "smollm2",
    epochs: Epochs = None,
    learning_rate: Rate = None,
    held_out: HeldOut = HELD_OUT,
    seed: Seed = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a projector by which a frozen causal language model sees pictures. If interrupted, the
    same command resumes.

    Examples:
        seesay pretrain features pictures/ -o features.npz
        seesay pretrain prefix captions.json --pictures features.npz -o seeing
    """
    from seesay.language.training import causal as model

    preset = model.PREFIX_PRESET
    schedule = preset.schedule.override(epochs=epochs, learning_rate=learning_rate, seed=seed)
    config = replace(preset, schedule=schedule)
    captions = _captions(files, held_out, seed, quiet, pictures=pictures)
    train = partial(model.train_prefix, config=config, language_model=start, device=device)
    _train(train, captions, output, quiet, as_json)


@app.command()
def lstm(
    files: Files,
    output: Output,
    preset: Annotated[
        PretrainPreset, typer.Option(help="paper: embedding 300, LSTM 300, 20 epochs.")
    ] = CPU,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    smallest_count: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Smallest count of a word; a rarer one is <unk>, or its sentence is dropped.",
        ),
    ] = None,
    phrases: Phrases = None,
    held_out: HeldOut = HELD_OUT,
    seed: Seed = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a word-level LSTM, with spatial relations as single words. If interrupted, the same
    command resumes.

    Examples:
        seesay pretrain lstm captions/*.gz -o lstm
    """
    from seesay.language.training import lstm as model
    from seesay.training.schedule import override

    schedule = model.PRESETS[preset].schedule.override(
        epochs=epochs, learning_rate=learning_rate, seed=seed
    )
    config = override(model.PRESETS[preset], schedule=schedule, smallest_count=smallest_count)
    joined = _phrases(phrases)
    captions = _captions(files, held_out, seed, quiet)
    train = partial(model.pretrain, config=config, phrases=joined, device=device)
    _train(train, captions, output, quiet, as_json)


@app.command()
def trigram(
    files: Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="The ARPA file.")],
    order: Annotated[int, typer.Option(min=2, max=6, help="Words per n-gram.")] = NGRAM_ORDER,
    smallest_count: Annotated[
        int, typer.Option(min=1, help="Smallest count of a word; a rarer one is <unk>.")
    ] = NGRAM_SMALLEST_COUNT,
    phrases: Phrases = None,
    held_out: HeldOut = HELD_OUT,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Estimate an n-gram model (Kneser-Ney), a baseline for the LSTM with the same seed and
    captions.

    Examples:
        seesay pretrain trigram captions/*.gz -o trigram.arpa
    """
    from seesay.cli.output import out, print_json
    from seesay.language.training.ngram import train_ngrams
    from seesay.language.words.arpa import write_arpa

    # by its ending the file is known as a model afterwards
    if output.suffix != ".arpa":
        raise UserError(f"'{output}' is not the name of an ARPA file: let it end in .arpa.")
    joined = _phrases(phrases)
    captions = _captions(files, held_out, seed, quiet)
    ngrams, vocabulary = train_ngrams(captions, joined, order=order, smallest_count=smallest_count)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_arpa(output, ngrams)
    words = len(vocabulary)
    sentences = len(captions.train)
    if as_json:
        print_json({"file": str(output), "order": order, "words": words, "sentences": sentences})
    elif not quiet:
        out.print(f"{output}: {words:,} words, {sentences:,} sentences")


@app.command()
def features(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Pictures: .png, .jpg, .jpeg.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .npz file.")],
    encoder: Annotated[
        str,
        typer.Option(
            help="color-histogram, efficientnet-lite0, the folder of a CLIP, or several joined "
            "by +."
        ),
    ] = "color-histogram",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compute the features of pictures that `--pictures` takes, each under its file's name.

    Examples:
        seesay pretrain features pictures/ -o features.npz
    """
    from seesay.cli.output import out, print_json
    from seesay.data.picture_features import write_features
    from seesay.models.picture_encoder import encode_folder

    if output.suffix != ".npz":
        raise UserError(f"'{output}' is not the name of an .npz file: let it end in .npz.")
    table = encode_folder(folder, encoder)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_features(output, table)
    count, width = table.vectors.shape
    if as_json:
        print_json(
            {"file": str(output), "pictures": count, "width": width, "encoder": table.encoder}
        )
    elif not quiet:
        out.print(f"{output}: {count:,} pictures, {width} numbers each ({table.encoder})")


@app.command(name="split")
def split_captions(
    files: Files,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for train.txt and held-out.txt.")
    ],
    held_out: HeldOut = HELD_OUT,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the training and the held-out captions of a seed, for `seesay perplexity`.

    They are the captions as they are: a model that was trained with phrases as single words joins
    them itself.

    Examples:
        seesay pretrain split captions/*.gz -o parts
    """
    from seesay.cli.output import out, print_json

    counts = _captions(files, held_out, seed, quiet).write(output)
    if as_json:
        print_json({str(path): count for path, count in counts.items()})
    elif not quiet:
        parts = [f"{path.name} {count:,}" for path, count in counts.items()]
        out.print(f"{output}: {', '.join(parts)}")


def _phrases(path: Path | None) -> tuple[str, ...]:
    """Return the phrases of a file, one per line; without one, the spatial relations."""
    from seesay.language.relations.inventory import phrases
    from seesay.language.relations.lexicon import read_lexicon

    return phrases() if path is None else read_lexicon(path).relations


def _captions(
    files: Sequence[Path],
    held_out: float,
    seed: int,
    quiet: bool,
    mixed: Sequence[CaptionSplit] = (),
    pictures: Path | None = None,
) -> CaptionSplit:
    """Read the captions of the files, and print on stderr how much of each source was read.

    The sources of `mixed` texts are printed too.
    """
    from seesay.cli.output import err, sources_table
    from seesay.data.picture_features import read_features
    from seesay.language.training.captions import split

    if held_out == 0:
        raise UserError(
            "--held-out is 0: a training is validated on held-out pictures, so give a share such "
            "as 0.1."
        )
    features = None if pictures is None else read_features(pictures)
    captions = split(files, held_out=held_out, seed=seed, features=features)
    for texts in mixed:
        captions.sources.extend(texts.sources)
        captions.bad_rows.extend(texts.bad_rows)
    if not quiet:
        err.print(sources_table(captions.sources))
        for name, bad in captions.bad_rows[:5]:
            err.print(f"  {name}, row {bad.row}: {bad.reason}")
    if captions.repeated and not quiet:
        err.print(
            f"{captions.repeated:,} captions of held-out pictures are left out: they are word for "
            "word among the training captions."
        )
    return captions


def _mixed(text: str) -> tuple[CaptionSplit, float]:
    """Read `FILE:WEIGHT` as texts and their weight."""
    from seesay.language.training.captions import read_texts

    name, _, weight = text.rpartition(":")
    try:
        value = float(weight)
    except ValueError:
        value = -1.0
    if not name or not 0 < value <= 100:
        raise UserError(f"--mix is '{text}': write FILE:WEIGHT, as in wiki.txt:0.5.")
    return read_texts(Path(name), text), value


def _train(
    train: Callable[..., Result],
    captions: CaptionSplit,
    output: Path,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train on captions with a bar, write the learning curve, and print how the training went."""
    from seesay.cli.output import out, print_json
    from seesay.reports.pages.training import write_curve
    from seesay.training.checkpoint import best_line

    with training_bar(str(output), quiet=quiet or as_json) as show:
        result = train(captions, output, progress=show)
    write_curve(output)
    if as_json:
        counts = {
            "train": len(captions.train),
            "held_out": len(captions.held_out),
            "repeated": captions.repeated,
        }
        counts["bad_rows"] = sum(source.left_out for source in captions.sources)
        best = best_line(output / "training", result.best_step)
        sources = [source.as_json() for source in captions.sources]
        print_json(
            {
                "folder": str(output),
                "captions": counts,
                "sources": sources,
                **result.as_json(),
                "validation": best,
            }
        )
    else:
        out.print(summary(output, result))
