"""What a reasoner learns from: pictures as its eye sees them, sentences, answers. Looked at once, memory-mapped."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.folders import cache_folder
from seesay.reasoners.features.extractor import Eye, Pictures, picture
from seesay.scenes.batches import batches
from seesay.scenes.config import SceneConfig
from seesay.scenes.lookup import picture_path
from seesay.scenes.plan import ScenePlan
from seesay.scenes.published import read_questions

NO_YES = ("no", "yes")
_AT_ONCE = 64

Seen = tuple[Pictures, Sequence[str], Sequence[int]]
Progress = Callable[[int, int], None]
"""Told how many are done so far, and of how many."""


@dataclass(frozen=True, slots=True)
class Items:
    """Looks (items, …), a sentence each, which of the `names` is its answer; `eye`: the fingerprint of what looked."""

    looks: NDArray[Any]
    sentences: tuple[str, ...]
    answers: NDArray[np.int64]
    eye: str
    names: tuple[str, ...] = NO_YES

    def __len__(self) -> int:
        return len(self.answers)

    def take(self, rows: NDArray[np.intp] | slice) -> Items:
        """Some of them."""
        chosen = np.arange(len(self))[rows]
        return replace(
            self,
            looks=self.looks[chosen],
            sentences=tuple(self.sentences[i] for i in chosen),
            answers=self.answers[chosen],
        )


def from_scenes(plan: ScenePlan, split: str, eye: Eye, *, seed: int = 0, progress: Progress | None = None) -> Items:
    """Scenes made on the fly."""
    config = SceneConfig(plan.task, seed=seed)
    if split not in plan.splits():
        raise UserError(f"{plan.name} has no {split} items: it has {', '.join(plan.splits())}.")

    def seen() -> Iterator[Seen]:
        for batch in batches(config, plan, split, size=eye.side, count=_AT_ONCE):
            yield batch.pictures, batch.sentences, batch.answers.astype(np.int64).tolist()

    total = plan.splits()[split]
    return looked_at(f"{plan.name}-{split}-{total}-{config.fingerprint}", seen(), total, eye, NO_YES, progress)


def from_folder(folder: Path, split: str, eye: Eye, *, progress: Progress | None = None) -> Items:
    """A data set on disk in MALeViC's layout: `dataset/SPLIT.json` and `images/SPLIT/`."""
    file = folder / "dataset" / f"{split}.json"
    if not file.is_file():
        raise UserError(f"There is no {file}: give a data set in MALeViC's layout, as `seesay scenes make` writes it.")
    asked, bad = read_questions(file)
    if bad:
        raise UserError(f"{file}: {bad[0].reason} (row {bad[0].row}); a training set must be whole.")
    paths = [picture_path(folder, split, one.image) for one in asked]

    def seen() -> Iterator[Seen]:
        for start in range(0, len(asked), _AT_ONCE):
            some = asked[start : start + _AT_ONCE]
            pictures = np.stack([picture(str(path), eye.side) for path in paths[start : start + _AT_ONCE]])
            yield pictures, [one.question for one in some], [int(one.answer) for one in some]

    known = f"{folder.resolve()} {[stamp(path) for path in paths]}"
    digest = hashlib.blake2b(file.read_bytes() + known.encode(), digest_size=8).hexdigest()
    return looked_at(f"{folder.resolve().name}-{split}-{digest}", seen(), len(asked), eye, NO_YES, progress)


def stamp(path: Path) -> tuple[int, int]:
    """Size and time, one of which changes with the picture: other seeds may have the same sentences and answers."""
    try:
        found = path.stat()
    except OSError as error:
        raise UserError(f"The picture {path} cannot be read: {error}") from error
    return found.st_size, found.st_mtime_ns


def looked_at(
    name: str, seen: Iterable[Seen], total: int, eye: Eye, names: tuple[str, ...], progress: Progress | None = None
) -> Items:
    """What the eye makes of the pictures, from the cache where it has looked before."""
    folder = cache_folder() / "reasoners" / f"{name}-{eye.fingerprint}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        if not folder.is_dir():
            _look(folder, seen, total, eye, names, progress)
    said = json.loads((folder / "items.json").read_text(encoding="utf-8"))
    looks = np.load(folder / "looks.npy", mmap_mode="r")
    answers = np.array(said["answers"], dtype=np.int64)
    return Items(looks, tuple(said["sentences"]), answers, eye.fingerprint, tuple(said["names"]))


def _look(
    folder: Path, seen: Iterable[Seen], total: int, eye: Eye, names: tuple[str, ...], progress: Progress | None
) -> None:
    """Into a folder that gets its name when it is whole."""
    beside = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    looks: NDArray[Any] | None = None
    sentences: list[str] = []
    answers: list[int] = []
    for pictures, texts, right in seen:
        found = eye.look(pictures)
        if looks is None:
            form = (total, *found.shape[1:])
            looks = np.lib.format.open_memmap(beside / "looks.npy", mode="w+", dtype=found.dtype, shape=form)
        looks[len(answers) : len(answers) + len(found)] = found
        sentences += texts
        answers += right
        if progress:
            progress(len(answers), total)
    if looks is None:
        raise UserError(f"{folder.name} has no items.")
    looks.flush()  # type: ignore[attr-defined]
    said = {"sentences": sentences, "answers": answers, "names": names}
    (beside / "items.json").write_text(json.dumps(said), encoding="utf-8")
    beside.replace(folder)
