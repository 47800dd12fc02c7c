"""Big here, and big for a mouse: three things of a small kind beside three of a large one.

A big mouse beside elephants is big for a mouse and not big here; a small elephant beside mice is
the other way round. *Big* is MALeViC's rule for both: longer than a threshold that lies a share *k*
below the longest of a set, of the set's range. Only the set differs: everything in the picture, or
what is of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seesay.pictures.plan import size_pairs
from seesay.pictures.things import Thing
from seesay.questions import Question

K = 0.29
"""The mean of MALeViC's vague *k*."""
LENGTHS = {"small": (3.2, 3.4, 3.9), "large": (8.2, 8.6, 10.0)}
"""Of three things of a kind, in units of the view. The longest of each is 1.22 times as long as its
shortest, and all of the large kind are big in the whole picture."""
YES_NO = ("yes", "no")
HERE = "here"
KIND = "kind"
TOLD_HERE = "told here"
TOLD_KIND = "told kind"
_SHORTEST = 0
_LONGEST = 2


@dataclass(frozen=True, slots=True)
class KindPicture:
    """Six things, one of them in a frame."""

    name: str
    """The name of its file."""
    small: Thing
    large: Thing
    kind: str
    """Of the thing in the frame: small or large."""
    rank: int
    """Its place among its kind, from the shortest."""
    stream: tuple[int, ...]
    """What seeds the layout."""

    @property
    def framed(self) -> Thing:
        """Return the kind of thing that is in the frame."""
        return self.small if self.kind == "small" else self.large

    @property
    def length(self) -> float:
        """Return how long the thing in the frame is."""
        return LENGTHS[self.kind][self.rank]

    @property
    def answers(self) -> dict[str, str]:
        """Return whether the thing in the frame is big: here, and for its kind."""
        everything = [*LENGTHS["small"], *LENGTHS["large"]]
        return {
            HERE: YES_NO[not is_big(self.length, everything)],
            KIND: YES_NO[not is_big(self.length, LENGTHS[self.kind])],
        }

    @property
    def condition(self) -> str:
        """Return whether both sets call the thing the same."""
        answers = self.answers
        return "agree" if answers[HERE] == answers[KIND] else "disagree"


def is_big(length: float, reference_set: Sequence[float]) -> bool:
    """Return whether a thing of this length is big among the lengths of a set."""
    longest = max(reference_set)
    threshold = longest - K * (longest - min(reference_set))
    return length > threshold


def kind_pictures(seed: int = 0) -> list[KindPicture]:
    """Return every pair of kinds four times: the shortest and the longest of either kind framed."""
    pictures: list[KindPicture] = []
    for place, pair in enumerate(size_pairs(seed)):
        small, large = sorted(pair, key=lambda thing: thing.metres or 0.0)
        for kind in ("small", "large"):
            for rank in (_SHORTEST, _LONGEST):
                size = "short" if rank == _SHORTEST else "long"
                picture = KindPicture(
                    name=f"{small.name}-{large.name}-{kind}-{size}".replace(" ", "-"),
                    small=small,
                    large=large,
                    kind=kind,
                    rank=rank,
                    stream=(seed, 6, place, len(pictures) % 4),
                )
                pictures.append(picture)
    return pictures


def layout(picture: KindPicture) -> tuple[list[tuple[Thing, float]], int, float]:
    """Return the things with their lengths, cell by cell, the framed one's cell, and the scale.

    The scale differs from picture to picture: a length in pixels alone says nothing.
    """
    generator = np.random.default_rng(picture.stream)
    things = [(picture.small, length) for length in LENGTHS["small"]]
    things += [(picture.large, length) for length in LENGTHS["large"]]
    framed_place = picture.rank if picture.kind == "small" else len(LENGTHS["small"]) + picture.rank
    order = generator.permutation(len(things)).tolist()
    scale = float(generator.uniform(0.75, 0.92))
    return [things[place] for place in order], order.index(framed_place), scale


def kind_questions(pictures: Sequence[KindPicture], folder: Path) -> Iterator[Question]:
    """Yield four questions about each picture: big here and big for its kind, seen and told.

    What is told has the lengths in words and no picture, for models that cannot see.
    """
    for picture in pictures:
        path = str(folder / f"{picture.name}.png")
        scene = _describe(picture)
        texts = {
            HERE: question_text(picture, HERE),
            KIND: question_text(picture, KIND),
            TOLD_HERE: f"{scene} Compared with all six things, is it big?",
            TOLD_KIND: f"{scene} Is it big for {picture.framed.phrase}?",
        }
        for question_type, text in texts.items():
            is_told = question_type.startswith("told")
            reference_set = question_type.removeprefix("told ")
            yield Question(
                id=f"{picture.name} | {question_type}",
                fields={"question": text, **_rules(picture)},
                options=YES_NO,
                gold={picture.answers[reference_set]: 1.0},
                object=f"{picture.small.name} / {picture.large.name}",
                tags={
                    "question_type": question_type,
                    "condition": picture.condition,
                    "framed": f"the {'longest' if picture.rank else 'shortest'} {picture.kind} one",
                },
                picture=None if is_told else path,
            )


def question_text(picture: KindPicture, question_type: str) -> str:
    """Return the question about a picture: here, or for its kind."""
    subject = f"the {picture.framed.name} in the red frame"
    if question_type == HERE:
        return f"Compared with everything in this picture, is {subject} big?"
    return f"Compared with its own kind, is {subject} big for {picture.framed.phrase}?"


def _rules(picture: KindPicture) -> dict[str, str]:
    """Return what the two rules say, which know one set each."""
    return {f"by_{reference_set}": answer for reference_set, answer in picture.answers.items()}


def _describe(picture: KindPicture) -> str:
    """Return a picture in words, the framed thing last."""
    kinds = []
    for thing, kind in ((picture.small, "small"), (picture.large, "large")):
        first, second, third = (round(10 * length) for length in LENGTHS[kind])
        kinds.append(f"three of the kind {thing.name}, {first}, {second} and {third} mm long")
    last_sentence = (
        f"One of the kind {picture.framed.name} is {round(10 * picture.length)} mm long."
    )
    return f"A drawing shows {kinds[0]}, and {kinds[1]}. {last_sentence}"
