"""Contexts of relations: captions that hold exactly one, split around it.

They are those of Ghanimifard & Dobnik (2019), section 3.3.

A relation is substituted for another by joining the two parts around it, so the contexts and a list
of words define the whole substitution table: nothing is written out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from seesay.data.captions import CorpusSummary
from seesay.digests import text_number
from seesay.errors import UserError
from seesay.files import read_json
from seesay.language.defaults import HELD_OUT, MIN_CONTEXTS
from seesay.language.relations import ContextPart
from seesay.language.relations.lexicon import RelationLexicon
from seesay.language.training import captions
from seesay.models.base import Model
from seesay.questions import BadRow
from seesay.training.checkpoint import SETTINGS


class Context(NamedTuple):
    """A caption without its relation, in lower case.

    `before + relation + after` is a sentence again.
    """

    before: str
    after: str


Contexts = Mapping[str, Sequence[Context]]
"""Contexts by relation."""


@dataclass
class ContextCorpus:
    """The contexts in caption files by relation.

    Captions that have no relation or several are counted.

    Every caption counts once: corpora overlap, and a caption that occurs again (case and
    punctuation aside) is `repeated`. `fingerprint` is that of the split captions, the same that
    `seesay pretrain` records.
    """

    train: dict[str, list[Context]] = field(default_factory=dict)
    held_out: dict[str, list[Context]] = field(default_factory=dict)
    occurrences: Counter[str] = field(default_factory=Counter)
    captions: int = 0
    without: int = 0
    several: int = 0
    repeated: int = 0
    held_out_share: float = 0.0
    fingerprint: str = ""
    sources: list[CorpusSummary] = field(default_factory=list)
    bad_rows: list[tuple[str, BadRow]] = field(default_factory=list)

    def part(self, part: ContextPart | str) -> dict[str, list[Context]]:
        """Return the contexts of a part of the captions by relation.

        The parts are `all` captions, those to `train` on, and the `held-out` ones.
        """
        if ContextPart(part) is ContextPart.ALL:
            contexts = {}
            for word in sorted({*self.train, *self.held_out}):
                contexts[word] = self.train.get(word, []) + self.held_out.get(word, [])
            return contexts
        if part == ContextPart.TRAIN:
            return self.train
        return self.held_out

    def words(self, minimum: int = MIN_CONTEXTS) -> tuple[str, ...]:
        """Return the relations that occur at least `minimum` times in any caption.

        A model has then had a chance to learn them.
        """
        return tuple(sorted(word for word, n in self.occurrences.items() if n >= minimum))

    def counts(self) -> list[tuple[str, int, int, int]]:
        """Return each relation with its contexts, its held-out contexts and its occurrences.

        The relation with the most contexts is the first.
        """
        contexts = self.part(ContextPart.ALL)
        rows = []
        for word, occurrences in self.occurrences.items():
            held_out = len(self.held_out.get(word, ()))
            rows.append((word, len(contexts.get(word, ())), held_out, occurrences))
        return sorted(rows, key=lambda row: (-row[1], -row[3], row[0]))

    def summary(self) -> dict[str, Any]:
        """Return how many captions were used and left out, as JSON."""
        bad_rows = [
            {"file": path, "row": row.row, "reason": row.reason} for path, row in self.bad_rows
        ]
        return {
            "captions": self.captions,
            "without_relation": self.without,
            "with_several": self.several,
            "repeated": self.repeated,
            "sources": [source.as_json() for source in self.sources],
            "bad_rows": bad_rows,
        }


def collect_contexts(
    paths: Sequence[Path],
    lexicon: RelationLexicon | None = None,
    *,
    held_out: float = HELD_OUT,
    seed: int = 0,
) -> ContextCorpus:
    """Collect every context in the files.

    Images are held out as `seesay pretrain` does, so that none is in both parts.
    """
    lexicon = lexicon or RelationLexicon()
    split = captions.split(paths, held_out=held_out, seed=seed)
    corpus = ContextCorpus(
        captions=len(split.train) + len(split.held_out) + split.repeated,
        repeated=split.repeated,
        held_out_share=held_out,
        fingerprint=split.fingerprint,
        sources=split.sources,
        bad_rows=split.bad_rows,
    )
    # A caption of two corpora would count twice, and might be both trained on and held out.
    seen: set[str] = set()
    for texts, contexts in ((split.train, corpus.train), (split.held_out, corpus.held_out)):
        for text in texts:
            plain = captions.plain(text)
            if plain in seen:
                corpus.repeated += 1
                continue
            seen.add(plain)
            # Two relations in a caption would each be part of the other's context.
            matches = lexicon.find(text)
            corpus.occurrences.update(match.relation for match in matches)
            if len(matches) == 1:
                before, relation, after = matches[0]
                contexts.setdefault(relation, []).append(Context(before, after))
            elif matches:
                corpus.several += 1
            else:
                corpus.without += 1
    if not corpus.train and not corpus.held_out:
        files = str(paths[0]) if len(paths) == 1 else f"these {len(paths)} files"
        raise UserError(
            f"None of the {corpus.captions:,} captions in {files} holds exactly one spatial "
            "relation: give files of English captions, or a list of your own relations with "
            "--relations."
        )
    return corpus


class Substitution(NamedTuple):
    """A sentence of the substitution table.

    A relation is put into a context of another one (or its own).
    """

    context_of: str
    relation: str
    sentence: str


def substitutions(corpus: ContextCorpus, relations: int, *, seed: int = 0) -> list[Substitution]:
    """Return the substitution table of the most frequent relations.

    Each of them stands in one context of each, drawn by the seed.
    """
    contexts = corpus.part(ContextPart.ALL)
    # A relation may occur often, and yet never alone in a caption.
    words = [word for word, *_ in corpus.counts()[:relations] if contexts.get(word)]
    table = []
    for context_of in words:
        gap = _sample(contexts[context_of], 1, seed)[0]
        for word in words:
            sentence = f"{gap.before}{word}{gap.after}".strip()
            table.append(Substitution(context_of, word, sentence))
    return table


def seen_in_training(
    model: Path,
    corpus: ContextCorpus,
    part: ContextPart | str,
) -> str:
    """Say whether a model of `seesay pretrain` was trained on the contexts: no, partly or yes.

    `other` if it was trained on other captions or another split, `unknown` for a model without a
    record of it.
    """
    try:
        fingerprint = read_json(model / "training" / SETTINGS)["captions"]
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"
    if fingerprint != corpus.fingerprint:
        return "other"
    seen = {
        ContextPart.HELD_OUT: "no",
        ContextPart.TRAIN: "yes",
        ContextPart.ALL: "partly",
    }
    return seen[ContextPart(part)]


def scorable(contexts: Contexts, model: Model) -> tuple[dict[str, list[Context]], int]:
    """Return the contexts that the model can score, and the number of those that it cannot.

    A word model that was trained without the sentences that hold rare words (as published) has no
    unknown word.
    """
    usable: dict[str, list[Context]] = {}
    left_out = 0
    for word, gaps in contexts.items():
        usable[word] = [gap for gap in gaps if all(map(model.can_score, gap))]
        left_out += len(gaps) - len(usable[word])
    return usable, left_out


def with_min_contexts(
    contexts: Contexts,
    minimum: int = MIN_CONTEXTS,
    most: int | None = None,
    seed: int = 0,
) -> dict[str, list[Context]]:
    """Return the relations with at least `minimum` contexts, by name.

    Of more than `most` contexts, a sample is drawn by the seed.
    """
    frequent = {
        word: _sample(gaps, most, seed)
        for word, gaps in sorted(contexts.items())
        if len(gaps) >= minimum
    }
    # P-vectors of a single context would all be the same.
    if len(frequent) < 2:
        subject = "Only one relation has" if frequent else "No relation has"
        largest = max(map(len, contexts.values()), default=0)
        raise UserError(
            f"{subject} {minimum} contexts or more (the most frequent one has {largest}): "
            "give more captions, or lower --minimum."
        )
    return frequent


def _sample(contexts: Sequence[Context], most: int | None, seed: int) -> list[Context]:
    """Return at most so many of the contexts, in their order."""
    if most is None or len(contexts) <= most:
        return list(contexts)
    # By a digest of the context itself: another caption in the files changes few of the others.
    keys = []
    for i, context in enumerate(contexts):
        keys.append((text_number(f"{seed}\0{context.before}\0{context.after}"), i))
    indices = sorted(i for _, i in sorted(keys)[:most])
    return [contexts[i] for i in indices]
