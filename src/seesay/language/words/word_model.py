"""What models of whole words share: how they read a text, score it and answer from its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, product

import numpy as np

from seesay.errors import UserError
from seesay.language.words.vocabulary import END, UNKNOWN, joined, joiner, words
from seesay.models.base import FilledScores, Model, TokenScores, summed_scores
from seesay.models.batches import text_batches
from seesay.questions import Prompt, Scores, resolve_separator


class WordModel(Model):
    """Subclasses say which words they know and how probable each word of a sentence is."""

    scope = "sentence"
    whole_words = True
    prompts_per_batch = 256
    drops_unknown = False
    """Whether sentences with unknown words were dropped in training.

    The model then cannot score any.
    """

    def __init__(self, name: str, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint

    def knows(self, word: str) -> bool:
        """Return whether a word is in the vocabulary."""
        raise NotImplementedError

    def tokens(self) -> Iterable[str]:
        """Return the vocabulary."""
        raise NotImplementedError

    def logps(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the log-probabilities of each sentence's words and of its end.

        Each is given the words before it.
        """
        raise NotImplementedError

    @cached_property
    def _join(self) -> Callable[[str], str]:
        """Makes one word of each phrase that is one in the vocabulary (`in_front_of`)."""
        # A token that only begins or ends with an underscore is no phrase.
        phrases = [token for token in self.tokens() if "_" in token.strip("_")]
        return joiner(phrase.replace("_", " ") for phrase in phrases)

    def split(self, text: str) -> list[str]:
        """Return the text's words, as the model was trained on them.

        Phrases that it learnt as one word are one.
        """
        return words(self._join(text))

    def known(self, text: str) -> list[str]:
        """Return the text's words, unknown ones replaced by the unknown word."""
        return [word if self.knows(word) else UNKNOWN for word in self.split(text)]

    def score(
        self,
        texts: Iterable[str],
        *,
        end: bool | None = None,
        stride: int | None = None,
    ) -> Iterator[TokenScores]:
        """Return every word's log-probability given the ones before it.

        The end's is added unless `end` is False.
        """
        if stride is not None:
            raise UserError(
                f"'{self.name}' reads texts of any length in one go: leave --stride out."
            )
        # The share of unknown words is reported: scores of texts full of them mean little.
        unknown = total = 0
        for batch in text_batches(texts, self.prompts_per_batch):
            sentences = [self.known(text) for text in batch]
            total += sum(map(len, sentences))
            unknown += sum(sentence.count(UNKNOWN) for sentence in sentences)
            scored = iter(self.logps(list(filter(self._scorable, sentences))))
            for sentence in sentences:
                if not self._scorable(sentence):
                    reason = f"holds words unknown to '{self.name}', which has never met {UNKNOWN}"
                    yield TokenScores((), (), reason)
                    continue
                logp = next(scored)
                if end is False:
                    yield TokenScores(tuple(sentence), tuple(logp[:-1]))
                else:
                    yield TokenScores((*sentence, END), tuple(logp))
        if unknown and not self.drops_unknown:
            self.note(
                f"{unknown:,} of {total:,} words are unknown to '{self.name}' and count as "
                f"{UNKNOWN}."
            )

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """Say how texts are read: whole, with their end unless it is left out."""
        return f"eos:{'no' if end is False else 'yes'}|window:none"

    def can_score(self, text: str) -> bool:
        """Return whether a text can be scored.

        It cannot where unknown words were dropped in training and the text holds one.
        """
        return self._scorable(self.known(text))

    def _scorable(self, sentence: Sequence[str]) -> bool:
        """Return whether a sentence has no word that the model never met."""
        return not self.drops_unknown or UNKNOWN not in sentence

    def score_filled(
        self,
        gaps: Sequence[tuple[str, str]],
        words: Sequence[str],
    ) -> FilledScores:
        """Score every word in every gap, whole sentences with their ends."""
        fills = [self.fill(word) for word in words]
        sides = [(self.known(before), self.known(after)) for before, after in gaps]
        sentences = []
        for fill, (before, after) in product(fills, sides):
            sentences.append([*before, *fill, *after])
        rows = self.logps(sentences)
        shape = (len(fills), len(sides))
        return FilledScores(
            np.array([sum(row) for row in rows]).reshape(shape),
            np.array([len(row) for row in rows]).reshape(shape),
        )

    def fill(self, word: str) -> list[str]:
        """Return the tokens that fill a gap.

        A phrase is one token if the model was trained on it as one.
        """
        if self.knows(joined(word)):
            return [joined(word)]
        tokens = self.known(word)
        if UNKNOWN in tokens:
            self.note(f"'{self.name}' does not know '{word}': it counts as {UNKNOWN}.")
        return tokens

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Return log P(option and the rest of the sentence | what precedes the slot)."""
        sentences = []
        starts = []
        for prompt in prompts:
            before, after = (self.known(resolve_separator(part, None)) for part in prompt.parts)
            for option in prompt.options:
                tokens = self.split(option)
                if not tokens or not all(map(self.knows, tokens)):
                    raise UserError(
                        f"'{self.name}' does not know the option {option!r}: leave the option out "
                        "or use another model."
                    )
                sentences.append([*before, *tokens, *after])
                starts.append(len(before))
        # All prompts are read together: their sentences make fuller batches than one by one.
        logps = iter(zip(self.logps(sentences), starts, strict=True))
        scores = []
        for prompt in prompts:
            rows = [logp[start:] for logp, start in islice(logps, len(prompt.options))]
            after_size = len(prompt.parts[1])
            characters = [len(option) + after_size for option in prompt.options]
            scores.append(summed_scores(rows, characters))
        return scores
