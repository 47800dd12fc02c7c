"""One reared model: a diet, a learner and a seed become a model's folder and its runs."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seesay.command_line import recorded_command
from seesay.errors import UserError, refuse_unknown
from seesay.files import write_json
from seesay.models.files import DIET
from seesay.pictures.plan import ColorPicture
from seesay.progress import ProgressCallback, no_progress
from seesay.questions import Task
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

TEXT = "text"
VISUAL_TEXT = "visual-text"
PICTURES = "pictures"
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
USUAL = "usual"
PREDICTED = "predicted"
UNAIDED = "unaided"
HERE = "here"
QUESTIONS = (USUAL, PREDICTED, UNAIDED, HERE)
"""What is asked: the usual colour, of who was raised with pictures with a recalled one; with one
that its network predicts; with none; and the colour in a picture that contradicts all else."""
PREFIXES = {USUAL: "reared:", PREDICTED: "", UNAIDED: "clip-bert-implicit:"}
"""How a model that was raised with pictures is loaded for a question that has none."""
PRIOR_PULL = "prior_pull"
_FIGURES = (*QUESTIONS, PRIOR_PULL)
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
        refuse_unknown("learner", learner, LEARNERS)
    if len({diet.name for diet in diets}) < len(diets):
        raise UserError("Two diets have the same name: give each its own.")
    cells = []
    for seed, diet, learner in product(range(seeds), diets, learners):
        cells.append(RearedCell(diet, learner, seed, world, epochs))
    return cells


def result_table(folder: Path) -> ResultTable[RearedRow]:
    """Return the table of a folder of reared models."""
    return ResultTable(folder, _COLUMNS, _cells, _parse, "seesay rear sweep")


def rear(
    folder: Path,
    cells: Sequence[RearedCell],
    *,
    plan: Sequence[RearedCell] = (),
    deadline: float | None = None,
    ray_workers: int = 0,
    progress: ProgressCallback | None = None,
) -> list[RearedRow]:
    """Rear the models that are not there yet, and return the whole table.

    Its rows are in the order of the plan, of which the cells may be a part.
    """
    table = result_table(folder)
    return run_cells(
        table,
        cells,
        partial(_rear_row, folder, deadline=deadline),
        table.has,
        deadline,
        plan,
        ray_workers=ray_workers,
        progress=progress,
    )


def _rear_row(folder: Path, cell: RearedCell, *, deadline: float | None) -> RearedRow:
    """Rear one model; return its row of the results."""
    row = RearedRow(*cell.key, folder / cell.folder, {}, 0.0)

    def stop_at_deadline(_: TrainingProgress) -> None:
        if is_over(deadline):
            # the loop turns the signal into a checkpoint after the current step
            signal.raise_signal(signal.SIGINT)

    try:
        texts = write_texts(make_world(cell.world), cell.diet, cell.seed)
        result = train(row.folder, cell, texts, stop_at_deadline)
        if result.warning:
            raise UserError(f"{result.warning} Delete {row.folder} and rear it with more --epochs.")
        figures = ask(folder, cell, texts)
    except UserError as error:
        one_line = " ".join(str(error).split())
        return replace(row, error=one_line)
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
        pictured_texts = [line.text for line in texts.train if line.picture]
        pictured_rows = features.train[features.train != UNSEEN]
        recall.write(folder, pictured_texts, features.vectors[pictured_rows])
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

    numbers: dict[ColorPicture, int] = {}
    rows = []
    for line in (*texts.train, *texts.held_out):
        number = UNSEEN
        if line.picture:
            number = numbers.setdefault(line.picture, len(numbers))
        rows.append(number)
    vectors = np.stack([_look_at(picture) for picture in numbers])
    train_rows, held_out_rows = np.split(np.array(rows), [len(texts.train)])
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
    sees = cell.learner == PICTURES
    # without pictures there is one way to be asked
    prefixes = PREFIXES if sees else {USUAL: ""}
    usual = tasks.usual_task(texts.card)
    figures = {}
    for question, prefix in prefixes.items():
        model = _load(folder, cell, prefix)
        figures[question] = _ask_one(folder, model, usual)["accuracy"]
    if sees:
        model = _load(folder, cell)
        here = tasks.here_task(make_world(cell.world), texts.card, folder / "pictures")
        answers = _ask_one(folder, model, here)
        figures[HERE] = answers["accuracy"]
        figures[PRIOR_PULL] = answers[PRIOR_PULL]
        write_json(folder / cell.folder / LAYERS, layer_shares(model, here))
    return figures


def _load(folder: Path, cell: RearedCell, prefix: str = "") -> Model:
    """Load the model of a cell, under a name that says how it was raised."""
    from seesay.models import ModelOptions, load_model

    model = load_model(f"{prefix}{folder / cell.folder}", ModelOptions(device="cpu"))
    # no slashes: tables shorten a path to its last part
    model.name = " ".join(map(str, cell.key))
    return model


def _ask_one(folder: Path, model: Model, task: Task) -> dict[str, float]:
    """Ask one task, and return the figures over all questions."""
    from seesay.api import probe

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
    figures = {}
    for figure in results.figures:
        if not figure.template and not figure.slice:
            figures[figure.metric] = figure.value
    return figures


def layer_shares(model: Model, task: Task) -> list[dict[str, float]]:
    """Return for each layer how often the picture's colour, and how often the usual one, has the
    highest score of all."""
    prompts = [task.templates[0].ask(question) for question in task.questions]
    shown: Counter[int] = Counter()
    usual: Counter[int] = Counter()
    for places in model.plan(prompts):
        by_layer = model.answer_layers([prompts[place] for place in places])
        for layer, scores in enumerate(by_layer):
            for place, score in zip(places, scores, strict=True):
                question = task.questions[place]
                answer = tasks.best_option(question, score)
                shown[layer] += answer in question.gold
                usual[layer] += tasks.is_prior(question, answer)
    count = len(prompts)
    return [{"shown": shown[layer] / count, "usual": usual[layer] / count} for layer in shown]


def _cells(folder: Path, row: RearedRow) -> dict[str, object]:
    """Return what the table stores of a row; figures that it lacks stay empty."""
    path = row.folder.relative_to(folder).as_posix()
    return {**asdict(row), **row.figures, "folder": path}


def _parse(folder: Path, line: Mapping[str, str]) -> RearedRow:
    """Return the row of a line of the table."""
    return RearedRow(
        diet=line["diet"],
        learner=line["learner"],
        seed=int(line["seed"]),
        folder=folder / line["folder"],
        figures={name: float(line[name]) for name in _FIGURES if line[name]},
        minutes=float(line["minutes"]),
        error=line["error"],
    )
