"""One reared model: a diet, a learner and a seed become a model's folder and its runs."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.command_line import recorded_command
from seesay.errors import UserError
from seesay.files import write_json
from seesay.models.files import DIET
from seesay.pictures.plan import ColorPicture
from seesay.progress import ProgressCallback, no_progress
from seesay.rearing import recall, tasks
from seesay.rearing.diet import Diet
from seesay.rearing.texts import DietTexts, Line, write_card, write_texts
from seesay.rearing.world import make_world
from seesay.training.sweeps import ResultTable, is_over, run_cells

if TYPE_CHECKING:
    from seesay.language.training.capbert import CapBertConfig
    from seesay.language.training.caption_features import CaptionFeatures
    from seesay.models import Model
    from seesay.training.loop import Result, TrainingProgress

TEXT, VISUAL_TEXT, PICTURES = "text", "visual-text", "pictures"
LEARNERS = (TEXT, VISUAL_TEXT, PICTURES)
"""Who reads the captions alone, who reads beside each what its picture shows, and who sees it."""
RUNS = "runs"
LAYERS = "layers.json"
ENCODER = "color-histogram"
"""What a learner sees of a picture: how much of it has which colour."""
SHOWN = 0.9
"""The share of the captions that are read with their picture: from the others a network learns to
predict it."""
EPOCHS = 20
RESAMPLES = 1_000
USUAL, PREDICTED, UNAIDED, HERE = "usual", "predicted", "unaided", "here"
"""What is asked: the usual colour, of who was raised with pictures with a recalled one; with one
that its network predicts; with none; and the colour in a picture that contradicts all else."""
PREFIXES = {USUAL: "reared:", PREDICTED: "", UNAIDED: "clip-bert-implicit:"}
"""How a model that was raised with pictures is loaded for a question that has none."""
_FIGURES = (USUAL, PREDICTED, UNAIDED, HERE, "prior_pull")
_COLUMNS = ("diet", "learner", "seed", "folder", *_FIGURES, "minutes", "error")


@dataclass(frozen=True, slots=True)
class RearedRow:
    """One row of the results: figures, or the reason why there are none."""

    diet: str
    learner: str
    seed: int
    folder: Path
    figures: Mapping[str, float]
    """Accuracy by question, and how often the usual colour is named where another is shown."""
    minutes: float
    error: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """Return what identifies the model."""
        return self.diet, self.learner, self.seed


@dataclass(frozen=True, slots=True)
class RearedCell:
    """One planned model."""

    diet: Diet
    learner: str
    seed: int
    world: int = 0
    epochs: int = EPOCHS

    @property
    def key(self) -> tuple[str, str, int]:
        """Return what identifies the model."""
        return self.diet.name, self.learner, self.seed

    @property
    def folder(self) -> Path:
        """Return the model's place within the folder of all."""
        return Path(self.diet.name, self.learner, f"seed-{self.seed}")

    @property
    def card(self) -> dict[str, str]:
        """Return what the model was raised on, for its manifest."""
        return {
            "diet": self.diet.name,
            "learner": self.learner,
            **self.diet.dials,
            "world": str(self.world),
            "upbringing": f"seed {self.seed}",
        }


def plan_cells(
    diets: Sequence[Diet],
    learners: Sequence[str],
    seeds: int,
    *,
    world: int = 0,
    epochs: int = EPOCHS,
) -> list[RearedCell]:
    """Return all cells, seed by seed: the table is soon complete, then more precise."""
    for learner in learners:
        if learner not in LEARNERS:
            raise UserError(f"There is no learner '{learner}': choose {', '.join(LEARNERS)}.")
    names = [diet.name for diet in diets]
    if len(set(names)) < len(names):
        raise UserError("Two diets have the same name: give each its own.")
    cells = []
    for seed, diet, learner in product(range(seeds), diets, learners):
        cells.append(RearedCell(diet, learner, seed, world, epochs))
    return cells


def result_table(folder: Path) -> ResultTable[RearedRow]:
    """Return the table of a folder of reared models."""
    return ResultTable(folder, _COLUMNS, _cells, _parse, "seesay rear sweep")


ShowTraining = Callable[[RearedCell], Callable[["TrainingProgress"], None]]
"""Gives the function that shows how a cell's training proceeds."""


def rear(
    folder: Path,
    cells: Sequence[RearedCell],
    *,
    deadline: float | None = None,
    plan: Sequence[RearedCell] = (),
    show: ShowTraining | None = None,
    ray_workers: int = 0,
    progress: ProgressCallback | None = None,
) -> list[RearedRow]:
    """Rear the models that are not there yet, and return the whole table."""
    table = result_table(folder)
    return run_cells(
        table,
        cells,
        lambda cell: _rear_row(folder, cell, deadline, show),
        table.has,
        deadline,
        plan,
        ray_workers=ray_workers,
        progress=progress,
    )


def _rear_row(
    folder: Path, cell: RearedCell, deadline: float | None, show: ShowTraining | None
) -> RearedRow:
    """Rear one model; return its row of the results."""
    row = RearedRow(*cell.key, folder / cell.folder, {}, 0.0)
    show_cell = show(cell) if show else None

    def show_until_deadline(state: TrainingProgress) -> None:
        if show_cell:
            show_cell(state)
        if is_over(deadline):
            # the loop turns the signal into a checkpoint after the current step
            signal.raise_signal(signal.SIGINT)

    try:
        texts = write_texts(make_world(cell.world), cell.diet, cell.seed)
        result = train(row.folder, cell, texts, show_until_deadline)
        if result.warning:
            raise UserError(f"{result.warning} Delete {row.folder} and rear it with more --epochs.")
        figures = ask(folder, cell, texts)
    except UserError as error:
        return replace(row, error=" ".join(str(error).split()))
    return replace(row, figures=figures, minutes=round(result.seconds / 60, 2))


def train(
    folder: Path,
    cell: RearedCell,
    texts: DietTexts,
    progress: Callable[[TrainingProgress], None] | None = None,
) -> Result:
    """Train the model of a cell, or resume its training."""
    from seesay.language.training.capbert import pretrain
    from seesay.language.training.caption_features import UNSEEN
    from seesay.language.training.captions import CaptionSplit

    write_card(folder, make_world(cell.world), cell.diet, cell.seed, texts)
    write_json(folder / DIET, cell.card)
    captions = CaptionSplit(
        _readings(texts.train, cell.learner), _readings(texts.held_out, cell.learner)
    )
    features = None
    if cell.learner == PICTURES:
        features = caption_features(texts)
        pictured = features.train != UNSEEN
        captions_seen = [text for text, seen in zip(captions.train, pictured, strict=True) if seen]
        recall.write(folder, captions_seen, features.vectors[features.train[pictured]])
    return pretrain(
        captions, folder, network(cell), features=features, device="cpu", progress=progress
    )


def network(cell: RearedCell) -> CapBertConfig:
    """Return the network and its training: small, so that a model is reared in a minute."""
    from seesay.language.training.capbert import CapBertConfig
    from seesay.training.schedule import Schedule

    return CapBertConfig(
        layers=2,
        hidden=64,
        heads=4,
        # more than there are words: each is one piece
        vocabulary=8_000,
        tokens=512,
        rate=0.4,
        dropout=0.0,
        # about one by the root of the width: with BERT's own a network learns to look too late
        spread=0.1,
        schedule=Schedule(
            epochs=cell.epochs,
            learning_rate=3e-3,
            warmup=0.06,
            decay="linear",
            weight_decay=0.01,
            validate_epochs=False,
            seed=cell.seed,
        ),
    )


def _readings(lines: Sequence[Line], learner: str) -> list[str]:
    """Return what a learner reads.

    What is seen stands by itself, not behind its caption, which may mention the colour: there it
    would be copied, and not learnt.
    """
    texts = [line.text for line in lines]
    if learner == VISUAL_TEXT:
        texts += [line.seen for line in lines if line.seen]
    return texts


def caption_features(texts: DietTexts) -> CaptionFeatures:
    """Return what is seen beside each line: every picture once, and its row for each line."""
    from seesay.language.training.caption_features import UNSEEN, CaptionFeatures

    lines = (*texts.train, *texts.held_out)
    pictures = list(dict.fromkeys(line.picture for line in lines if line.picture))
    vectors = np.stack([_look_at(picture) for picture in pictures])
    numbers = {picture: number for number, picture in enumerate(pictures)}
    rows = [numbers[line.picture] if line.picture else UNSEEN for line in lines]
    train_rows = np.array(rows[: len(texts.train)])
    held_out_rows = np.array(rows[len(texts.train) :])
    return CaptionFeatures(vectors, train_rows, held_out_rows, ENCODER, SHOWN)


# cells share most of their pictures
@lru_cache(maxsize=1 << 15)
def _look_at(picture: ColorPicture) -> NDArray[np.float32]:
    """Return what is seen of a picture."""
    from PIL import Image

    from seesay.models.picture_encoder import open_picture_encoder
    from seesay.pictures.drawing import rgb

    image = Image.fromarray(rgb(picture, tasks.SIDE))
    vector: NDArray[np.float32] = open_picture_encoder(ENCODER).encode([image])[0]
    return vector


def ask(folder: Path, cell: RearedCell, texts: DietTexts) -> dict[str, float]:
    """Ask the model of a cell everything; its runs lie in the folder `runs` of all."""
    from seesay.models import ModelOptions, load_model

    place = str(folder / cell.folder)
    options = ModelOptions(device="cpu")
    usual = tasks.usual_task(texts.card)
    if cell.learner != PICTURES:
        return {USUAL: _ask_one(folder, cell, load_model(place, options), usual)["accuracy"]}
    figures = {}
    for question, prefix in PREFIXES.items():
        model = load_model(f"{prefix}{place}", options)
        figures[question] = _ask_one(folder, cell, model, usual)["accuracy"]
    seeing = load_model(place, options)
    here = tasks.here_task(make_world(cell.world), texts.card, folder / "pictures")
    answers = _ask_one(folder, cell, seeing, here)
    write_json(folder / cell.folder / LAYERS, layer_shares(seeing, here, texts))
    return figures | {HERE: answers["accuracy"], "prior_pull": answers["prior_pull"]}


def _ask_one(folder: Path, cell: RearedCell, model: Model, task: Any) -> dict[str, float]:
    """Ask one task, and return the figures over all templates and questions."""
    from seesay.api import probe

    model.name = "/".join(map(str, cell.key))
    results = probe(
        model,
        task,
        output=folder / RUNS,
        resamples=RESAMPLES,
        command=recorded_command(),
        progress=no_progress,
    )
    if results.errors:
        raise results.errors[0]
    whole = [figure for figure in results.figures if not figure.template and not figure.slice]
    return {figure.metric: figure.value for figure in whole}


def layer_shares(model: Model, task: Any, texts: DietTexts) -> list[dict[str, float]]:
    """Return for each layer how often the picture's colour, and how often the usual one, has the
    highest score of all, in the first template."""
    template = task.templates[0]
    prompts = [template.ask(question) for question in task.questions]
    claims = {row.kind: row.claim for row in texts.card}
    layers = []
    by_layer: list[list[Any]] = []
    for indices in model.plan(prompts):
        for layer, scores in enumerate(model.answer_layers([prompts[i] for i in indices])):
            if layer == len(by_layer):
                by_layer.append([None] * len(prompts))
            for place, score in zip(indices, scores, strict=True):
                by_layer[layer][place] = score
    for scores in by_layer:
        shown, usual = 0, 0
        for question, score in zip(task.questions, scores, strict=True):
            answer = question.options[int(np.argmax(score.logp))]
            shown += answer == question.best_label
            usual += answer == claims[question.id]
        count = len(task.questions)
        layers.append({"shown": shown / count, "usual": usual / count})
    return layers


def _cells(folder: Path, row: RearedRow) -> dict[str, object]:
    figures = {name: row.figures.get(name) for name in _FIGURES}
    return {**asdict(row), **figures, "folder": row.folder.relative_to(folder).as_posix()}


def _parse(folder: Path, line: Mapping[str, str]) -> RearedRow:
    return RearedRow(
        diet=line["diet"],
        learner=line["learner"],
        seed=int(line["seed"]),
        folder=folder / line["folder"],
        figures={name: float(line[name]) for name in _FIGURES if line[name]},
        minutes=float(line["minutes"]),
        error=line["error"],
    )
