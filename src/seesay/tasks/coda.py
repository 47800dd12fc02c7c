"""CoDa: how people spread eleven colours over 521 kinds of things (Paik et al. 2021).

The published files hold every annotator's ratings. The gold distributions are computed as in the
paper: each annotation is normalised, those that disagree with the rest are dropped one by one, and
the others averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seesay.data import store
from seesay.data.catalogue import CATALOGUE
from seesay.data.cells import BadValueError, Cells, text_field, whole_number
from seesay.data.colors import COLORS
from seesay.data.rows import parse_json_lines
from seesay.errors import UserError
from seesay.metrics.base import ScoredItems
from seesay.metrics.jensen_shannon import jensen_shannon
from seesay.metrics.rank_correlation import kendall
from seesay.questions import BadRow, Provenance, Question, Task
from seesay.tasks.template_files import read_template_file

ANNOTATIONS = "annotations.jsonl"
OBJECTS = "objects.jsonl"
GROUPS = ("single", "multi", "any")

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Annotation:
    kind: str
    worker: int
    ratings: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class _Phrases:
    kind: str
    name: str
    fields: dict[str, str]


def _annotation(record: Cells) -> _Annotation:
    """Parse one annotator's ratings of one kind of thing, from 0 to 5 per colour."""
    kind = text_field(record, "class_id")
    worker = whole_number(record, "worker_id", 0, 10**9)
    included = record.get("included")
    if not isinstance(included, bool):
        raise BadValueError("'included' is neither true nor false")
    # An annotator may skip a thing: such a row has no ratings, and nothing is wrong with it.
    if not included:
        return _Annotation(kind, worker, ratings=None)
    ratings = tuple(whole_number(record, color, 0, 5) for color in COLORS)
    if not any(ratings):
        raise BadValueError("every rating is zero")
    return _Annotation(kind, worker, ratings)


def _phrases(record: Cells) -> _Phrases:
    """Parse how a kind of thing stands in a sentence: its plural, its singular and their verbs."""
    things = text_field(record, "object_pl")
    are = _verb(record, "areis_pl")
    fields = {"things": things, "are": are}
    # Things without a singular ("scissors", "rice") stand in its place in the templates.
    if record.get("object_s") is None:
        fields |= {
            "this": "These" if are == "are" else "This",
            "thing": things,
            "is": are,
        }
    else:
        singular = text_field(record, "object_s")
        fields |= {
            "this": "This",
            "thing": singular,
            "is": _verb(record, "areis_s"),
        }
    return _Phrases(text_field(record, "class_id"), text_field(record, "display_name"), fields)


def _verb(record: Cells, key: str) -> str:
    """Return the verb of a phrase."""
    verb = text_field(record, key)
    if verb not in ("is", "are"):
        raise BadValueError(f"'{key}' is neither 'is' nor 'are'")
    return verb


def drop_disagreeing(annotations: Matrix) -> Matrix:
    """Drop the annotation that agrees least with the mean until none disagrees with it.

    Agreement is Kendall's τ, and disagreement τ < 0.
    """
    while True:
        # One at a time: without the worst annotation the mean, and so every τ, is another.
        mean = np.broadcast_to(annotations.mean(axis=0), annotations.shape)
        taus = kendall(ScoredItems(annotations, mean))
        # A flat annotation has no order and no τ; where all are flat none can be judged.
        if np.isnan(taus).all() or np.nanmin(taus) >= 0:
            return annotations
        annotations = np.delete(annotations, np.nanargmin(taus), axis=0)


def clusters(distributions: Matrix) -> list[str]:
    """Sort distributions into those of one colour, of several, and of any.

    The files do not say which kind is in which group; this follows the paper: k-means with k = 3
    under the Jensen–Shannon distance on the sorted probabilities, so that which colour it is does
    not matter. It starts from the most peaked, the median and the flattest distribution, where the
    paper starts from random ones.
    """
    # Sorted downwards: a lemon and a stop sign are alike in having one colour.
    points = -np.sort(-distributions, axis=1)
    with np.errstate(divide="ignore"):
        scores = np.log(points)
    order = np.argsort(-points[:, 0], kind="stable")
    # A fixed start, so that every machine finds the same groups.
    centres = points[order[[0, len(order) // 2, -1]]]
    nearest = np.zeros(len(points), dtype=np.intp)
    for _ in range(300):
        distances = [
            jensen_shannon(ScoredItems(scores, np.broadcast_to(centre, points.shape)))
            for centre in centres
        ]
        nearest = np.argmin(distances, axis=0)
        new_centres = centres.copy()
        for k in range(len(centres)):
            # The centre of an empty group stays: the mean of nothing is NaN.
            if (nearest == k).any():
                new_centres[k] = points[nearest == k].mean(axis=0)
        if np.allclose(new_centres, centres, atol=1e-12):
            break
        centres = new_centres
    return [GROUPS[k] for k in nearest]


def distributions(annotations: Sequence[_Annotation]) -> dict[str, Matrix]:
    """Return one distribution over the colours per kind, averaged over its annotators.

    A kind that every annotator skipped has none.
    """
    ratings_by_kind: dict[str, list[tuple[int, ...]]] = {}
    for annotation in annotations:
        if annotation.ratings is not None:
            ratings_by_kind.setdefault(annotation.kind, []).append(annotation.ratings)
    means = {}
    for kind, ratings in ratings_by_kind.items():
        matrix = np.array(ratings, dtype=np.float64)
        # Normalised first: a generous annotator weighs as much as a sparing one.
        shares = matrix / matrix.sum(axis=1, keepdims=True)
        means[kind] = drop_disagreeing(shares).mean(axis=0)
    return means


def load(data: Path | None = None) -> Task:
    """Load the task from `annotations.jsonl` and `objects.jsonl`.

    They are in a folder that holds both, or in the data folder.
    """
    if data is not None and data.is_file():
        raise UserError(
            f"{data} is a file: CoDa needs the folder that holds annotations.jsonl and "
            "objects.jsonl."
        )
    annotations, bad_annotations = parse_json_lines(
        store.require_file("coda", ANNOTATIONS, data),
        _annotation,
        key=lambda row: (row.kind, row.worker),
    )
    phrases, bad_phrases = parse_json_lines(
        store.require_file("coda", OBJECTS, data),
        _phrases,
        key=lambda thing: thing.kind,
    )
    bad = [replace(row, file=ANNOTATIONS) for row in bad_annotations]
    bad += [replace(row, file=OBJECTS) for row in bad_phrases]
    shares_by_kind = distributions(list(annotations.values()))
    if not shares_by_kind:
        raise UserError(
            "annotations.jsonl holds no rating that counts: every annotation was skipped."
        )
    group_names = clusters(np.array(list(shares_by_kind.values())))
    groups = dict(zip(shares_by_kind, group_names, strict=True))

    questions = []
    for number, thing in phrases.items():
        if thing.kind not in shares_by_kind:
            bad.append(BadRow(number, f"nobody rated '{thing.name}'", OBJECTS))
            continue
        shares = zip(COLORS, shares_by_kind[thing.kind].tolist(), strict=True)
        questions.append(
            Question(
                id=thing.kind.strip("/"),
                fields=thing.fields,
                options=COLORS,
                gold={color: share for color, share in shares if share > 0},
                object=thing.name,
                tags={"group": groups[thing.kind]},
            )
        )
    return Task(
        name="coda",
        version="1",
        title="",
        questions=tuple(questions),
        provenance=Provenance(bad_rows=tuple(bad), citation=CATALOGUE["coda"].citation),
        **read_template_file("coda"),
    )
