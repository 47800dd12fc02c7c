"""MALeViC: is the red square big? Sentences about pictures of shapes, true or false.

Pezzelle & Fernández 2019. Without data, 2,000 test items are generated (seed 0) into the cache;
with `data`, a data set in the published layout is read: its folder, one of its dataset JSON files,
or a folder of the published examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.questions import BadRow, Provenance, Published, Question, Task, Template
from seesay.scenes.annotation import AnnotatedScene, read
from seesay.scenes.caches import SCENES
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.defaults import TEST_ITEMS
from seesay.scenes.lookup import annotation_path, picture_path
from seesay.scenes.plan import test_plan
from seesay.scenes.published import SceneQuestion, read_questions
from seesay.scenes.raster import PUBLISHED
from seesay.scenes.sentences import parse_sentence

VERSION = "1"
ITEMS = TEST_ITEMS
PICTURE = PUBLISHED
CITATION = (
    "Sandro Pezzelle and Raquel Fernández. 2019. Is the Red Square Big? MALeViC: Modeling "
    "Adjectives Leveraging Visual Contexts. EMNLP-IJCNLP."
)
_SOURCE = "Pezzelle & Fernández 2019"

TEMPLATES = (
    Template("true-false", "{sentence}. True or false? Answer: [MASK]."),
    Template("is-it", "{question}? Answer: [MASK].", {"true": "yes", "false": "no"}),
    Template(
        "is-it-true", "Is it true that {claim}? Answer: [MASK].", {"true": "yes", "false": "no"}
    ),
)

CEILING = "ceiling (k = 0.29)"
MODELS = ("CNN+LSTM", "CNN+LSTM+SA", "FiLM", CEILING)
ACCURACY: dict[str, tuple[float | None, ...]] = {
    "sup1": (0.8066, 0.9983, 0.999, None),
    "pos1": (0.5455, 0.9306, 0.8546, 0.97),
    "pos": (0.5493, 0.94, 0.9333, 0.97),
    "set-pos": (0.551, 0.7751, 0.8788, 0.97),
    "pos-hard": (0.5325, 0.8653, 0.8693, 0.92),
    "set-pos-hard": (0.4623, 0.478, 0.6513, None),
    "compositional-seen": (0.608, 0.7813, 0.8489, None),
    "compositional-unseen": (0.4036, 0.235, 0.153, None),
}
"""Published test accuracy of the `MODELS` (Tables 1, 2 and 3; the ceiling: in the text).

Means of three runs of the best of 16 configurations.
"""
CEILING_PLACE = "Text on rules"
# all other tasks have one test
_SPLITS = {"compositional-seen": "test_seen", "compositional-unseen": "test_unseen"}


def load(name: str, data: Path | None = None, *, seed: int = 0) -> Task:
    """Load the task of this name."""
    if data is None:
        data = generate_test_set(name, seed)
    if data.is_dir() and not (data / "dataset").is_dir() and any(data.glob("annotations_*.json")):
        questions, bad = _from_examples(data)
    else:
        questions, bad = _from_data_set(data, _SPLITS.get(name, "test"))
    return Task(
        name=f"malevic-{name}",
        version=VERSION,
        title="",
        templates=TEMPLATES,
        questions=tuple(questions),
        metrics=("accuracy",),
        published=published_figures(name),
        provenance=Provenance(bad_rows=tuple(bad), citation=CITATION),
    )


def __getattr__(name: str) -> Callable[..., Task]:
    """Return the loader of a task, by its address `seesay.scenes.tasks.malevic:NAME`."""
    if name not in (*ACCURACY, "comparative"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(load, name)


def generate_test_set(name: str, seed: int = 0) -> Path:
    """Return the folder of a generated test set, which is made if it does not exist yet.

    A second process waits for the first.
    """
    plan = test_plan(name, ITEMS)
    config = SceneConfig(plan.task, seed)
    folder = SCENES.folder / f"{name}-{ITEMS}-{PICTURE}px-{config.fingerprint}-{VERSION}"
    with lock_folder(folder.with_suffix(".lock"), wait=True):
        write_dataset(config, plan, SceneOutput(folder, picture=PICTURE, formats=("json",)))
    return folder


def _from_data_set(data: Path, split: str) -> tuple[list[Question], list[BadRow]]:
    """Read the questions of a data set in the published layout, and its rows that are none."""
    file = data
    if data.is_dir():
        file = data / "dataset" / f"{split}.json"
    elif not data.is_file():
        raise UserError(f"There is no file or folder '{data}'.")
    split = file.stem
    root = file.parent.parent
    items, bad = read_questions(file)
    scenes: dict[str, AnnotatedScene] = {}
    annotation = annotation_path(root, split)
    if annotation.is_file():
        annotated, bad_scenes = read(annotation)
        scenes = {scene.index: scene for scene in annotated}
        bad = [*bad, *bad_scenes]
    questions = []
    for item in items:
        picture = picture_path(root, split, item.image)
        questions.append(_question(item, f"{split}/{item.index}", picture, scenes))
    return _unique(questions, bad)


def _from_examples(folder: Path) -> tuple[list[Question], list[BadRow]]:
    """Read a question for every caption of the published examples, and the rows that are none."""
    questions: list[Question | str] = []
    bad: list[BadRow] = []
    for path in sorted(folder.glob("annotations_*.json")):
        scenes, bad_scenes = read(path)
        bad += bad_scenes
        for scene in scenes:
            for number, (text, holds) in enumerate(scene.sentences()):
                item = SceneQuestion(0, text, holds, scene.image)
                key = f"{scene.image}/{number}"
                picture = folder / scene.image
                questions.append(_question(item, key, picture, {"0": scene}))
    return _unique(questions, bad)


def _unique(
    questions: list[Question | str], bad: list[BadRow]
) -> tuple[list[Question], list[BadRow]]:
    """Return the questions that can be asked, each once, and the others as bad rows.

    A text among the questions says why a row is none.
    """
    by_id: dict[str, Question] = {}
    for row, question in enumerate(questions):
        # the row is no question, and this is why
        if isinstance(question, str):
            bad.append(BadRow(row, question))
        elif question.id in by_id:
            bad.append(BadRow(row, f"{question.id} appears twice"))
        else:
            by_id[question.id] = question
    if not by_id:
        reason = f": {bad[0].reason}" if bad else ""
        raise UserError(f"No sentence about scenes could be read{reason}.")
    return list(by_id.values()), bad


def _question(
    item: SceneQuestion,
    key: str,
    picture: Path,
    scenes: dict[str, AnnotatedScene],
) -> Question | str:
    """Return the question of one item, or why it is none."""
    parsed = parse_sentence(item.question)
    if parsed is None:
        return f"{item.question!r} is not a sentence about a scene"
    color, shape, adjective, degree, positive, _ = parsed
    claim = item.question.rstrip(".")
    fields = {
        "sentence": claim,
        "claim": f"{claim[:1].lower()}{claim[1:]}",
        "question": re.sub(r"^The (\S+ \S+) is ", r"Is the \1 ", claim),
    }
    tags = {
        "adjective": adjective.word(degree, positive),
        "colour": color,
        "shape": shape,
        "answer": "true" if item.answer else "false",
    }
    scene = scenes.get(str(item.index))
    if scene is not None:
        tags["objects"] = str(len(scene.scene.objects))
        labels = [scene.labels[place] for place in scene.scene.places(color, shape)]
        # superlatives are never vague: they have no probability
        if len(labels) == 1 and labels[0].prob is not None:
            tags["vague"] = "yes" if labels[0].vague else "no"
    return Question(
        id=key,
        fields=fields,
        options=("true", "false"),
        gold={tags["answer"]: 1.0},
        object=str(picture.name),
        tags=tags,
        picture=str(picture),
    )


def published_figures(name: str) -> tuple[Published, ...]:
    """Return the published figures of a task; comparatives have none."""
    figures = []
    for model, value in zip(MODELS, ACCURACY.get(name, ()), strict=False):
        place = CEILING_PLACE if model == CEILING else _table(name)
        if value is not None:
            figures.append(Published(model, "accuracy", value, _SOURCE, place=place))
    return tuple(figures)


def _table(name: str) -> str:
    """Return the table that prints a task's accuracies."""
    if name.endswith("-hard"):
        return "Table 2"
    return "Table 3" if name.startswith("compositional") else "Table 1"
