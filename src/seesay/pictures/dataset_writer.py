"""Data sets of pictures on disk, in the layout of `seesay scenes make`.

A folder has images, annotation, questions and arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seesay.errors import UserError
from seesay.files import (
    SETTINGS_FORMAT,
    atomic_write,
    lock_folder,
    read_json,
    refuse_foreign_folder,
    refuse_newer,
    refuse_other_settings,
    write_json,
)
from seesay.pictures.caches import ICON_PICTURES
from seesay.pictures.drawing import PICTURE, Picture, png, rgb
from seesay.pictures.icons import ICONS
from seesay.pictures.kinds import KindPicture, kind_pictures
from seesay.pictures.plan import ColorPicture, color_pictures, size_pictures
from seesay.pictures.things import Thing
from seesay.progress import Kept, ProgressCallback
from seesay.questions import Question

MANIFEST = "pictures.json"
VERSION = "2"
"""Of the plans: pictures of another one show other things."""
PLANS: dict[str, Callable[[int], Sequence[Picture]]] = {
    "prior-color": color_pictures,
    "prior-size": size_pictures,
    "kind-size": kind_pictures,
}
_LARGEST = 2048


def plan(task: str, seed: int) -> Sequence[Picture]:
    """Return all pictures of a task."""
    if task not in PLANS:
        raise UserError(f"There are no pictures for '{task}': choose {' or '.join(PLANS)}.")
    if seed < 0:
        raise UserError(f"--seed is {seed}: it cannot be negative.")
    return PLANS[task](seed)


def images(folder: Path) -> Path:
    """Return where a data set's pictures are."""
    return folder / "images" / "test"


def write_pictures(
    task: str,
    folder: Path,
    *,
    seed: int = 0,
    size: int = PICTURE,
    progress: ProgressCallback | None = None,
) -> Sequence[Picture]:
    """Draw a task's pictures into a folder; another data set's folder is refused."""
    if not 16 <= size <= _LARGEST:
        raise UserError(f"--size is {size}: give 16 to {_LARGEST:,} pixels.")
    pictures = plan(task, seed)
    settings = {
        "task": task,
        "seed": seed,
        "size": size,
        "version": VERSION,
        "icons": ICONS.requirement,
    }
    # before anything is written: the folder must be ours or empty
    refuse_foreign_folder(folder, MANIFEST)
    what = f"The data set in '{folder}'"
    refuse_other_settings(
        folder / MANIFEST,
        settings,
        what=what,
        hint="choose another folder",
    )
    annotation_path = folder / "annotation" / "test_annotation.json"
    # written last: where it is, all pictures are; otherwise all are drawn again
    if not annotation_path.is_file():
        images(folder).mkdir(parents=True, exist_ok=True)
        for picture in pictures:
            (images(folder) / f"{picture.name}.png").write_bytes(png(picture, size))
            if progress:
                progress(1, len(pictures))
        annotations = {picture.name: annotation(picture) for picture in pictures}
        write_json(annotation_path, annotations, indent=None)
    elif progress:
        progress(Kept(len(pictures)), len(pictures))
    return pictures


def cached_pictures(task: str, seed: int = 0) -> Path:
    """Return the folder of a task's own pictures, or of another draw of them.

    They are drawn into the cache if they are not there yet.
    """
    draw = f"-{seed}" if seed else ""
    folder = ICON_PICTURES.folder / f"{task}-{PICTURE}px-{VERSION}{draw}"
    with lock_folder(folder.with_suffix(".lock"), wait=True):
        write_pictures(task, folder, seed=seed)
    return folder


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read what a folder of pictures was made from."""
    try:
        settings = read_json(folder / MANIFEST)
        refuse_newer(settings, SETTINGS_FORMAT, f"The data set in '{folder}'")
    except (OSError, ValueError) as error:
        raise UserError(
            f"'{folder}' has no readable {MANIFEST}: give a folder of `seesay pictures make`."
        ) from error
    fields = settings if isinstance(settings, dict) else {}
    if fields.get("task") not in PLANS or not isinstance(fields.get("seed"), int):
        raise UserError(
            f"'{folder}': its {MANIFEST} does not say what the pictures show. Make them again."
        )
    if fields.get("version") != VERSION:
        raise UserError(
            f"'{folder}' has the pictures of another version of {fields['task']}. Make them again."
        )
    return fields


def annotation(picture: Picture) -> dict[str, Any]:
    """Return what a picture shows, as JSON."""
    if isinstance(picture, ColorPicture):
        return {**_subject(picture.subject), "condition": picture.condition, "color": picture.color}
    if isinstance(picture, KindPicture):
        return {
            "small": _subject(picture.small),
            "large": _subject(picture.large),
            "framed": picture.kind,
            "rank": picture.rank,
            "condition": picture.condition,
            "big": picture.answers,
        }
    return {
        "first": _subject(picture.first),
        "second": _subject(picture.second),
        "condition": picture.condition,
        "shown": picture.shown,
        "usual": picture.usual,
    }


def _subject(subject: Thing | str) -> dict[str, Any]:
    if isinstance(subject, str):
        return {"shape": subject}
    return {"thing": subject.name, "icon": subject.icon, "typical_colors": list(subject.colors)}


def write_questions(folder: Path, questions: Sequence[Question]) -> None:
    """Write the questions as JSON, as `scenes make` does: `dataset/test.json`."""
    rows = []
    for question in questions:
        row = {
            "question": question.fields["question"],
            "answer": question.best_label,
            "gold": dict(question.gold),
            "image_filename": Path(question.picture).name if question.picture else None,
            **question.tags,
            "split": "test",
        }
        rows.append(row)
    write_json(folder / "dataset" / "test.json", {"info": {}, "questions": rows}, indent=None)


def write_arrays(folder: Path, pictures: Sequence[Picture], size: int) -> None:
    """Write every picture as RGB, in the order of the annotation: `arrays/test.npy`."""
    with atomic_write(folder / "arrays" / "test.npy") as unfinished:
        shape = (len(pictures), size, size, 3)
        # memory-mapped: all pictures together need not fit into memory
        array: Any = np.lib.format.open_memmap(unfinished, "w+", np.uint8, shape)
        for place, picture in enumerate(pictures):
            array[place] = rgb(picture, size)
        array.flush()
