"""Which areas are asked about, by task and adjective (Pezzelle & Fernández 2019, Figure 3).

Were big things always large and small ones always little, a network could answer without comparing:
the two distributions have to overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seesay.errors import UserError
from seesay.progress import ProgressCallback
from seesay.questions import BadRow
from seesay.scenes.annotation import AnnotatedScene, read
from seesay.scenes.config import SceneConfig
from seesay.scenes.lookup import annotation_path
from seesay.scenes.plan import test_plan
from seesay.scenes.published import read_questions
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.sentences import parse_sentence
from seesay.scenes.world import area


@dataclass(frozen=True, slots=True)
class AskedArea:
    """The pixels of a thing that a sentence is about: the adjective it uses, and the one that is
    true of the thing."""

    task: str
    used: str
    true: str
    area: int


@dataclass(frozen=True, slots=True)
class AreaSummary:
    """The distribution of the areas asked with one adjective: by the adjective used, or by the one
    that is true."""

    task: str
    by: str
    adjective: str
    items: int
    mean: float
    sd: float
    low: int
    quartiles: tuple[float, float, float]
    high: int


def generated_areas(
    task: str, items: int, seed: int = 0, progress: ProgressCallback | None = None
) -> list[AskedArea]:
    """The areas asked in generated test items of a task."""
    plan = test_plan(task, items)
    config = SceneConfig(plan.task, seed)
    rows = []
    for item in scene_items(config, plan, plan.parts[0].split):
        rows.append(asked_area(task, config, item))
        if progress:
            progress(1, items)
    return rows


def asked_area(task: str, config: SceneConfig, item: SceneItem) -> AskedArea:
    """The area that an item asks about."""
    target = item.scene.objects[item.target]
    used, true = (config.word(positive) for positive in (item.cell.positive, item.cell.high))
    return AskedArea(task, used, true, area(target.shape, target.radius))


def read_areas(folder: Path) -> tuple[list[AskedArea], list[BadRow]]:
    """The areas asked in a data set in the published layout, or in a folder of the published
    examples."""
    if not folder.is_dir():
        raise UserError(f"There is no folder '{folder}'.")
    rows: list[AskedArea] = []
    bad: list[BadRow] = []
    for file in sorted(folder.glob("dataset/*.json")):
        if not annotation_path(folder, file.stem).is_file():
            continue
        questions, bad_questions = read_questions(file)
        scenes, bad_scenes = read(annotation_path(folder, file.stem))
        by_index = {scene.index: scene for scene in scenes}
        bad += [*bad_questions, *bad_scenes]
        sentences = [
            (by_index.get(str(item.index)), item.question, item.answer) for item in questions
        ]
        _collect(folder.name, sentences, rows, bad)
    for file in sorted(folder.glob("annotations_*.json")):
        scenes, bad_scenes = read(file)
        bad += bad_scenes
        captions = [(scene, text, holds) for scene in scenes for text, holds in scene.sentences()]
        _collect(folder.name, captions, rows, bad)
    if not rows:
        why = f" ({bad[0]})" if bad else ""
        raise UserError(
            f"'{folder}' has no questions with their annotation, as `seesay scenes make` writes "
            f"them{why}."
        )
    return rows, bad


def _collect(
    task: str,
    sentences: Iterable[tuple[AnnotatedScene | None, str, bool]],
    rows: list[AskedArea],
    bad: list[BadRow],
) -> None:
    """Add the area of every sentence's target, or the reason why there is none."""
    for number, (scene, text, holds) in enumerate(sentences):
        parsed = parse_sentence(text)
        if scene is None or parsed is None:
            bad.append(
                BadRow(
                    number,
                    f"{text!r} has no scene" if scene is None else f"{text!r} is not understood",
                )
            )
            continue
        color, shape, adjective, degree, positive, _ = parsed
        targets = scene.scene.places(color, shape)
        if len(targets) != 1:
            bad.append(BadRow(number, f"{text!r}: {len(targets)} things fit"))
            continue
        used, true = (
            adjective.word(degree, is_first) for is_first in (positive, positive == holds)
        )
        rows.append(
            AskedArea(task, used, true, area(shape, scene.scene.objects[targets[0]].radius))
        )


BY: dict[str, Callable[[AskedArea], str]] = {
    "true": lambda row: row.true,
    "used": lambda row: row.used,
}
"""The two ways to group: by the adjective that is true of the thing, and by the one that the
sentence uses."""


def summaries(rows: Sequence[AskedArea]) -> list[AreaSummary]:
    """By task, grouping and adjective, in the order of the rows."""
    result = []
    for task in dict.fromkeys(row.task for row in rows):
        for by, adjective_of in BY.items():
            for adjective in sorted({adjective_of(row) for row in rows if row.task == task}):
                areas = [
                    row.area for row in rows if row.task == task and adjective_of(row) == adjective
                ]
                first, median, third = np.percentile(areas, (25, 50, 75)).tolist()
                spread = float(np.std(areas, ddof=1)) if len(areas) > 1 else 0.0
                mean = float(np.mean(areas))
                numbers = (len(areas), mean, spread, min(areas), (first, median, third), max(areas))
                result.append(AreaSummary(task, by, adjective, *numbers))
    return result
