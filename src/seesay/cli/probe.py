"""`seesay probe`: the main job. Ask models, score the answers, compare, report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from seesay.cli.application import Application, Command
from seesay.cli.completion import complete_models, complete_tasks, complete_ways
from seesay.cli.options import (
    AllowPickle,
    Device,
    Json,
    Quiet,
    Resamples,
    Revision,
    ShardNumber,
    TrustRemoteCode,
    local_data,
)
from seesay.command_line import recorded_command
from seesay.defaults import MARGIN, MAX_TOKENS, NO_PICTURE, RESAMPLES
from seesay.errors import UserError

if TYPE_CHECKING:
    from rich.table import Table

    from seesay.api import Results
    from seesay.condition import How
    from seesay.runs.layers import LayerCurve
    from seesay.runs.learning_curve import Point


class ProbeCommand(Command):
    """`seesay probe`, with its options in groups and those that most people need first."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {
        "Most used": ("--task", "--limit", "--how", "--chat", "--device", "--output"),
        "What to ask": (
            "--data",
            "--edition",
            "--categories",
            "--seed",
            "--until-settled",
            "--margin",
            "--adaptive",
            "--contamination",
        ),
        "How to ask": (
            "--chat-both",
            "--system",
            "--shots",
            "--shot-seeds",
            "--samples",
            "--temperature",
            "--max-tokens",
            "--picture",
            "--picture-seeds",
            "--regions",
            "--scope",
            "--length",
            "--seeds",
            "--fractions",
            "--epochs",
            "--validation",
            "--layers",
            "--control",
        ),
        "Model": (
            "--family",
            "--style",
            "--revision",
            "--revisions",
            "--dtype",
            "--device-map",
            "--quantization",
            "--batch-size",
            "--engine-option",
            "--trust-remote-code",
            "--allow-pickle",
        ),
        "Server": (
            "--base-url",
            "--endpoint",
            "--concurrency",
            "--price",
            "--budget",
            "--reuse",
        ),
        "Cluster": ("--engine", "--workers", "--shard"),
        "Output": ("--report", "--resamples", "--json", "--quiet", "--silent", "--help"),
    }


app = Application()


@app.command(cls=ProbeCommand)
def probe(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL",
            autocompletion=complete_models,
            help="A Hub id, a folder, a .gguf file, openai:MODEL, baseline:NAME or a catalogue "
            "name. Default: smollm2.",
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            "-t",
            autocompletion=complete_tasks,
            help="A task or group; several by comma or by repeating. Default: core; to train a "
            "probe, viphy.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            help="Ask at most this many questions of each task, whole objects as far as they fit, "
            "and of every part that has a figure of its own.",
        ),
    ] = None,
    how: Annotated[
        str,
        typer.Option(
            autocompletion=complete_ways,
            help="cloze: fill a slot. choice: pick a lettered option. generate: write a free "
            "answer, which is matched to the options. qa: write one of the options that the "
            "question shows, letter for letter (qa-trained: after tuning an encoder-decoder's "
            "output head). linear: a layer trained on the model's vectors (linear-question: of the "
            "question with its options, as UnifiedQA is asked). learning-curve: linear, from parts "
            "of the training questions.",
        ),
    ] = "cloze",
    chat: Annotated[
        bool,
        typer.Option(
            "--chat",
            help="Ask through the model's chat template: the question is the user's turn, the "
            "option begins the reply.",
        ),
    ] = False,
    chat_both: Annotated[
        bool,
        typer.Option(
            "--chat-both",
            help="Ask with and without the chat template, and show the difference.",
        ),
    ] = False,
    device: Device = "auto",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")] = Path(
        "runs"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            help="The task's data file or folder, in place of the data folder's.",
            callback=local_data,
        ),
    ] = None,
    edition: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Draw the task's questions anew, but for the anchors: any name, such as 2027-01, "
            "gives a draw of its own.",
        ),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER",
            help="Find the category of things that have none with a sentence encoder, such as "
            "minilm, and slice by it.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the intervals and of --limit.")] = 0,
    until_settled: Annotated[
        bool,
        typer.Option(
            "--until-settled",
            help="Ask two models questions in a random order until it is decided which is "
            "ahead, or that they differ by no more than --margin.",
        ),
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(help=f"A difference too small to matter. Default: {MARGIN}."),
    ] = None,
    adaptive: Annotated[
        bool,
        typer.Option(
            "--adaptive",
            help="Ask 100 questions, or --limit, that the task's item model (`seesay tasks items`) "
            "finds telling, and report the score on the whole task.",
        ),
    ] = False,
    contamination: Annotated[
        bool,
        typer.Option(
            "--contamination",
            help="Test whether the model has seen the published questions: against those of a new "
            "edition, and by their order. Of tasks of texts that are drawn from a table, such as "
            "core-size.",
        ),
    ] = False,
    system: Annotated[
        str | None, typer.Option(help="The system's text, which opens the chat.")
    ] = None,
    shots: Annotated[
        int,
        typer.Option(
            min=0, help="In-context examples before each question, from the training split."
        ),
    ] = 0,
    shot_seeds: Annotated[
        int, typer.Option(min=1, help="Draws of the examples: mean and sd over them.")
    ] = 1,
    samples: Annotated[
        int, typer.Option(min=1, help="Free answers per question; their shares count.")
    ] = 1,
    temperature: Annotated[
        float, typer.Option(help="Temperature of free answers; 0 takes the likeliest one.")
    ] = 0.0,
    max_tokens: Annotated[
        int,
        typer.Option(
            min=1, help="Tokens of a free answer at most; a model that reasons needs more."
        ),
    ] = MAX_TOKENS,
    picture: Annotated[
        str,
        typer.Option(
            metavar="none|blank|mean|random,…",
            help="What a model that sees is shown beside questions without a picture; several by "
            "comma.",
        ),
    ] = NO_PICTURE,
    picture_seeds: Annotated[
        int, typer.Option(min=1, help="Draws of a random picture: mean and sd over them.")
    ] = 1,
    regions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npz",
            help="Features of regions in pictures, for the mean and the random picture of "
            "VisualBERT and LXMERT.",
        ),
    ] = None,
    scope: Annotated[
        str,
        typer.Option(
            help="What a causal model's score covers: sentence (option and what follows it), "
            "option, or rest (what follows it, given the option)."
        ),
    ] = "sentence",
    length: Annotated[
        str, typer.Option(help="Length rule: sum, mean (per token) or char (per character).")
    ] = "sum",
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Probes to train, each with its own seed. Default: 1, for a learning curve 5.",
        ),
    ] = None,
    fractions: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT,…",
            help="Parts of the training questions for a learning curve. Default: 1,5,10,20,50,100.",
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Epochs of a learning curve's probes. Default: 50."),
    ] = None,
    validation: Annotated[
        bool,
        typer.Option(
            help="A learning curve's probes: the best epoch on the validation questions, or the "
            "last one."
        ),
    ] = True,
    layers: Annotated[
        str | None,
        typer.Option(
            metavar="all|N,…",
            help="Layer by layer, 0 being the embedding: with --how linear a probe and a control "
            "probe per layer; with cloze what the output head reads out of each layer (logit "
            "lens).",
        ),
    ] = None,
    control: Annotated[
        bool, typer.Option(help="With --layers: train the control probes, or not.")
    ] = True,
    family: Annotated[
        str | None,
        typer.Option(help="masked, causal or encoder-decoder, where the model does not say."),
    ] = None,
    style: Annotated[
        str, typer.Option(help="How an encoder-decoder is asked: qa (UnifiedQA) or infill (T5).")
    ] = "qa",
    revision: Revision = None,
    revisions: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Checkpoints of a training: revisions on the Hub (step1000,step2000 or 'step*') "
            "or folders in a folder ('checkpoint-*').",
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            help="Type of the weights: float32 (the default on a CPU), bfloat16, float16, float64 "
            "or auto."
        ),
    ] = None,
    device_map: Annotated[
        str | None,
        typer.Option(
            help="Where a large model goes: auto, balanced, …, or JSON from modules to devices."
        ),
    ] = None,
    quantization: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD[:KEY=VALUE,…]",
            help="A method of transformers: bitsandbytes_4bit, quanto:weights=int8, …",
        ),
    ] = None,
    batch_size: Annotated[
        str, typer.Option(help="Tokens in a batch, or auto: halves when memory runs out.")
    ] = "auto",
    engine_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="An option of vLLM's engine, such as tensor_parallel_size=4."
        ),
    ] = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    base_url: Annotated[
        str | None, typer.Option(help="A server's address, as in http://localhost:8080/v1.")
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="A server's endpoint: completions (the default) or chat (one constrained choice)."
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=512, help="Requests to a server at a time, at most. Default: 4."),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            metavar="IN,OUT", help="A server's prices per million tokens read and written."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, help="Stop before a server costs more: money with --price, else tokens."
        ),
    ] = None,
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Keep a server's answers, and reuse them by prompt.")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            help="local, or ray: on the cluster of RAY_ADDRESS, or on one that is started here."
        ),
    ] = "local",
    workers: Annotated[
        int, typer.Option(min=1, help="Copies of the model that answer, with --engine ray.")
    ] = 2,
    shard: ShardNumber = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Where the page of all that is in the output folder goes. Default: report.html "
            "in it."
        ),
    ] = None,
    resamples: Resamples = RESAMPLES,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask models what they know, score the answers, and write a report.

    Examples:
        seesay probe smollm2 baseline:majority --task core-color --limit 100
        seesay probe ./my-model --task core,fruit.yaml --chat
        seesay probe openai:MODEL --base-url http://localhost:8080/v1 --how choice
        seesay probe bert-base-uncased --task core-size --how linear --layers all
    """
    from seesay import api
    from seesay.cli.output import progress_bars
    from seesay.condition import How, parse_how
    from seesay.files import refuse_folder
    from seesay.models.catalogue import DEFAULT
    from seesay.runs.ask import Settings

    method = parse_how(how)
    _reject_idle_options(models or [], chat=chat, chat_both=chat_both, price=price, budget=budget)
    uses_chat = chat or chat_both
    typed = {
        "--seeds": seeds is not None,
        "--limit": limit is not None,
        "--chat": uses_chat,
        "--shots": shots > 0,
        "--samples": samples > 1 or temperature > 0,
        "--picture": picture != NO_PICTURE,
        "--categories": categories is not None,
        "--fractions": bool(fractions or epochs or not validation),
        "--layers": layers is not None,
        "--shard": shard is not None,
        "--revisions": revisions is not None,
        "--edition": edition is not None,
    }
    _reject_contradictions(method, {name for name, is_typed in typed.items() if is_typed})
    _reject_orders(
        {
            "--until-settled": until_settled,
            "--adaptive": adaptive,
            "--contamination": contamination,
        },
        margin,
        elsewhere=bool(method.trains or chat_both or layers or shard or revisions),
    )
    target = report or output / "report.html"
    refuse_folder(target, "report")
    # a folder that cannot be written is found now, not after an hour
    for folder in (output, target.parent):
        folder.mkdir(parents=True, exist_ok=True)
    common: dict[str, Any] = {
        "models": models or [DEFAULT],
        "tasks": task,
        "data": data,
        "categories": categories,
        "output": output,
        "progress": progress_bars(quiet=quiet),
        "scope": scope,
        "style": style,
        "family": family,
        "batch_size": _batch_size(batch_size),
        "device": device,
        "dtype": dtype,
        "device_map": device_map,
        "quantization": quantization,
        "engine_options": tuple(engine_option or ()),
        "revision": revision,
        "base_url": base_url,
        "endpoint": endpoint,
        "system": system,
        "concurrency": concurrency,
        "price": price,
        "budget": budget,
        "reuse": reuse,
        "engine": engine,
        "workers": workers,
        "trust_remote_code": trust_remote_code,
        "allow_pickle": allow_pickle,
    }
    # only given where it was typed: the default is 1 probe, but 5 for a learning curve
    if seeds is not None:
        common["seeds"] = seeds
    errors: list[UserError]
    if layers is not None:
        del common["categories"]
        settings = Settings(length, limit, seed, resamples)
        curves, errors = api.layers(
            **common, settings=settings, layers=layers, how=method, control=control
        )
        _show_layers(curves, target, output, as_json)
    elif method is How.LEARNING_CURVE:
        points, errors = api.learning_curves(
            **common, **_curve_options(fractions, epochs, validation)
        )
        _show_curves(points, target, output, as_json)
    else:
        results = api.probe(
            **common,
            how=method,
            edition=edition,
            chat="both" if chat_both else chat,
            shots=shots,
            shot_seeds=shot_seeds,
            samples=samples,
            temperature=temperature,
            max_tokens=max_tokens,
            picture=picture,
            picture_seeds=picture_seeds,
            regions=regions,
            revisions=revisions,
            limit=limit,
            length=length,
            seed=seed,
            resamples=resamples,
            command=recorded_command(),
            shard=shard,
            until_settled=until_settled,
            margin=MARGIN if margin is None else margin,
            adaptive=adaptive,
            contamination=contamination,
        )
        errors = list(results.errors)
        if adaptive or until_settled or contamination:
            _show_ordered(results, target, output, as_json)
        elif results.runs:
            _show(results, target, output, seed, resamples, as_json, revisions is not None)
    # The models that answered have been shown and saved: one that failed costs the others nothing.
    # Several often fail for the same reason, which is said once.
    if errors:
        raise UserError(" ".join(dict.fromkeys(map(str, errors))))


def _reject_idle_options(
    models: Sequence[str],
    *,
    chat: bool,
    chat_both: bool,
    price: str | None,
    budget: float | None,
) -> None:
    """Raise an error for options that another makes idle, or that no model here looks at."""
    if chat and chat_both:
        raise UserError("--chat-both asks with the chat template and without: leave out --chat.")
    names = [name.strip() for names in models for name in names.split(",")]
    has_server = any(name.startswith(("openai:", "openai-vision:")) for name in names)
    if (price is not None or budget is not None) and not has_server:
        raise UserError("--price and --budget are for models of servers: none is named here.")


def _reject_contradictions(how: How, typed: Collection[str]) -> None:
    """Raise an error for options that make no sense together, given those that were typed."""
    from seesay.condition import How

    def has(*names: str) -> bool:
        return any(name in typed for name in names)

    if has("--seeds") and not how.trains:
        raise UserError(
            "--seeds is for probes that are trained (--how linear, qa-trained or learning-curve), "
            f"not for {how}."
        )
    if has("--samples") and how is not How.GENERATE:
        raise UserError("--samples and --temperature are for free answers: add --how generate.")
    if has("--chat", "--shots") and how.trains:
        raise UserError(f"--chat and --shots are for models that are asked, not for --how {how}.")
    if has("--picture", "--revisions") and how is How.LEARNING_CURVE:
        raise UserError("--picture and --revisions are not for --how learning-curve.")
    if has("--limit") and how is How.LEARNING_CURVE:
        raise UserError(
            "--limit does not go with --how learning-curve: it uses parts of the questions already."
        )
    if has("--fractions") and how is not How.LEARNING_CURVE:
        raise UserError("--fractions, --epochs and --no-validation are for --how learning-curve.")
    if has("--layers") and has("--categories", "--chat", "--shots", "--picture", "--revisions"):
        raise UserError(
            "--layers goes without --categories, --chat, --shots, --picture and --revisions."
        )
    if has("--shard", "--edition") and (has("--layers") or how.trains):
        raise UserError(
            "--shard and --edition are for models that are asked: a probe, a learning curve or "
            "--layers would be trained as a whole by every job, and on published questions."
        )


def _reject_orders(choices: Mapping[str, bool], margin: float | None, *, elsewhere: bool) -> None:
    """Raise an error for choices of questions that make no sense with one another, or with models
    that are trained or asked `elsewhere`."""
    if margin is not None and not choices["--until-settled"]:
        raise UserError("--margin says when two models are alike: add --until-settled.")
    names = [name for name, is_typed in choices.items() if is_typed]
    if len(names) > 1:
        raise UserError(f"{' and '.join(names)} choose questions differently: give one.")
    if names and elsewhere:
        raise UserError(
            f"{names[0]} goes without --chat-both, --layers, --shard, --revisions and probes that "
            "are trained."
        )


def _curve_options(fractions: str | None, epochs: int | None, validation: bool) -> dict[str, Any]:
    """Return what was typed of how a learning curve is trained."""
    from seesay.probes.linear_layer import ProbeConfig

    config = ProbeConfig(validation=validation)
    if epochs is not None:
        config = replace(config, epochs=epochs)
    options: dict[str, Any] = {"config": config}
    if fractions is not None:
        try:
            percents = [float(part) for part in fractions.split(",")]
        except ValueError:
            percents = []
        if not percents or not all(0 < percent <= 100 for percent in percents):
            raise UserError(
                f"--fractions is '{fractions}': give percentages of the training questions such as "
                "20,40,60,80,100."
            )
        # a part that is named twice is one part
        options["fractions"] = [percent / 100 for percent in sorted(set(percents))]
    return options


def _show_curves(points: list[Point], target: Path, output: Path, as_json: bool) -> None:
    """Write the folder's page, and print the learning curves."""
    from seesay.api import Results
    from seesay.reports.tables import curves_table
    from seesay.runs import learning_curve

    Results(()).with_folder(output).save_report(target)
    bands = learning_curve.bands(points)
    _print(learning_curve.as_json(points), [curves_table(bands)], target, as_json)


def _show_layers(curves: list[LayerCurve], target: Path, output: Path, as_json: bool) -> None:
    """Write the folder's page, and print the figures of the layers, in words too."""
    from seesay.api import Results
    from seesay.reports.in_words import asked_figure, layers_in_words
    from seesay.reports.tables import layers_table
    from seesay.runs.layers import curves_json

    everything = Results(()).with_folder(output)
    everything.save_report(target)
    words = [layers_in_words(curve, asked_figure(curve, everything.runs)) for curve in curves]
    _print(curves_json(curves), [layers_table(curves), *words], target, as_json)


def _show_ordered(results: Results, target: Path, output: Path, as_json: bool) -> None:
    """Print what was decided, the scores on whole tasks, or what models have seen; where that left
    runs, write the folder's page, too."""
    from seesay.cli.output import out, print_json
    from seesay.reports.tables import overview

    documents = [*results.settlements, *results.adaptive, *results.contamination]
    if results.runs:
        results.with_folder(output).save_report(target)
    if as_json:
        print_json([document.model_dump(mode="json") for document in documents])
        return
    if results.runs:
        out.print(overview(results.runs))
    for document in documents:
        out.print(str(document))


def _show(
    results: Results,
    target: Path,
    output: Path,
    seed: int,
    resamples: int,
    as_json: bool,
    as_curves: bool,
) -> None:
    """Write the folder's page and the figures over seeds, and print those of this call.

    Of checkpoints, print the curves over their steps.
    """
    from seesay.files import write_json
    from seesay.reports.groups import group_runs
    from seesay.reports.in_words import results_in_words
    from seesay.reports.tables import (
        checkpoints_table,
        comparison_table,
        overview,
        seeds_table,
    )
    from seesay.runs.checkpoints import curves_json
    from seesay.runs.seeds import over_seeds

    comparisons = results.compare(resamples=resamples, seed=seed)
    everything = results.with_folder(output)
    page_comparisons = comparisons
    if len(everything.runs) > len(results.runs):
        # what cannot be compared among the runs of this call is logged above
        page_comparisons = everything.compare(resamples=resamples, seed=seed, quiet=True)
    everything.save_report(target, page_comparisons)
    seed_summaries = [row for row in over_seeds(results.runs) if row.seeds > 1]
    if seed_summaries:
        write_json(output / "seeds.json", [asdict(row) for row in seed_summaries])
    if as_curves:
        curves = results.checkpoints()
        _print(curves_json(curves), [checkpoints_table(curves)], target, as_json)
        return
    tables: list[Table | str] = [overview(results.runs)]
    if words := results_in_words(group_runs(results.runs), comparisons):
        tables.append(words)
    if seed_summaries:
        tables.append(seeds_table(seed_summaries))
    if comparisons:
        tables.append(comparison_table(comparisons))
    _print([figure.as_record() for figure in results.figures], tables, target, as_json)


def _print(document: object, tables: Sequence[Table | str], page: Path, as_json: bool) -> None:
    """Print the document, or the tables, what they say in words, and where the page is."""
    from seesay.cli.output import out, print_json, remark

    if as_json:
        print_json(document)
        return
    for table in tables:
        out.print(table)
    remark(f"Report: {page}")


def _batch_size(text: str) -> int | None:
    if text == "auto":
        return None
    # thousands of digits would take long to convert, and are no size of a batch
    if not text.isdecimal() or not 1 <= int(text[:12]) <= 1 << 30:
        raise UserError(f"--batch-size is '{text}': give a number of tokens, or auto.")
    return int(text)
