"""Captions against their pictures: how well each fits, by any encoder of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seesay import __version__
from seesay.captions.defaults import RESAMPLES, WEIGHT
from seesay.captions.pairs import CaptionSet, CaptionSource, load_captions
from seesay.captions.scoring.captions import compare_systems
from seesay.captions.scoring.records import TextComparison, TextRecord, make_records, system_names
from seesay.captions.similarity import relevance
from seesay.errors import UserError
from seesay.metrics.base import FloatArray, Measurement
from seesay.metrics.bootstrap import Resamples

if TYPE_CHECKING:
    from PIL.Image import Image

BATCH = 32
"""Pictures that are open at a time, and captions that are read together."""
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")


class Encoder(Protocol):
    """What turns pictures and texts into vectors of one space, a row each."""

    name: str

    def pictures(self, pictures: Sequence[Image]) -> Any:
        """Return the vectors of pictures."""

    def texts(self, texts: Sequence[str]) -> Any:
        """Return the vectors of texts."""


@dataclass(frozen=True)
class RelevanceScores:
    """The relevance of one or two systems' captions."""

    systems: dict[str, Measurement]
    """By the system's name, with the score of each caption."""
    images: list[str]
    """The images that every system has a caption of, and whose picture could be opened."""
    records: list[TextRecord]
    comparisons: list[TextComparison]
    """The paired test of two systems; none of one."""
    left_out: list[str]
    """Which captions could not be scored, in a sentence each."""
    signature: str

    def rows(self) -> Iterator[dict[str, object]]:
        """Return one row per system and caption."""
        for name, measurement in self.systems.items():
            for image, score in zip(self.images, measurement.scores, strict=True):
                yield {"model": name, "image_id": image, measurement.name: float(score)}


# It has a keyword for each option of `seesay score relevance`.
def score_relevance(
    captions: CaptionSource,
    pictures: Path | str | Mapping[str, Path],
    encoder: str | Encoder,
    *,
    versus: CaptionSource | None = None,
    weight: float = WEIGHT,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RelevanceScores:
    """Score how well captions fit their pictures, w · max(cos, 0), with 95 % intervals.

    `pictures` is a folder, or files by image id; `encoder` a dual encoder such as CLIP or SigLIP
    (a folder or a Hub id), or anything with its two methods. With `versus`, a second system, a
    paired test is added.
    """
    if not weight > 0:
        raise UserError(f"The weight is {weight:g}: give a number above 0.")
    sources = [source for source in (captions, versus) if source is not None]
    caption_sets = [load_captions(source) for source in sources]
    if any(captions.plain for captions in caption_sets):
        raise UserError(
            "Captions without image ids have no picture: give them as JSON, or by image."
        )
    paths = pictures if isinstance(pictures, Mapping) else find_pictures(Path(pictures))
    images, left_out = _pair_with_pictures(caption_sets, paths)
    loaded, identity = _load(encoder)
    vectors, unreadable = _encode_pictures(loaded, {image: paths[image] for image in images})
    left_out += unreadable
    images = list(vectors)
    if not images:
        raise UserError(f"No caption has a picture that can be opened: {left_out[0]}.")
    line = (
        f"relevance:w{weight:g}|encoder:{identity}|captions:{len(images)}|"
        f"boot:{resamples}-seed{seed}|seesay:{__version__}"
    )
    picture_vectors = np.stack(list(vectors.values()))
    resampled = Resamples(images, resamples, seed)
    systems: dict[str, Measurement] = {}
    records = []
    for name, caption_set in zip(system_names(sources), caption_sets, strict=True):
        texts = [caption_set.texts[image][0] for image in images]
        systems[name] = relevance(_encode_texts(loaded, texts), picture_vectors, weight)
        records += make_records("relevance", name, [systems[name]], resampled, line)
    measured = [(name, [measurement]) for name, measurement in systems.items()]
    comparisons = compare_systems(measured, images, resampled, line, task="relevance")
    return RelevanceScores(systems, images, records, comparisons, left_out, line)


def find_pictures(folder: Path) -> dict[str, Path]:
    """Return the pictures of a folder by image id: the name of the file without its ending, and
    for COCO's (`COCO_val2014_000000000042.jpg`, `000000000042.jpg`) the number.

    An id that two files share is no id.
    """
    if not folder.is_dir():
        raise UserError(f"There is no folder '{folder}' of pictures.")
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in SUFFIXES:
            continue
        # a set: of many files the name is the number
        for name in {path.stem, _number(path.stem)} - {""}:
            files.setdefault(name, []).append(path)
    return {name: paths[0] for name, paths in files.items() if len(paths) == 1}


def _number(stem: str) -> str:
    """Return the number at the end of a name, without leading zeros; "" where there is none.

    >>> _number("COCO_val2014_000000000042"), _number("cat")
    ('42', '')
    """
    last = stem.rpartition("_")[2]
    if not (last.isascii() and last.isdecimal()):
        return ""
    return last.lstrip("0") or "0"


def _pair_with_pictures(
    caption_sets: Sequence[CaptionSet], paths: Mapping[str, Path]
) -> tuple[list[str], list[str]]:
    """Return the images of which all systems have a caption and there is a picture, and what was
    left out."""
    left_out = [sentence for captions in caption_sets for sentence in captions.bad_rows()]
    # in the order of the first system, then what only the second one has
    every_image = dict.fromkeys(image for captions in caption_sets for image in captions.texts)
    images = []
    for image in every_image:
        lacking = [captions.source for captions in caption_sets if image not in captions.texts]
        if lacking:
            left_out.append(f"image {image} has no caption in {lacking[0]}")
        elif image not in paths:
            left_out.append(f"image {image} has no picture")
        else:
            images.append(image)
    if not images:
        raise UserError(f"No caption has a picture: {left_out[0]}.")
    return images, left_out


def _load(encoder: str | Encoder) -> tuple[Encoder, str]:
    """Return the encoder, loaded if it is a name, and what a signature calls it."""
    if not isinstance(encoder, str):
        return encoder, encoder.name
    # imported here: captions are scored where nothing but NumPy is installed
    from seesay.models.hf.loading import find_source, fingerprint
    from seesay.models.options import ModelOptions
    from seesay.models.vision.dual_encoder import DualEncoder

    options = ModelOptions()
    source = find_source(encoder, None)
    loaded = DualEncoder(encoder, options)
    return loaded, f"{encoder}@{fingerprint(source, options, loaded.dtype)}"


def _encode_pictures(
    encoder: Encoder, paths: Mapping[str, Path]
) -> tuple[dict[str, FloatArray], list[str]]:
    """Return the vector of every picture that can be opened, and a sentence for every other."""
    from seesay.models.pictures import open_picture

    vectors: dict[str, FloatArray] = {}
    left_out = []
    images = list(paths)
    for start in range(0, len(images), BATCH):
        opened = {}
        for image in images[start : start + BATCH]:
            try:
                opened[image] = open_picture(str(paths[image]), encoder.name)
            except UserError as error:
                left_out.append(f"image {image}: {error}".rstrip("."))
        if opened:
            rows = np.asarray(encoder.pictures(list(opened.values())))
            vectors |= dict(zip(opened, rows, strict=True))
    return vectors, left_out


def _encode_texts(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
    """Return the vectors of texts, a row each."""
    parts = [
        np.asarray(encoder.texts(texts[start : start + BATCH]))
        for start in range(0, len(texts), BATCH)
    ]
    return np.concatenate(parts)
