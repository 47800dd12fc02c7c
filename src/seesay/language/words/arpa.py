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
SEESAY_MARK = "# seesay: lower-cased words without punctuation"
SECTION = re.compile(r"\\([0-9]{1,3})-grams:")
COUNT = re.compile(r"ngram ([0-9]{1,3})\s*=\s*([0-9]{1,15})")

Gram = tuple[str, ...]


@dataclass(frozen=True)
class Ngrams:
    """log10 probabilities of n-grams and log10 back-off weights of contexts.

    `from_seesay` says that the words were split by `words`.
    """

    probabilities: Mapping[Gram, float]
    backoffs: Mapping[Gram, float]
    order: int
    from_seesay: bool = False

    def logp(self, history: Gram, word: str) -> float:
        """Return log10 P(word | history).

        It is Katz's back-off (1987), the form in which ARPA files hold any smoothing.
        """
        weight = 0.0
        # From the longest context that the model has to the empty one.
        for start in range(max(0, len(history) - self.order + 1), len(history) + 1):
            context = history[start:]
            logp = self.probabilities.get((*context, word))
            if logp is not None:
                return weight + logp
            # A context that was never seen gives all its mass to the shorter one.
            weight += self.backoffs.get(context, 0.0)
        raise KeyError(word)


def load_arpa(name: str, options: ModelOptions) -> NgramModel:
    """Load `arpa:FILE`, or any path that ends in .arpa or .arpa.gz."""
    path = Path(name).expanduser()
    if not path.is_file():
        raise UserError(f"There is no ARPA file '{name}'.")
    return NgramModel(name, read_arpa(path), file_digest([path]))


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
        """Return the words of a text as the file's maker split them."""
        return super().split(text) if self.ngrams.from_seesay else text.split()

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
    """Read the file's n-grams.

    It is somebody else's: what does not fit the format is named with its line.
    """
    probabilities: dict[Gram, float] = {}
    backoffs: dict[Gram, float] = {}
    declared: dict[int, int] = {}
    counts: dict[int, int] = {}
    lines = _lines(path)
    from_seesay = _read_head(lines)
    order = 0
    ended = False
    for number, line in lines:
        if line == "\\end\\":
            ended = True
            break
        if section := SECTION.fullmatch(line):
            order = int(section[1])
        elif order and line:
            gram, logp, backoff = _row(line, order, path, number)
            if gram in probabilities:
                raise UserError(
                    f"'{path}', line {number}: the n-gram '{' '.join(gram)[:80]}' occurs twice."
                )
            probabilities[gram] = logp
            if backoff is not None:
                backoffs[gram] = backoff
            counts[order] = counts.get(order, 0) + 1
        elif count := COUNT.fullmatch(line):
            declared[int(count[1])] = int(count[2])
    _validate_counts(path, declared, counts, ended)
    if (END,) not in probabilities:
        raise UserError(f"'{path}' has no {END}: it cannot score sentences.")
    return Ngrams(probabilities, backoffs, max(declared), from_seesay)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return the numbered lines of an ARPA file without white space around them."""
    for number, line in read_lines(path):
        if isinstance(line, BadRow):
            raise UserError(
                f"'{path}' is not an ARPA file, or is damaged: line {number} is {line.reason}."
            )
        yield number, line.strip()


def _read_head(lines: Iterator[tuple[int, str]]) -> bool:
    """Read up to the line that begins the data, and return whether seesay wrote the file."""
    from_seesay = False
    for _, line in lines:
        from_seesay = from_seesay or line == SEESAY_MARK
        if line == "\\data\\":
            break
    return from_seesay


def _validate_counts(
    path: Path,
    declared: dict[int, int],
    counts: dict[int, int],
    ended: bool,
) -> None:
    """Raise UserError unless the file has the n-grams that it declares, to its end."""
    if not declared:
        raise UserError(
            f"'{path}' is not an ARPA file: it has no \\data\\ section with counts of n-grams."
        )
    # An order may be declared to have no n-gram at all.
    expected = {order: count for order, count in declared.items() if count}
    if not ended or expected != counts:
        raise UserError(
            f"'{path}' ends too early or is damaged: it declares {declared} n-grams and has "
            f"{counts}."
        )


def write_arpa(path: Path, ngrams: Ngrams) -> None:
    """Write the file that `read_arpa`, KenLM and SRILM read."""
    orders: list[list[Gram]] = [[] for _ in range(ngrams.order)]
    for gram in ngrams.probabilities:
        orders[len(gram) - 1].append(gram)
    with path.open("w", encoding="utf-8") as file:
        if ngrams.from_seesay:
            file.write(f"{SEESAY_MARK}\n\n")
        file.write("\\data\\\n")
        for n, grams in enumerate(orders, 1):
            file.write(f"ngram {n}={len(grams)}\n")
        for n, grams in enumerate(orders, 1):
            file.write(f"\n\\{n}-grams:\n")
            for gram in sorted(grams):
                # Nine digits are enough for the 32-bit numbers that KenLM keeps.
                file.write(f"{ngrams.probabilities[gram]:.9g}\t{' '.join(gram)}")
                if gram in ngrams.backoffs:
                    file.write(f"\t{ngrams.backoffs[gram]:.9g}")
                file.write("\n")
        file.write("\n\\end\\\n")


def _row(
    line: str,
    order: int,
    path: Path,
    number: int,
) -> tuple[Gram, float, float | None]:
    """Return the n-gram of a line, its log-probability, and its back-off weight if it has one."""
    first, *gram = line.split()
    try:
        logp = float(first)
        backoff = float(gram[order]) if len(gram) > order else None
    except ValueError:
        logp = math.nan
        backoff = None
    # A damaged number must become neither a probability above 1 nor a NaN among the scores.
    valid = logp <= 0 and (backoff is None or math.isfinite(backoff))
    if not valid or not order <= len(gram) <= order + 1:
        raise UserError(
            f"'{path}', line {number}: not an n-gram of {order} words between a log-probability "
            "and a back-off weight."
        )
    return tuple(gram[:order]), logp, backoff
