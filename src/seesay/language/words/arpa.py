"""N-gram models in ARPA files: the longest known n-gram, or back-off to one word less."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seesay.data.lines import read_lines
from seesay.errors import UserError
from seesay.language.words.vocabulary import BEGIN, END
from seesay.language.words.word_model import WordModel
from seesay.models.files import file_digest
from seesay.models.options import ModelOptions
from seesay.questions import BadRow

# A comment before \data\, which every reader skips. It says how texts become words; other files'
# words are separated by spaces, as in KenLM.
OURS = "# seesay: lower-cased words without punctuation"
SECTION = re.compile(r"\\([0-9]{1,3})-grams:")
COUNT = re.compile(r"ngram ([0-9]{1,3})\s*=\s*([0-9]{1,15})")

Gram = tuple[str, ...]


@dataclass(frozen=True)
class Ngrams:
    """log10 probabilities of n-grams and log10 back-off weights of contexts. `ours`: made from
    `words`."""

    probabilities: Mapping[Gram, float]
    backoffs: Mapping[Gram, float]
    order: int
    ours: bool = False

    def logp(self, history: Gram, word: str) -> float:
        """log10 P(word | history): Katz's back-off (1987), the form in which ARPA files hold any
        smoothing."""
        weight = 0.0
        for start in range(max(0, len(history) - self.order + 1), len(history) + 1):
            context = history[start:]
            logp = self.probabilities.get((*context, word))
            if logp is not None:
                return weight + logp
            weight += self.backoffs.get(context, 0.0)
        raise KeyError(word)


def load_arpa(rest: str, options: ModelOptions) -> NgramModel:
    """`arpa:FILE`, or any path that ends in .arpa or .arpa.gz."""
    path = Path(rest).expanduser()
    if not path.is_file():
        raise UserError(f"There is no ARPA file '{rest}'.")
    return NgramModel(rest, read_arpa(path), file_digest([path]))


class NgramModel(WordModel):
    """An n-gram model."""

    family = "n-gram"

    def __init__(self, name: str, ngrams: Ngrams, fingerprint: str) -> None:
        super().__init__(name, fingerprint)
        self.ngrams = ngrams

    def knows(self, word: str) -> bool:
        return (word,) in self.ngrams.probabilities

    def tokens(self) -> Iterator[str]:
        return (gram[0] for gram in self.ngrams.probabilities if len(gram) == 1)

    def split(self, text: str) -> list[str]:
        """Words as the file's maker split them."""
        return super().split(text) if self.ngrams.ours else text.split()

    def logps(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        return [[*self._logps(sentence)] for sentence in sentences]

    def _logps(self, sentence: Sequence[str]) -> Iterator[float]:
        history: Gram = (BEGIN,)
        for word in (*sentence, END):
            try:
                yield self.ngrams.logp(history, word) * math.log(10)
            except KeyError:
                raise UserError(
                    f"'{self.name}' has no {word}: it cannot score words that it has not seen."
                ) from None
            if self.ngrams.order > 1:
                history = (*history, word)[-self.ngrams.order + 1 :]
            else:
                history = ()


def read_arpa(path: Path) -> Ngrams:
    """The file's n-grams. It is somebody else's: what does not fit the format is named with its
    line."""
    probabilities: dict[Gram, float] = {}
    backoffs: dict[Gram, float] = {}
    declared: dict[int, int] = {}
    counts: dict[int, int] = {}
    ours = False
    begun = False
    order = 0
    ended = False
    for number, text in read_lines(path):
        if isinstance(text, BadRow):
            raise UserError(
                f"'{path}' is not an ARPA file, or is damaged: line {number} is {text.reason}."
            )
        line = text.strip()
        if not begun:
            ours = ours or line == OURS
            begun = line == "\\data\\"
        elif line == "\\end\\":
            ended = True
            break
        elif section := SECTION.fullmatch(line):
            order = int(section.group(1))
        elif order and line:
            gram, logp, backoff = _row(line, order, path, number)
            if gram in probabilities:
                raise UserError(
                    f"'{path}', line {number}: the n-gram '{' '.join(gram)[:80]}' is there twice."
                )
            probabilities[gram] = logp
            if backoff is not None:
                backoffs[gram] = backoff
            counts[order] = counts.get(order, 0) + 1
        elif count := COUNT.fullmatch(line):
            declared[int(count.group(1))] = int(count.group(2))
    if not declared:
        raise UserError(
            f"'{path}' is not an ARPA file: it has no \\data\\ section with counts of n-grams."
        )
    if not ended or declared != counts | {n: 0 for n, count in declared.items() if count == 0}:
        raise UserError(
            f"'{path}' ends too early or is damaged: it declares {declared} n-grams and has "
            f"{counts}."
        )
    if (END,) not in probabilities:
        raise UserError(f"'{path}' has no {END}: it cannot score sentences.")
    return Ngrams(probabilities, backoffs, max(declared), ours)


def write_arpa(path: Path, ngrams: Ngrams) -> None:
    """The file that `read_arpa`, KenLM and SRILM read."""
    orders: list[list[Gram]] = [[] for _ in range(ngrams.order)]
    for gram in ngrams.probabilities:
        orders[len(gram) - 1].append(gram)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{OURS}\n\n" if ngrams.ours else "")
        file.write("\\data\\\n")
        file.writelines(f"ngram {n}={len(grams)}\n" for n, grams in enumerate(orders, 1))
        for n, grams in enumerate(orders, 1):
            file.write(f"\n\\{n}-grams:\n")
            for gram in sorted(grams):
                backoff = ngrams.backoffs.get(gram)
                tail = "" if backoff is None else f"\t{backoff:.9g}"
                file.write(f"{ngrams.probabilities[gram]:.9g}\t{' '.join(gram)}{tail}\n")
        file.write("\n\\end\\\n")


def _row(line: str, order: int, path: Path, number: int) -> tuple[Gram, float, float | None]:
    parts = line.split()
    try:
        logp = float(parts[0])
        backoff = float(parts[order + 1]) if len(parts) == order + 2 else None
        if (
            not order + 1 <= len(parts) <= order + 2
            or not logp <= 0
            or (backoff is not None and not math.isfinite(backoff))
        ):
            raise ValueError
    except (ValueError, IndexError):
        raise UserError(
            f"'{path}', line {number}: not an n-gram of {order} words between a log-probability "
            "and a back-off weight."
        ) from None
    return tuple(parts[1 : order + 1]), logp, backoff
