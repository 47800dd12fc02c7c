"""Areas of the queried objects, by task and adjective (Pezzelle & Fernández 2019, Figure 3).

If big things were always large and small ones always little, a network could answer without
comparing: the two distributions have to overlap.
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
class QueriedArea:
    """The area in pixels of the object that a sentence is about.

    `used` is the adjective of the sentence, `true` the one that is true of the object.
    """

    task: str
    used: str
    true: str
    area: int


@dataclass(frozen=True, slots=True)
class AreaSummary:
    """The distribution of the queried areas with one adjective.

    `by` says which adjective: the one used, or the one that is true.
    """

    task: str
    by: str
    adjective: str
    items: int
    mean: float
    sd: float
    low: int
    """The smallest area."""
    quartiles: tuple[float, float, float]
    high: int
    """The largest area."""


def generate_areas(
    task: str,
    items: int,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> list[QueriedArea]:
    """Generate test items of a task, and return the areas of their targets."""
    plan = test_plan(task, items)
    config = SceneConfig(plan.task, seed)
    rows = []
    for item in scene_items(config, plan, plan.parts[0].split):
        rows.append(queried_area(task, config, item))
        if progress:
            progress(1, items)
    return rows


def queried_area(task: str, config: SceneConfig, item: SceneItem) -> QueriedArea:
    """Return the area that an item asks about."""
    target = item.scene.objects[item.target]
    used = config.word(item.cell.positive)
    true = config.word(item.cell.high)
    return QueriedArea(task, used, true, area(target.shape, target.radius))


def read_areas(folder: Path) -> tuple[list[QueriedArea], list[BadRow]]:
    """Read the queried areas of a data set in the published layout, or of the published examples.

    Sentences without a clear target are returned as bad rows.
    """
    if not folder.is_dir():
        raise UserError(f"There is no folder '{folder}'.")
    rows: list[QueriedArea] = []
    bad: list[BadRow] = []
    for file in sorted(folder.glob("dataset/*.json")):
        annotation = annotation_path(folder, file.stem)
        # vocab.json is in the same folder and has none
        if not annotation.is_file():
            continue
        questions, bad_questions = read_questions(file)
        scenes, bad_scenes = read(annotation)
        bad += [*bad_questions, *bad_scenes]
        by_index = {scene.index: scene for scene in scenes}
        sentences = []
        for item in questions:
            scene = by_index.get(str(item.index))
            sentences.append((scene, item.question, item.answer))
        _collect(folder.name, sentences, rows, bad)
    for file in sorted(folder.glob("annotations_*.json")):
        scenes, bad_scenes = read(file)
        bad += bad_scenes
        captions: list[tuple[AnnotatedScene | None, str, bool]] = []
        for annotated in scenes:
            captions += [(annotated, text, holds) for text, holds in annotated.sentences()]
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
    rows: list[QueriedArea],
    bad: list[BadRow],
) -> None:
    """Add the area of every sentence's target, or the reason why there is none."""
    for number, (scene, text, holds) in enumerate(sentences):
        parsed = parse_sentence(text)
        if scene is None:
            bad.append(BadRow(number, f"{text!r} has no scene"))
            continue
        if parsed is None:
            bad.append(BadRow(number, f"{text!r} is not a sentence about a scene"))
            continue
        color, shape, adjective, degree, positive, _ = parsed
        targets = scene.scene.places(color, shape)
        if len(targets) != 1:
            bad.append(BadRow(number, f"{text!r}: {len(targets)} things fit"))
            continue
        used = adjective.word(degree, positive)
        # a false sentence about a big thing uses "small": the other word is true of it
        true = adjective.word(degree, positive == holds)
        target = scene.scene.objects[targets[0]]
        rows.append(QueriedArea(task, used, true, area(shape, target.radius)))


BY: dict[str, Callable[[QueriedArea], str]] = {
    "true": lambda row: row.true,
    "used": lambda row: row.used,
}
"""How areas are grouped: by the adjective that is true of the object, or by the sentence's own."""


def summaries(rows: Sequence[QueriedArea]) -> list[AreaSummary]:
    """Summarise the areas by task, grouping and adjective, in the order of the rows."""
    result = []
    for task in dict.fromkeys(row.task for row in rows):
        for by, adjective_of in BY.items():
            areas: dict[str, list[int]] = {}
            for row in rows:
                if row.task == task:
                    areas.setdefault(adjective_of(row), []).append(row.area)
            for adjective, group in sorted(areas.items()):
                result.append(_summary(task, by, adjective, group))
    return result


def _summary(task: str, by: str, adjective: str, areas: Sequence[int]) -> AreaSummary:
    first, median, third = np.percentile(areas, (25, 50, 75)).tolist()
    sd = 0.0
    if len(areas) > 1:
        sd = float(np.std(areas, ddof=1))
    return AreaSummary(
        task=task,
        by=by,
        adjective=adjective,
        items=len(areas),
        mean=float(np.mean(areas)),
        sd=sd,
        low=min(areas),
        quartiles=(first, median, third),
        high=max(areas),
    )
