"""Contexts of relations: captions that hold exactly one, cut in two around it (Ghanimifard & Dobnik 2019, section 3).

A relation is put in the place of another by joining the two parts around it, so the contexts and a list of words are
all there is to the substitution table: nothing is written out.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.questions import BadRow
from seesay.relations.lexicon import Lexicon
from seesay.training import captions
from seesay.training.checkpoint import SETTINGS

MINIMUM = 100
"""Contexts that a relation needs to get a column (and a row)."""


class Context(NamedTuple):
    """A caption without its relation, lower-cased: `before + relation + after` is a sentence again."""

    before: str
    after: str

    def with_word(self, word: str) -> str:
        """The caption with this word in the relation's place."""
        return self.before + word + self.after


@dataclass
class Corpus:
    """What was found in caption files: contexts by relation, and how many captions said nothing of use.

    Every caption counts once: corpora overlap, and one that stands twice (case and punctuation aside) is `repeated`.
    `fingerprint` is of the captions as split, the same that `seesay pretrain` writes down.
    """

    train: dict[str, list[Context]] = field(default_factory=dict)
    held_out: dict[str, list[Context]] = field(default_factory=dict)
    occurrences: Counter[str] = field(default_factory=Counter)
    captions: int = 0
    without: int = 0
    several: int = 0
    repeated: int = 0
    fingerprint: str = ""
    bad_rows: list[tuple[Path, BadRow]] = field(default_factory=list)

    def part(self, name: str) -> dict[str, list[Context]]:
        """`all`, `train` or `held-out`: the contexts of that part, by relation."""
        if name == "train":
            return self.train
        if name == "held-out":
            return self.held_out
        names = sorted({*self.train, *self.held_out})
        return {word: self.train.get(word, []) + self.held_out.get(word, []) for word in names}

    def words(self, minimum: int = MINIMUM) -> tuple[str, ...]:
        """The relations that occur so often in captions of any kind: a model has had the chance to learn them."""
        return tuple(sorted(word for word, n in self.occurrences.items() if n >= minimum))


def collect(paths: Sequence[Path], lexicon: Lexicon, *, held_out: float = 0.1, seed: int = 0) -> Corpus:
    """Every context in the files. Pictures are held out as `seesay pretrain` does, so that none is on both sides."""
    split = captions.split(paths, held_out=held_out, seed=seed)
    made = Corpus(bad_rows=split.bad_rows, repeated=split.repeated, fingerprint=split.fingerprint)
    made.captions = len(split.train) + len(split.held_out) + split.repeated
    seen: set[str] = set()
    for texts, contexts in ((split.train, made.train), (split.held_out, made.held_out)):
        for text in texts:
            plain = captions.plain(text)
            if plain in seen:
                made.repeated += 1
                continue
            seen.add(plain)
            found = lexicon.find(text)
            made.occurrences.update(one.relation for one in found)
            if len(found) == 1:
                contexts.setdefault(found[0].relation, []).append(Context(found[0].before, found[0].after))
            elif found:
                made.several += 1
            else:
                made.without += 1
    if not made.train and not made.held_out:
        raise UserError(
            f"None of the {made.captions:,} captions in {_names(paths)} holds exactly one spatial relation: "
            "give files of English captions, or a list of your own relations with --relations."
        )
    return made


WARNINGS = {
    "other": "The model was trained on other captions, or with another --seed or --held-out: whether it has read these "
    "contexts is unknown. Give the files, seed and share of its training.",
    "partly": "Most of these contexts stand in captions that the model learnt from; --part held-out takes the others.",
    "yes": "The model learnt from these contexts.",
}


def seen_in_training(model: Path, corpus: Corpus, part: str) -> str:
    """Whether a model of `seesay pretrain` has learnt from the contexts: no, partly or yes.

    `other` if it was trained on other captions or another split, `unknown` for a model that does not tell.
    """
    try:
        settings = json.loads((model / "training" / SETTINGS).read_text(encoding="utf-8"))
        trained = settings["captions"]
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"
    if trained != corpus.fingerprint:
        return "other"
    return {"held-out": "no", "train": "yes"}.get(part, "partly")


def readable(contexts: Mapping[str, Sequence[Context]], model: Model) -> tuple[dict[str, list[Context]], int]:
    """The contexts that the model can score, and how many it cannot: a model of words that dropped sentences with rare
    words (as published) has never met an unknown word."""
    kept = {
        word: [c for c in found if model.can_score(c.before) and model.can_score(c.after)]
        for word, found in contexts.items()
    }
    return kept, sum(map(len, contexts.values())) - sum(map(len, kept.values()))


def enough(
    contexts: Mapping[str, Sequence[Context]], minimum: int = MINIMUM, most: int | None = None, seed: int = 0
) -> dict[str, list[Context]]:
    """The relations with so many contexts, by name; where there are more than `most`, as many drawn by the seed."""
    chosen = {word: _draw(found, most, seed) for word, found in sorted(contexts.items()) if len(found) >= minimum}
    if len(chosen) < 2:
        top = max(map(len, contexts.values()), default=0)
        raise UserError(
            f"{'Only one relation has' if chosen else 'No relation has'} {minimum} contexts or more "
            f"(the most frequent one has {top}): give more captions, or lower --minimum."
        )
    return chosen


def _draw(contexts: Sequence[Context], most: int | None, seed: int) -> list[Context]:
    if most is None or len(contexts) <= most:
        return list(contexts)
    digests = [hashlib.blake2b(f"{seed}\0{c.before}\0{c.after}".encode(), digest_size=8).digest() for c in contexts]
    return [contexts[i] for i in sorted(sorted(range(len(contexts)), key=lambda i: (digests[i], i))[:most])]


def _names(paths: Sequence[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"these {len(paths)} files"
