"""The perplexity of texts under a model that scores them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from seesay import __version__
from seesay.data.captions import Caption, Corpus, CorpusSummary
from seesay.errors import UserError
from seesay.files import json_value
from seesay.language.perplexity.sums import PerplexitySums, text_sums
from seesay.models.base import Model, TokenScores
from seesay.questions import BadRow

_FIGURES = (
    "token_perplexity",
    "word_perplexity",
    "sentence_perplexity",
    "bits_per_character",
    "bits_per_word",
    "tokens",
    "words",
    "sentences",
    "signature",
)


class ScoredText(NamedTuple):
    """A text with the number of its line (from 1) and its token scores."""

    line: int
    text: str
    scores: TokenScores

    @property
    def sums(self) -> PerplexitySums:
        """What this text adds to the corpus."""
        return text_sums(self.text, self.scores.logp)

    def sentence_row(self) -> dict[str, object]:
        """Return the text's perplexity, as JSON."""
        sums = self.sums
        return {
            "line": self.line,
            "text": self.text,
            "logp": json_value(sums.logp),
            "perplexity": json_value(sums.token_perplexity),
            "tokens": sums.tokens,
            "words": sums.words,
            "characters": sums.characters,
        }

    def token_rows(self) -> Iterator[dict[str, object]]:
        """Return every token's log-probability, as JSON."""
        scored = zip(self.scores.tokens, self.scores.logp, strict=True)
        for position, (token, logp) in enumerate(scored):
            yield {
                "line": self.line,
                "position": position,
                "token": token,
                "logp": json_value(logp),
            }


@dataclass(frozen=True)
class PerplexityResult(PerplexitySums):
    """Perplexities of a corpus, how they were computed, and which texts were left out.

    `blank` texts are empty, `unscored` ones have no token that the model scores; of the `left_out`
    ones, which are damaged or too long, `bad_rows` names the first few.
    """

    signature: str = ""
    blank: int = 0
    unscored: int = 0
    left_out: int = 0
    bad_rows: tuple[BadRow, ...] = ()
    source: CorpusSummary = field(default=CorpusSummary("", "", 0, 0, 0), compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return what `seesay perplexity --json` prints: null for what is not finite."""
        figures = {name: json_value(getattr(self, name)) for name in _FIGURES}
        return {**figures, "sources": [self.source.as_json()]}


class _TextList(Corpus):
    """Texts in memory, counted as those of a file are."""

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__("the list of texts")
        self.form = "texts in memory"
        self.unit = "text"
        self._rows = (Caption(text, "", number) for number, text in enumerate(texts, 1))


def perplexity(
    model: Model,
    texts: Corpus | Path | Iterable[str],
    *,
    eos: bool | None = None,
    stride: int | None = None,
    limit: int | None = None,
    on_text: Callable[[ScoredText], None] | None = None,
) -> PerplexityResult:
    """Compute perplexity at token, word and sentence level, and bits per character and word.

    The texts are a corpus's captions, or are given.

    `eos`: with or without the end-of-sentence token, by default as the model itself ends texts.
    `stride`: by how many tokens the window moves over a long text, by default half of the window.
    `limit`: score the first texts only. `on_text` is called with every text that was scored.
    """
    require_scoring(model)
    if isinstance(texts, Path):
        with Corpus(texts) as corpus:
            return perplexity(model, corpus, eos=eos, stride=stride, limit=limit, on_text=on_text)
    # Texts in memory are counted and named as those of a file are.
    source = texts if isinstance(texts, Corpus) else _TextList(texts)
    total = PerplexitySums()
    unscored = 0
    for scored in _score(model, source.read(limit), eos, stride):
        # A text that a model cannot score is a bad row; one without a token, such as a single
        # word under a model without a beginning, is none.
        if scored.scores.left_out:
            source.reject(scored.line, scored.scores.left_out)
        elif not scored.scores.logp:
            unscored += 1
        else:
            total += scored.sums
            if on_text is not None:
                on_text(scored)
    if not total.tokens:
        _refuse(source, unscored)
    signature = (
        f"model:{model.name}|fingerprint:{model.fingerprint}|family:{model.family}|"
        f"{model.describe_scoring(eos, stride)}|texts:{source.digest}|seesay:{__version__}"
    )
    return PerplexityResult(
        **asdict(total),
        signature=signature,
        blank=source.blank,
        unscored=unscored,
        left_out=source.bad,
        bad_rows=tuple(source.bad_rows),
        source=source.summary,
    )


def require_scoring(model: Model) -> None:
    """Reject a model that gives texts no log-probability."""
    if "score" not in model.abilities:
        raise UserError(
            f"'{model.name}' ({model.family}) cannot score texts: give a causal or masked model, "
            "an LSTM or an ARPA file."
        )


def _refuse(source: Corpus, unscored: int) -> NoReturn:
    """Reject texts of which none has a score."""
    left_out = f"left out: {source.bad:,}"
    if source.bad_rows:
        first = source.bad_rows[0]
        left_out += f" ({source.unit} {first.row:,}: {first.reason})"
    raise UserError(
        f"'{source.name}' holds no text that can be scored (empty: {source.blank:,}, {left_out}, "
        f"without a token: {unscored:,}): is it the right file?"
    )


def _score(
    model: Model,
    captions: Iterator[Caption],
    eos: bool | None,
    stride: int | None,
) -> Iterator[ScoredText]:
    """Return each text with its scores.

    Models read ahead by a batch: only that many texts are held in memory.
    """
    # A model returns scores alone, in order: the texts wait here for theirs.
    waiting: deque[tuple[int, str]] = deque()

    def texts() -> Iterator[str]:
        for caption in captions:
            waiting.append((caption.row, caption.text))
            yield caption.text

    for scores in model.score(texts(), end=eos, stride=stride):
        yield ScoredText(*waiting.popleft(), scores)
