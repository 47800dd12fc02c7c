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
from seesay.questions import BadRow, Question, Task
from seesay.tasks.wording import wording

ANNOTATIONS, OBJECTS = "annotations.jsonl", "objects.jsonl"
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
    kind = text_field(record, "class_id")
    worker = whole_number(record, "worker_id", 0, 10**9)
    if not isinstance(record.get("included"), bool):
        raise BadValueError("'included' is neither true nor false")
    if not record["included"]:
        return _Annotation(kind, worker, None)
    ratings = tuple(whole_number(record, color, 0, 5) for color in COLORS)
    if not any(ratings):
        raise BadValueError("every rating is zero")
    return _Annotation(kind, worker, ratings)


def _phrases(record: Cells) -> _Phrases:
    things = text_field(record, "object_pl")
    are = _verb(record, "areis_pl")
    fields = {
        "things": things,
        "are": are,
        "this": "These" if are == "are" else "This",
        "thing": things,
        "is": are,
    }
    if record.get("object_s") is not None:
        fields |= {
            "this": "This",
            "thing": text_field(record, "object_s"),
            "is": _verb(record, "areis_s"),
        }
    return _Phrases(text_field(record, "class_id"), text_field(record, "display_name"), fields)


def _verb(record: Cells, key: str) -> str:
    verb = text_field(record, key)
    if verb not in ("is", "are"):
        raise BadValueError(f"'{key}' is neither 'is' nor 'are'")
    return verb


def agreeing(annotations: Matrix) -> Matrix:
    """Drop the annotation that agrees least with the mean (Kendall's τ) until none disagrees with
    it (τ < 0)."""
    while True:
        taus = kendall(
            ScoredItems(annotations, np.broadcast_to(annotations.mean(axis=0), annotations.shape))
        )
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
    points = -np.sort(-distributions, axis=1)
    with np.errstate(divide="ignore"):
        scores = np.log(points)
    order = np.argsort(-points[:, 0], kind="stable")
    centres = points[order[[0, len(order) // 2, -1]]]
    nearest = np.zeros(len(points), dtype=np.intp)
    for _ in range(300):
        distances = [
            jensen_shannon(ScoredItems(scores, np.broadcast_to(centre, points.shape)))
            for centre in centres
        ]
        nearest = np.argmin(distances, axis=0)
        moved = np.array(
            [
                points[nearest == k].mean(axis=0) if (nearest == k).any() else centres[k]
                for k in range(len(centres))
            ]
        )
        if np.allclose(moved, centres, atol=1e-12):
            break
        centres = moved
    return [GROUPS[k] for k in nearest]


def distributions(annotations: Sequence[_Annotation]) -> dict[str, Matrix]:
    """One distribution over the colours per kind, averaged over its annotators."""
    ratings: dict[str, list[tuple[int, ...]]] = {}
    for annotation in annotations:
        if annotation.ratings is not None:
            ratings.setdefault(annotation.kind, []).append(annotation.ratings)
    shares = {}
    for kind, rows in ratings.items():
        matrix = np.array(rows, dtype=np.float64)
        shares[kind] = agreeing(matrix / matrix.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def load(data: Path | None = None) -> Task:
    """The task from `annotations.jsonl` and `objects.jsonl`: a folder that holds both, or the data
    folder's."""
    if data is not None and data.is_file():
        raise UserError(
            f"{data} is a file: CoDa needs the folder that holds annotations.jsonl and "
            "objects.jsonl."
        )
    annotations, bad = parse_json_lines(
        store.require_file("coda", ANNOTATIONS, data),
        _annotation,
        key=lambda row: (row.kind, row.worker),
    )
    phrases, bad_phrases = parse_json_lines(
        store.require_file("coda", OBJECTS, data), _phrases, key=lambda thing: thing.kind
    )
    bad = [replace(row, file=ANNOTATIONS) for row in bad] + [
        replace(row, file=OBJECTS) for row in bad_phrases
    ]
    people = distributions(list(annotations.values()))
    if not people:
        raise UserError(
            "annotations.jsonl holds no rating that counts: every annotation was skipped."
        )
    groups = dict(zip(people, clusters(np.array(list(people.values()))), strict=True))

    questions = []
    for number, thing in phrases.items():
        if thing.kind not in people:
            bad.append(BadRow(number, f"nobody rated '{thing.name}'", OBJECTS))
            continue
        shares = zip(COLORS, people[thing.kind].tolist(), strict=True)
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
        citation=CATALOGUE["coda"].citation,
        bad_rows=tuple(bad),
        **wording("coda"),
    )
