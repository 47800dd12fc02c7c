"""From a picture to its scene: the annotation is in the same data set.

A picture `ROOT/images/SPLIT/12.png` is scene "12" of `ROOT/annotation/SPLIT_annotation.json`; a
picture of the published examples has `annotations_*.json` beside it, which name it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from seesay.errors import UserError
from seesay.scenes.annotation import AnnotatedScene, read


def picture_path(root: Path, split: str, name: str) -> Path:
    """Return the path of a data set's picture, whether or not it exists."""
    # ours, the published archives', and that of a data set with one folder for all pictures
    places = [
        root / "images" / split / name,
        root / split / name,
        root / "images" / name,
    ]
    return next((place for place in places if place.is_file()), places[0])


def annotation_path(root: Path, split: str) -> Path:
    """Return the path of a data set's annotation of a split."""
    return root / "annotation" / f"{split}_annotation.json"


def find_scene(picture: str | Path) -> AnnotatedScene:
    """Return the annotated scene of a picture."""
    picture = Path(picture)
    split = picture.parent.name
    root = picture.parent.parent.parent
    path = annotation_path(root, split)
    if path.is_file() and (scene := _scenes(path, "index").get(picture.stem)):
        return scene
    # the published examples have no folder per split
    for path in sorted(picture.parent.glob("annotations_*.json")):
        if scene := _scenes(path, "image").get(picture.name):
            return scene
    raise UserError(
        f"There is no annotation of '{picture}': expected {annotation_path(Path('ROOT'), 'SPLIT')}."
    )


@lru_cache(maxsize=16)
def _scenes(path: Path, key: str) -> dict[str, AnnotatedScene]:
    """Read the scenes of a file, by their `index` or their `image`."""
    return {getattr(scene, key): scene for scene in read(path)[0]}
