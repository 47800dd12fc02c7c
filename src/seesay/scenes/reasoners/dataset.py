"""Training items of a reasoner: features of pictures, sentences, answers.

Features are extracted once, and then memory-mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error, lock_folder, write_json
from seesay.grouping import chunks
from seesay.progress import ProgressCallback
from seesay.scenes.caches import REASONER_FEATURES
from seesay.scenes.config import SceneConfig
from seesay.scenes.lookup import picture_path
from seesay.scenes.plan import ScenePlan
from seesay.scenes.published import SceneQuestion, read_questions
from seesay.scenes.reasoners.features.extractor import FeatureExtractor, Pictures, read_picture
from seesay.scenes.reasoners.features.stored import StoredFeatures
from seesay.scenes.scene_batches import batches

NO_YES = ("no", "yes")
BATCH = 64

T = TypeVar("T")
LabelledPicture = tuple[Pictures, str, int]
LabelledPictures = tuple[Pictures, Sequence[str], Sequence[int]]
"""A batch before its features are extracted: pictures, sentences, and the index of each answer."""


@dataclass(frozen=True, slots=True)
class ReasonerDataset:
    """Items to train or to test on."""

    features: NDArray[Any]
    """(items, …), memory-mapped."""
    sentences: tuple[str, ...]
    answers: NDArray[np.int64]
    """Places in `answer_names`."""
    fingerprint: str
    """That of the feature extractor."""
    answer_names: tuple[str, ...] = NO_YES

    def __len__(self) -> int:
        return len(self.answers)

    def renumber(self, answer_names: tuple[str, ...]) -> ReasonerDataset:
        """Return the same items, their answers as places among these."""
        places = np.array([answer_names.index(name) for name in self.answer_names])
        return replace(self, answers=places[self.answers], answer_names=answer_names)

    def take(self, rows: NDArray[np.intp] | slice) -> ReasonerDataset:
        """Return a subset."""
        places = np.arange(len(self))[rows]
        return replace(
            self,
            features=self.features[places],
            sentences=tuple(self.sentences[place] for place in places),
            answers=self.answers[places],
        )


@dataclass(frozen=True, slots=True)
class JoinedFeatures:
    """Features of several data sets one after the other, which stay memory-mapped."""

    arrays: Sequence[NDArray[Any]]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape that one array of all items would have."""
        return sum(map(len, self.arrays)), *self.arrays[0].shape[1:]

    def __getitem__(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        features = np.empty((len(rows), *self.shape[1:]), dtype=self.arrays[0].dtype)
        start = 0
        for array in self.arrays:
            here = (rows >= start) & (rows < start + len(array))
            features[here] = array[rows[here] - start]
            start += len(array)
        return features


def join_datasets(parts: Sequence[ReasonerDataset]) -> ReasonerDataset:
    """Join the items of several data sets with features of the same extractor."""
    features: Any = JoinedFeatures([part.features for part in parts])
    return replace(
        parts[0],
        features=features,
        sentences=tuple(chain.from_iterable(part.sentences for part in parts)),
        answers=np.concatenate([part.answers for part in parts]),
    )


def from_scenes(
    plan: ScenePlan,
    split: str,
    extractor: FeatureExtractor,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> ReasonerDataset:
    """Return the items of a split, with scenes made on the fly."""
    config = SceneConfig(plan.task, seed=seed)
    if split not in plan.splits():
        raise UserError(f"{plan.name} has no {split} items: it has {', '.join(plan.splits())}.")

    def labelled() -> Iterator[LabelledPictures]:
        for batch in batches(
            config,
            plan,
            split,
            size=extractor.image_size,
            count=BATCH,
        ):
            yield batch.pictures, batch.sentences, batch.answers.astype(np.int64).tolist()

    total = plan.splits()[split]
    # all that the scenes depend on; the extractor adds its own fingerprint
    name = f"{plan.name}-{split}-{total}-{config.fingerprint}"
    return extract_cached(name, labelled(), total, extractor, NO_YES, progress)


def from_folder(
    folder: Path, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
) -> ReasonerDataset:
    """Return a split of a data set on disk in MALeViC's layout.

    Its files are `dataset/SPLIT.json` and `images/SPLIT/`.
    """
    file = folder / "dataset" / f"{split}.json"
    if not file.is_file():
        raise UserError(
            f"There is no {file}: give a data set in MALeViC's layout, as `seesay scenes make` "
            "writes it."
        )
    questions, bad_rows = read_questions(file)
    if bad_rows:
        first = bad_rows[0]
        raise UserError(
            f"{file}: {first.reason} (row {first.row}); a training set must be complete."
        )
    # features of these pictures that are there already need no pictures
    if isinstance(extractor, StoredFeatures):
        rows: Any = extractor.rows(split, [question.index for question in questions])
        answers = np.array([question.answer for question in questions], dtype=np.int64)
        sentences = tuple(question.question for question in questions)
        return ReasonerDataset(rows, sentences, answers, extractor.fingerprint)
    paths = [picture_path(folder, split, question.image) for question in questions]

    def label(row: tuple[SceneQuestion, Path]) -> LabelledPicture:
        question, path = row
        picture = read_picture(str(path), extractor.image_size)
        return picture, question.question, int(question.answer)

    labelled = in_batches(zip(questions, paths, strict=True), label)
    # sentences and answers can be equal for two seeds: pictures identify the data set too
    pictures = f"{folder.resolve()} {[size_and_time(path) for path in paths]}"
    digest = text_digest(file.read_bytes() + pictures.encode())
    name = f"{folder.resolve().name}-{split}-{digest}"
    return extract_cached(name, labelled, len(questions), extractor, NO_YES, progress)


def in_batches(
    rows: Iterable[T], label: Callable[[T], LabelledPicture]
) -> Iterator[LabelledPictures]:
    """Yield the rows as labelled pictures, some at a time."""
    for batch in chunks(rows, BATCH):
        pictures, sentences, answers = zip(*map(label, batch), strict=True)
        yield np.stack(pictures), sentences, answers


def size_and_time(path: Path) -> tuple[int, int]:
    """Return size and time of a picture, one of which changes with it."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # a name with a null byte
        raise UserError(f"The picture {path} cannot be read: {error}") from error
    return status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class _CachedItems:
    """`items.json`: the items whose features are in the cache."""

    sentences: list[str]
    answers: list[int]
    answer_names: list[str]


def extract_cached(
    name: str,
    labelled: Iterable[LabelledPictures],
    total: int,
    extractor: FeatureExtractor,
    answer_names: tuple[str, ...],
    progress: ProgressCallback | None = None,
) -> ReasonerDataset:
    """Return the features of the pictures, from the cache if they have been extracted before."""
    from pydantic import TypeAdapter

    folder = REASONER_FEATURES.folder / f"{name}-{extractor.fingerprint}"
    if not total:
        raise UserError(f"{folder.name} has no items.")
    array = folder / "features.npy"
    table = folder / "items.json"
    # another process may be extracting the same features: wait for it
    with lock_folder(folder, wait=True):
        # written last: where it is, the features are complete
        if not table.is_file():
            with atomic_write(array) as path:
                items = _extract(path, labelled, total, extractor, progress)
            write_json(table, {**items, "answer_names": answer_names}, indent=None)
    with damage_as_user_error(folder, "delete that folder and run the same command again"):
        # by its types: an answer of 0.5 would become 0 in silence
        rows = TypeAdapter(_CachedItems).validate_json(table.read_bytes(), strict=True)
        features = np.load(array, mmap_mode="r")
        if not len(features) == len(rows.sentences) == len(rows.answers) == total:
            raise ValueError(f"it does not hold {total} items")
        if not set(rows.answers) <= set(range(len(rows.answer_names))):
            raise ValueError("it holds an answer that is none of its own")
        return ReasonerDataset(
            features,
            tuple(rows.sentences),
            np.array(rows.answers, dtype=np.int64),
            extractor.fingerprint,
            tuple(rows.answer_names),
        )


def _extract(
    path: Path,
    labelled: Iterable[LabelledPictures],
    total: int,
    extractor: FeatureExtractor,
    progress: ProgressCallback | None,
) -> dict[str, list[Any]]:
    """Write the features of `total` pictures to a file; return their sentences and answers."""
    sentences: list[str] = []
    answers: list[int] = []
    features: Any = None
    for pictures, batch_sentences, batch_answers in labelled:
        batch = extractor.extract(pictures)
        if features is None:
            # only the first batch says what shape features have
            shape = (total, *batch.shape[1:])
            features = np.lib.format.open_memmap(
                path,
                mode="w+",
                dtype=batch.dtype,
                shape=shape,
            )
        start = len(answers)
        features[start : start + len(batch)] = batch
        sentences += batch_sentences
        answers += batch_answers
        if progress:
            progress(len(batch), total)
    features.flush()
    return {"sentences": sentences, "answers": answers}
