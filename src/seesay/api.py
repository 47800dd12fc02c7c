"""What `import seesay` offers. The command line is a thin layer over these functions: options,
progress, printing. Reports are imported by those who write one, so that a model is asked sooner."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from seesay.arguments import refuse_other_types
from seesay.command_line import errors_in_callers_words
from seesay.condition import How, Sampling, parse_how, parse_pictures
from seesay.defaults import MARGIN, MAX_TOKENS, NO_PICTURE, RESAMPLES
from seesay.errors import UserError, needs_extra
from seesay.metrics.base import FloatArray
from seesay.metrics.scoring_rules import adjust
from seesay.models import Model, ModelOptions, ModelSource
from seesay.models import load_model as load_model_with
from seesay.models.catalogue import DEFAULT
from seesay.probes.linear_layer import ProbeConfig
from seesay.progress import ProgressBars, ProgressCallback, progress_where_seen
from seesay.questions import SLOT, Prompt, Task
from seesay.runs import ask, learning_curve
from seesay.runs.adaptive import AdaptiveFigure, ask_tasks_adaptively
from seesay.runs.categories import add_categories
from seesay.runs.checkpoints import CheckpointCurve, checkpoint_curves, list_checkpoints
from seesay.runs.compare import compare as compare_runs
from seesay.runs.contamination import (
    EDITION,
    Contamination,
    detect_contaminations,
    validate_contamination_task,
)
from seesay.runs.curves import layer_curves
from seesay.runs.curves import learning_curves as curves_of_tasks
from seesay.runs.figures import with_crossed, with_metrics
from seesay.runs.layers import LayerCurve, keep_curves, read_curves
from seesay.runs.learning_curve import Point, keep_points, read_points
from seesay.runs.logs.items import LogKeys
from seesay.runs.logs.pairing import read_logs
from seesay.runs.merge import merge_shards
from seesay.runs.records import Comparison, Figure
from seesay.runs.request import Request, expand, progress_title, refuse_unknown, validate_names
from seesay.runs.run import Run
from seesay.runs.seeds import first_seeds
from seesay.runs.settle import Settlement, settle_tasks
from seesay.runs.stability import Stability, ranking_stability
from seesay.runs.store import find_runs, other_runs
from seesay.shards import Shard, parse_shard
from seesay.tasks import load_task as load_named_task
from seesay.tasks.several import load_tasks as load_tasks

if TYPE_CHECKING:
    import pandas as pd

    from seesay.reports.answer_rows import AnswerRow

log = logging.getLogger(__name__)

Paths = str | Path | Iterable[str | Path]
Curve = TypeVar("Curve")


@dataclass(frozen=True)
class Results:
    """Runs together. `errors` says why some models or tasks that were asked for have no run;
    `layer_curves` and `learning_points` are what the folder of the runs holds beside them;
    `settlements` is what `probe` decided where it asked until it was settled, and `adaptive` are
    scores from questions that were chosen by an item model; `contamination` says whether models
    know the published questions."""

    runs: tuple[Run, ...]
    errors: tuple[UserError, ...] = ()
    layer_curves: tuple[LayerCurve, ...] = ()
    learning_points: tuple[Point, ...] = ()
    settlements: tuple[Settlement, ...] = ()
    adaptive: tuple[AdaptiveFigure, ...] = ()
    contamination: tuple[Contamination, ...] = ()

    @property
    def figures(self) -> list[Figure]:
        """Every figure of every run, the headline metric of each first."""
        return [figure for run in self.runs for figure in run.figures]

    def to_pandas(self) -> pd.DataFrame:
        """The figures as a table, one row per run, metric, template and slice."""
        # reports are imported where one is written: to ask a model needs none of them
        from seesay.reports.formats import COLUMNS, figure_rows

        with needs_extra("A DataFrame", "pandas"):
            import pandas as pd
        return pd.DataFrame(figure_rows(self.runs), columns=list(COLUMNS))

    def table(self, format: str = "markdown") -> str:
        """Models by tasks as "markdown" or "latex", the best bold where a paired test says so;
        every figure as "csv" or "json"."""
        from seesay.reports.formats import FORMATS, as_text
        from seesay.reports.groups import without_people

        if format not in FORMATS[1:]:
            raise UserError(
                f"There is no table format '{format}': choose {', '.join(FORMATS[1:])}."
            )
        if format in ("markdown", "latex"):  # only these mark which model a test shows to be best
            comparisons = Results(without_people(self.runs)).compare()
        else:
            comparisons = []
        return as_text(format, self.runs, comparisons)

    def answers(self) -> list[AnswerRow]:
        """One row per run, question and template; of tied options none is `chosen`, and `right` is
        the share of accepted ones."""
        from seesay.reports.answer_rows import answer_rows

        return [row for run in self.runs for row in answer_rows(run)]

    @errors_in_callers_words()
    @refuse_other_types
    def compare(
        self,
        *,
        against: str | None = None,
        all_pairs: bool = False,
        resamples: int = RESAMPLES,
        seed: int = 0,
        strict: bool = False,
        all_seeds: bool = False,
        headline_only: bool = False,
        quiet: bool = False,
    ) -> list[Comparison]:
        """Paired tests of each run of a task with its best, with the model `against`, or of every
        pair.

        By every metric, or by the headline's alone. With `strict`, having nothing to compare is an
        error; pairs that cannot be compared are logged unless `quiet`. Of a probe trained with
        several seeds, the first is taken.
        """
        ask.validate_resampling(seed, resamples)
        # the seeds of one probe are no rivals: to compare them would only cost other tests power
        runs = self.runs if all_seeds else first_seeds(self.runs)
        return compare_runs(
            runs,
            against=against,
            all_pairs=all_pairs,
            resamples=resamples,
            seed=seed,
            strict=strict,
            headline_only=headline_only,
            quiet=quiet,
        )

    def sliced(self, tags: str | Sequence[str]) -> Results:
        """The runs with figures for every combination of these tags' values: "answers,segment", or
        a list of tags."""
        if isinstance(tags, str):
            tags = tags.split(",")
        names = [tag.strip() for tag in tags]
        questions = [question for run in self.runs for question in run.task.questions]
        present = dict.fromkeys(tag for question in questions for tag in question.tags)
        for tag in names:
            if tag not in present:
                raise UserError(
                    f"No question has the tag '{tag}' to slice by: there are "
                    f"{', '.join(present) or 'none'}."
                )
        runs = [replace(run, figures=with_crossed(run, names)) for run in self.runs]
        return replace(self, runs=tuple(runs))

    def measured(self, *names: str) -> Results:
        """The runs with figures of further metrics, such as "brier" and
        "expected_calibration_error".

        A metric that does not fit a task is left out there, with a warning; one that fits no run is
        refused.
        """
        runs = list(self.runs)
        for name in names:
            refusals: dict[str, int] = {}
            for number, run in enumerate(runs):
                try:
                    runs[number] = replace(run, figures=with_metrics(run, (name,)))
                except UserError as error:
                    refusals[str(error)] = refusals.get(str(error), 0) + 1
            if refusals and sum(refusals.values()) == len(runs):
                raise UserError(next(iter(refusals)))
            for refusal in refusals:
                log.warning("%s", refusal)
        return replace(self, runs=tuple(runs))

    @errors_in_callers_words()
    @refuse_other_types
    def stability(
        self,
        *,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> list[Stability]:
        """How stable the ranking of models is over templates, task by task."""
        # copies of one probe would make the ranking look stabler than it is
        runs = first_seeds(self.runs)
        return ranking_stability(runs, resamples=resamples, seed=seed)

    def checkpoints(self) -> list[CheckpointCurve]:
        """Curves over the checkpoints of trainings, with the step at which each fact is learnt."""
        return checkpoint_curves(self.runs)

    def save_report(
        self,
        path: str | Path,
        comparisons: Sequence[Comparison] | None = None,
    ) -> Path:
        """Write one page for all the runs and curves, which opens offline."""
        from seesay.reports.pages.folder import write_folder

        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"'{path}' cannot be written: {error.strerror}.") from error
        return write_folder(
            path,
            self.runs,
            self.compare() if comparisons is None else comparisons,
            self.layer_curves,
            learning_curve.bands(self.learning_points),
        )

    @errors_in_callers_words()
    @refuse_other_types
    def save_records(self, folder: str | Path, by: str, relationship: str = "other") -> list[Path]:
        """Write Every Eval Ever's records of the runs below `folder`, with intervals and answers.

        `by` is who asked the models; `relationship` to their makers is "first_party",
        "third_party", "collaborative" or "other".
        """
        from seesay.reports.every_eval_ever import write_records

        return write_records(Path(folder), self.runs, by, relationship)

    def with_folder(self, folder: str | Path) -> Results:
        """These runs first, then the others in the folder that `probe` wrote them to, with its
        curves."""
        folder = Path(folder)
        return replace(
            self,
            runs=(*self.runs, *other_runs(folder, self.runs)),
            layer_curves=_read_undamaged([folder], read_curves),
            learning_points=_read_undamaged([folder], read_points),
        )

    def save_site(
        self,
        folder: str | Path,
        *,
        url: str | None = None,
        hub_dataset: str | None = None,
    ) -> Path:
        """Write a leaderboard as a static site below `folder`; returns its first page.

        One model under two names is one there.
        """
        from seesay.reports.groups import unite_names, without_people
        from seesay.reports.site import write_site

        runs = unite_names(self.runs)
        models = Results(without_people(runs))
        return write_site(
            Path(folder),
            runs,
            models.compare(headline_only=True),
            url=url,
            hub_dataset=hub_dataset,
        )

    def __repr__(self) -> str:
        runs = ", ".join(f"{run.label} on {run.manifest.task}" for run in self.runs)
        return f"<Results: {runs}>"

    def _repr_html_(self) -> str:
        from seesay.reports.pages.runs import overview_html

        return overview_html(self.runs)


@errors_in_callers_words()
@refuse_other_types
def load_model(
    name: str,
    **options: Any,
) -> Model:
    """The model behind a name: a Hub id, a folder, a GGUF file, `openai:MODEL`, `baseline:NAME` or
    a catalogue name.

    Options are those of `seesay.models.ModelOptions`, such as `device`, `scope` or `base_url`.
    """
    return load_model_with(name, ModelOptions.from_keywords(options))


@errors_in_callers_words()
@refuse_other_types
def load_task(
    name: str,
    data: str | Path | None = None,
) -> Task:
    """The task of this name; `data` is a file or folder to read in place of the data folder's."""
    return load_named_task(name, None if data is None else Path(data))


@errors_in_callers_words()
@refuse_other_types
def score(
    model: str | Model,
    pairs: Iterable[tuple[str, str]],
    *,
    length: str = "sum",
    **options: Any,
) -> FloatArray:
    """The natural log-probability of each option given its context, pair by pair.

    An option follows its context after a space, or fills `[MASK]` where the context has one; then a
    causal model reads what comes after it too. `length` divides by the tokens ("mean") or
    characters ("char") that are scored. A context is read once for all of its options. Further
    options are those of `seesay.models.ModelOptions`.
    """
    scorer = load_model(model, **options) if isinstance(model, str) else model
    _require_probabilities(scorer)
    listed = [(_with_slot(context), option.strip()) for context, option in pairs]
    by_text: dict[str, dict[str, None]] = {}
    for text, option in listed:
        # a model of whole words would give the probability of any unknown word
        if scorer.whole_words and not scorer.knows(option):
            raise UserError(f"'{scorer.name}' does not know '{option}': leave that option out.")
        by_text.setdefault(text, {})[option] = None
    prompts = [Prompt(text, tuple(words)) for text, words in by_text.items()]
    logps: dict[tuple[str, str], float] = {}
    for batch in scorer.plan(prompts):
        batch_prompts = [prompts[i] for i in batch]
        for prompt, scores in zip(batch_prompts, scorer.answer(batch_prompts), strict=True):
            for option, logp in zip(prompt.options, adjust(scores, length), strict=True):
                logps[prompt.text, option] = float(logp)
    return np.array([logps[pair] for pair in listed], dtype=np.float64)


def _require_probabilities(model: Model) -> None:
    """Refuse a model whose scores of an option depend on the other options, or are none."""
    weighs_alone = "score" in model.abilities or model.family in ("completions", "encoder-decoder")
    if not weighs_alone or model.only_chooses or model.letters_options:
        raise UserError(
            f"'{model.name}' ({model.family}) gives a text by itself no log-probability: give a "
            "causal, masked or encoder-decoder model, or a server that completes texts."
        )


def _with_slot(context: str) -> str:
    """Return the context with one slot: its own, or one at its end."""
    slots = context.count(SLOT)
    if slots > 1:
        raise UserError(f"A context has one {SLOT} at most: {context!r}.")
    if slots:
        return context
    if not context or context[-1].isspace():
        return context + SLOT
    return f"{context} {SLOT}"


@errors_in_callers_words()
@refuse_other_types
def encode(
    model: str | Model,
    words: str | Sequence[str],
    *,
    layer: int | None = None,
    **options: Any,
) -> NDArray[np.float32]:
    """One vector per word or text, words × width, of the last layer or of any other.

    Layer 0 is the embedding, -1 the last one. A causal model is read at the text's last token, a
    masked one at its first; where the network ends in a norm, inner layers are read through it.
    Further options are those of `seesay.models.ModelOptions`.
    """
    if isinstance(model, str):
        encoder = ModelSource.parse(model, ModelOptions.from_keywords(options)).load_encoder()
    else:
        encoder = model
    # a text is a sequence too: of its letters
    texts = [words] if isinstance(words, str) else list(words)
    if not texts:
        raise UserError("There is nothing to encode: give a word or a text.")
    if layer is None:
        return encoder.encode(texts)
    vectors = encoder.encode_layers(texts)
    count = vectors.shape[1]
    if not -count <= layer < count:
        raise UserError(
            f"There is no layer {layer}: '{encoder.name}' has {count}, 0 (the embedding) to "
            f"{count - 1}."
        )
    return vectors[:, layer]


@errors_in_callers_words()
@refuse_other_types
def probe(
    models: str | Model | Sequence[str | Model] = DEFAULT,
    tasks: str | Task | Sequence[str | Task] | None = None,
    *,
    how: How | str = How.CLOZE,
    data: str | Path | None = None,
    edition: str | None = None,
    limit: int | None = None,
    seeds: int = 1,
    chat: bool | str = False,
    shots: int = 0,
    shot_seeds: int = 1,
    samples: int = 1,
    temperature: float = 0.0,
    max_tokens: int = MAX_TOKENS,
    picture: str | Sequence[str] = NO_PICTURE,
    picture_seeds: int = 1,
    regions: str | Path | None = None,
    revisions: str | None = None,
    categories: str | None = None,
    length: str = "sum",
    seed: int = 0,
    resamples: int = RESAMPLES,
    output: str | Path = "runs",
    command: str = "",
    shard: str | None = None,
    until_settled: bool = False,
    margin: float = MARGIN,
    adaptive: bool = False,
    contamination: bool = False,
    progress: ProgressBars = progress_where_seen,
    **options: Any,
) -> Results:
    """Ask models what they know and score the answers; runs are kept below `output` and resumed
    there.

    `tasks` are names, groups or tasks, by default the embedded battery (for a linear probe, ViPhy);
    `edition` draws them anew.
    `chat` asks through the models' chat templates, or "both" ways; `samples`, `temperature` and
    `max_tokens` are for generated answers. `picture` has the pictures beside which questions that
    have none are asked ("none,blank,mean,random", or a list), `regions` a file of what an object
    detector found in pictures, for models that see nothing else. `revisions` asks checkpoints of
    the models in their place: "step1000,step2000" or "checkpoint-*". Further options are those of
    `seesay.models.ModelOptions`. A model or task that fails is reported in `errors`, and the others
    are asked. With `shard`, as in "2/4", only that share of the prompts is asked; there is a run
    once `merge` has all of them. With `until_settled`, two models are asked until it is decided
    which is ahead, or that they differ by no more than `margin`; with `adaptive`, each model is
    asked 100 questions, or `limit`, that the task's item model finds telling. With `contamination`,
    published questions are compared with those of an edition that nobody can have seen.
    """
    if parse_how(how) is How.LEARNING_CURVE:
        raise UserError("Learning curves have points, not runs: call seesay.api.learning_curves.")
    if chat not in (True, False, "both"):
        raise UserError(f"chat is {chat!r}: give True, False or 'both'.")
    names = picture.split(",") if isinstance(picture, str) else picture
    request = Request(
        parse_how(how),
        ModelOptions.from_keywords(
            {**options, "chat": bool(chat)}, list(signature(probe).parameters)[:-1]
        ),
        seeds,
        progress,
        both=chat == "both",
        shots=shots,
        shot_seeds=shot_seeds,
        sampling=Sampling(samples, temperature, max_tokens, seed),
        pictures=parse_pictures(name.strip() for name in names),
        picture_seeds=picture_seeds,
        regions=None if regions is None else Path(regions),
    )
    # whatever can be refused is refused before the first model is loaded
    settings = ask.Settings(length, limit, seed, resamples, command)
    requested_models = _list_models(request, models)
    if revisions is None:
        model_names = [model for model in requested_models if isinstance(model, str)]
        refuse_unknown(request, model_names)
    else:
        requested_models = _list_checkpoints(request, requested_models, revisions)
    if contamination:
        edition = edition or EDITION
    validate = validate_contamination_task if contamination else None
    loaded_tasks, errors = _load_tasks(request, tasks, data, categories, edition, validate)
    share = None if shard is None else parse_shard(shard)
    if (until_settled or adaptive or contamination) and (request.how.trains or share is not None):
        raise UserError(
            "--until-settled, --adaptive and --contamination go without --shard and probes that "
            "are trained."
        )
    if contamination:
        editions = {task.series: task for task in loaded_tasks}
        published, _ = _load_tasks(request, tasks, data, categories, validate=validate)
        published = [task for task in published if task.name in editions]
        pairs_to_test = [
            pair for model in requested_models for pair in expand(request, model, published)
        ]
        outcomes = detect_contaminations(pairs_to_test, editions, Path(output), settings, progress)
        return Results((), tuple(errors), contamination=tuple(outcomes))
    if adaptive:
        pairs_to_ask = [
            pair for model in requested_models for pair in expand(request, model, loaded_tasks)
        ]
        scores = ask_tasks_adaptively(pairs_to_ask, Path(output), settings, progress)
        return Results((), tuple(errors), adaptive=tuple(scores))
    if until_settled:
        # a model that fails leaves nothing to compare the other with
        pairs = [list(expand(request, model, loaded_tasks)) for model in requested_models]
        settlements = settle_tasks(pairs, Path(output), settings, margin, progress)
        return Results((), tuple(errors), settlements=tuple(settlements))
    runs, more_errors = _ask_all(
        request, requested_models, loaded_tasks, Path(output), settings, share
    )
    errors += more_errors
    if not runs and errors:
        raise errors[0]
    return Results(tuple(runs), tuple(errors))


def _ask_all(
    request: Request,
    models: Sequence[str | Model],
    tasks: Sequence[Task],
    output: Path,
    settings: ask.Settings,
    share: Shard | None,
) -> tuple[list[Run], list[UserError]]:
    """The runs of all models and tasks, and why some are missing."""
    errors: list[UserError] = []
    runs: list[Run] = []
    for requested in models:
        if isinstance(requested, str):
            log.info("Loading %s …", requested)
        try:
            for model, task in expand(request, requested, tasks):
                # a task that this model cannot be asked does not keep it from the next
                try:
                    with request.progress(progress_title(model, task), "prompts") as advance:
                        runs += _ask(model, task, output, settings, share, advance)
                except UserError as error:
                    errors.append(error)
        except UserError as error:  # the other models are still asked
            errors.append(error)
    return runs, errors


def _ask(
    model: Model,
    task: Task,
    output: Path,
    settings: ask.Settings,
    share: Shard | None,
    progress: ProgressCallback,
) -> list[Run]:
    """The run; a share of one has answers, and no figures yet."""
    if share is None:
        return [ask.run(model, task, output, settings, progress)]
    folder = ask.run_shard(model, task, output, settings, share, progress)
    log.info(
        "Share %s is answered in %s: `seesay merge` makes a run of all of them.", share, folder
    )
    return []


@errors_in_callers_words()
@refuse_other_types
def merge(
    folders: Paths,
    output: str | Path = "runs",
    *,
    progress: ProgressBars = progress_where_seen,
) -> Results:
    """Make runs of the shares that `probe(shard=…)` has answered: folders that hold them, in any
    order. They equal those of a call without `shard`."""
    paths = [folders] if isinstance(folders, str | Path) else folders
    runs = merge_shards([Path(path) for path in paths], Path(output), progress)
    return Results(tuple(runs))


@errors_in_callers_words()
@refuse_other_types
def learning_curves(
    models: str | Model | Sequence[str | Model] = DEFAULT,
    tasks: str | Task | Sequence[str | Task] | None = None,
    *,
    data: str | Path | None = None,
    seeds: int = learning_curve.SEEDS,
    fractions: Sequence[float] = learning_curve.FRACTIONS,
    config: ProbeConfig | None = None,
    categories: str | None = None,
    output: str | Path = "runs",
    progress: ProgressBars = progress_where_seen,
    **options: Any,
) -> tuple[list[Point], list[UserError]]:
    """What linear probes learn from parts of the training questions, and what failed.

    `config` says how they are trained: by default as other probes, with
    `ProbeConfig(epochs=1, validation=False)` as ViPhy's figures 8 and 9.
    What is done so far is kept in `learning-curve.json` below `output`, beside what is there.
    """
    request = Request(
        How.LEARNING_CURVE,
        ModelOptions.from_keywords(options),
        seeds,
        progress,
    )
    requested_models = _list_models(request, models)
    loaded_tasks, errors = _load_tasks(request, tasks, data, categories)
    order = [task.name for task in loaded_tasks]
    points: list[Point] = []
    for model in requested_models:
        try:
            for more in curves_of_tasks(
                request, model, loaded_tasks, fractions=fractions, config=config
            ):
                # by task first, so that models stand side by side
                points = sorted([*points, *more], key=lambda point: order.index(point.task))
                keep_points(Path(output), points)
        except UserError as error:
            errors.append(error)
    if not points:
        raise errors[0]
    return points, errors


@errors_in_callers_words()
@refuse_other_types
def layers(
    models: str | Model | Sequence[str | Model] = DEFAULT,
    tasks: str | Task | Sequence[str | Task] | None = None,
    *,
    layers: str = "all",
    how: How | str = How.LINEAR,
    control: bool = True,
    seeds: int = 1,
    data: str | Path | None = None,
    settings: ask.Settings | None = None,
    output: str | Path = "runs",
    progress: ProgressBars = progress_where_seen,
    **options: Any,
) -> tuple[list[LayerCurve], list[UserError]]:
    """The headline figure by layer, and what failed: of linear probes with a control task, or of
    what the output head reads out of each layer (`how="cloze"`). Kept in `layers.json` below
    `output`, beside what is there."""
    request = Request(
        parse_how(how),
        ModelOptions.from_keywords(options),
        seeds,
        progress,
    )
    requested_models = _list_models(request, models)
    loaded_tasks, errors = _load_tasks(request, tasks, data, None)
    settings = settings or ask.Settings()
    output = Path(output)
    curves: list[LayerCurve] = []
    for model in requested_models:
        try:
            for curve in layer_curves(
                request,
                model,
                loaded_tasks,
                settings,
                output,
                layers,
                control=control,
            ):
                # written after every curve: the next one may take an hour
                curves.append(curve)
                keep_curves(output, curves)
        except UserError as error:
            errors.append(error)
    if not curves:
        raise errors[0]
    return curves, errors


@errors_in_callers_words()
@refuse_other_types
def results(
    runs: Paths,
    *,
    item: str | None = None,
    cluster: str | None = None,
    score: str | None = None,
) -> Results:
    """Runs that exist: run folders, or folders of runs such as `runs/`, with their curves.

    A file is a log of another program; `item`, `cluster` and `score` name fields of its rows.
    """
    listed = [runs] if isinstance(runs, str | Path) else runs
    given = [Path(path) for path in listed]
    paths = [path for path in given if path.is_dir()]
    keys = LogKeys(item, cluster, score)
    logs = [path for path in given if not path.is_dir()]
    if keys != LogKeys() and not logs:
        raise UserError("--item, --cluster and --score are for logs of other programs: give files.")
    folder_runs = find_runs(paths) if paths else []
    return Results(
        (*folder_runs, *read_logs(logs, keys)),
        layer_curves=_read_undamaged(paths, read_curves),
        learning_points=_read_undamaged(paths, read_points),
    )


def _read_undamaged(
    folders: Sequence[Path], read: Callable[[Path], list[Curve]]
) -> tuple[Curve, ...]:
    """Return the curves that are kept in folders; a damaged file is left out with a sentence, as a
    damaged run is."""
    curves: list[Curve] = []
    for folder in folders:
        try:
            curves += read(folder)
        except UserError as error:
            log.warning("Left out: %s", error)
    return tuple(curves)


@errors_in_callers_words()
@refuse_other_types
def compare(
    runs: Paths,
    *,
    against: str | None = None,
    all_pairs: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Comparison]:
    """Paired tests on shared questions: each run with the best one, with the model `against`, or
    every pair."""
    return results(runs).compare(
        against=against,
        all_pairs=all_pairs,
        resamples=resamples,
        seed=seed,
        strict=True,
        all_seeds=True,
    )


@errors_in_callers_words()
@refuse_other_types
def report(
    runs: Paths,
    output: str | Path = "report.html",
    *,
    slices: Iterable[str | Sequence[str]] = (),
) -> Path:
    """Write one page for runs that exist, with paired tests; `slices` are tags to cross, such as
    "answers,segment"."""
    shown = results(runs)
    for tags in slices:
        shown = shown.sliced(tags)
    return shown.save_report(output)


def _list_models(
    request: Request,
    models: str | Model | Sequence[str | Model],
) -> list[str | Model]:
    """The models, each once; names are validated before the first model is loaded."""
    requested = _as_list(models, Model, "model")
    listed: list[str | Model] = list(dict.fromkeys(requested))
    for model in listed:
        if requested.count(model) > 1:
            name = model if isinstance(model, str) else model.name
            log.warning("'%s' is named more than once: it is asked once.", name)
    if not listed:
        raise UserError("No model was named: `seesay models` lists some.")
    validate_names(request, [model for model in listed if isinstance(model, str)])
    return listed


def _as_list(given: Any, kind: type, noun: str) -> list[Any]:
    """Return one model or task, or several, as a list; refuse what is neither a name nor one."""
    is_list = isinstance(given, Iterable) and not isinstance(given, (str, type, kind))
    items = list(given) if is_list else [given]
    for item in items:
        if isinstance(item, (str, kind)):
            continue
        if isinstance(item, type):
            raise UserError(f"{item.__name__} is a class: give an object of it.")
        raise UserError(
            f"{item!r} is no {noun}: give its name, a seesay {kind.__name__}, or a list."
        )
    return items


def _list_checkpoints(
    request: Request, models: Sequence[str | Model], revisions: str
) -> list[str | Model]:
    """The names of the models' checkpoints."""
    names: list[str | Model] = []
    for model in models:
        if isinstance(model, Model):
            raise UserError(f"'{model.name}' is loaded: give a model's name to ask its revisions.")
        names += list_checkpoints(model, revisions, request.options)
    return names


def _load_tasks(
    request: Request,
    tasks: str | Task | Sequence[str | Task] | None,
    data: str | Path | None,
    categories: str | None,
    edition: str | None = None,
    validate: Callable[[str], None] | None = None,
) -> tuple[list[Task], list[UserError]]:
    """The tasks, by default those that suit the request, and why some of a group are missing."""
    if tasks is None:
        # the published probes, whose figures stand beside ours, are those of ViPhy
        names: list[str | Task] = ["viphy" if request.how.trains else "core"]
    else:
        names = _as_list(tasks, Task, "task")
    if not names:
        raise UserError("No task was named: `seesay tasks` lists them.")
    try:
        loaded, errors = load_tasks(names, None if data is None else Path(data), edition, validate)
    except UserError as error:
        if tasks is None and request.how.trains:
            raise UserError(
                "A probe is trained on viphy unless --task says otherwise; core-size is embedded, "
                f"and needs no data. {error}"
            ) from error
        raise
    if categories is not None:
        loaded = add_categories(loaded, categories, request.options)
    return loaded, errors
