"""The model contract: what a model states about itself, and what it may be able to do.

A model implements what it can of `answer`, `score`, `encode` and `generate`; everything else has a
default. Models of other packages subclass `Model` too, and get everything that ours get.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.command_line import in_callers_words
from seesay.condition import GREEDY as GREEDY
from seesay.condition import Condition, StandIn
from seesay.condition import Sampling as Sampling
from seesay.errors import UserError
from seesay.questions import Prompt, Scores, Task, resolve_separator

log = logging.getLogger(__name__)

TEXT = frozenset({"text"})
TEXT_AND_PICTURES = frozenset({"text", "pictures"})

IDENTITY = (
    "name",
    "family",
    "fingerprint",
    "parameters",
    "diet",
    "scope",
    "accepts",
    "whole_words",
    "prompts_per_batch",
    "only_chooses",
    "probabilities_hint",
    "letters_options",
    "answers_neutral",
    "chat",
    "system",
    "beginning",
    "abilities",
    "condition",
)
"""The fields in which a model states what it is; a stand-in for it states the same."""


SEPARATOR = "<|endoftext|>"
"""What GPT-2 and its many relatives had between the documents of their training."""

ABILITIES = ("answer", "score", "encode", "generate", "answer_layers", "encode_layers", "restrict")
"""What a model may be able to do: the hooks that have no useful default, and to restrict a task to
a part of it."""


@dataclass(frozen=True, slots=True)
class TokenScores:
    """A text's tokens with the log-probability of each; a first token without context has none and
    is left out.

    A text that the model cannot score has no tokens, and `left_out` says why. `spans` are the
    tokens' characters in the text, where the model tells; those of an end token are empty.
    """

    tokens: tuple[str, ...]
    logp: tuple[float, ...]
    left_out: str = ""
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote; `cut` where it was stopped before its end."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FilledScores:
    """Sentences with each of several words in their gap (words × gaps): log-probabilities, and
    tokens scored."""

    logp: NDArray[np.float64]
    tokens: NDArray[np.int64]


def without_bars(token: str) -> str:
    """Return a special token as signatures name it, whose parts are separated by bars.

    >>> [without_bars(token) for token in ("<|endoftext|>", "<s>", "<bos>")]
    ['endoftext', 's', 'bos']
    """
    return token.strip("<>|").replace("|", "")


def choice_scores(prompt: Prompt, logp: Iterable[float]) -> Scores:
    """The scores of a model that weighs whole options: each of them counts as one token."""
    return Scores(
        tuple(logp), tokens=(1,) * len(prompt.options), chars=tuple(map(len, prompt.options))
    )


def scored_rest(prompt: Prompt) -> str:
    """Return what follows the slot, which scope `rest` scores; a mark alone is nothing to score."""
    _, after = prompt.parts
    rest = resolve_separator(after, None)
    if not any(character.isalnum() for character in rest):
        raise UserError(
            f"--scope rest scores what follows the option, and nothing does in {prompt.text!r}."
        )
    return rest


def summed_scores(
    logps: Sequence[Sequence[float]], chars: Iterable[int], rank: Sequence[int] | None = None
) -> Scores:
    """The scores of options whose tokens have these log-probabilities."""
    return Scores(
        tuple(map(sum, logps)),
        tuple(map(len, logps)),
        tuple(chars),
        None if rank is None else tuple(rank),
    )


class Model:
    """Anything that can answer, score, encode or generate. Subclasses set the fields and implement
    what they can."""

    name: str
    """The model as the user named it."""

    family: str
    """How it answers: masked, causal, encoder-decoder, completions, chat, baseline…"""

    fingerprint: str
    """A digest that changes when the weights, the tokenizer or a setting that shapes the answers
    changes."""

    parameters: int | None = None
    """How many parameters its network has, where that is known."""

    diet: Mapping[str, str] = {}
    """What it was raised on, dial by dial, where that is known."""

    scope: str = "option"
    """What is scored: `sentence`, `option`, `slot`, `answer`, `reply` or `choice`; part of the
    signature."""

    accepts: frozenset[str] = TEXT
    """What a prompt may hold: `text`, and `pictures` for a model that looks at them."""

    whole_words: bool = False
    """Whether the model reads whole words, of which it knows some; models of word pieces know every
    word."""

    prompts_per_batch: int = 64
    """The size of the batches that `plan` makes by default."""

    only_chooses: bool = False
    """Whether the model picks an option and gives no probabilities: right-or-wrong metrics only."""

    probabilities_hint: str = "ask a model that gives every option a probability"
    """Where a task needs probabilities and this model only chooses: what the user can do about
    it."""

    answers_neutral: bool = True
    """Whether the prompt that names no object can be put to it, by which answers are calibrated."""

    letters_options: bool = False
    """Whether the model's own prompts show the options, lettered, as UnifiedQA's do."""

    chat: str | None = None
    """A digest of the chat template and system text that prompts are put through; None for plain
    texts."""

    system: str | None = None
    """The system's text, which opens the chat."""

    beginning: str = ""
    """What stands before a prompt, as the signature names it: a special token, `none`, or
    `none/TOKEN` where that token precedes only what opens with its slot; "" where there is nothing
    to say."""

    # Texts of notes, and whether they last; None until the first one, so that subclasses of other
    # packages need not call a constructor of ours.
    _notes: dict[str, bool] | None = None

    @property
    def abilities(self) -> frozenset[str]:
        """Which of ABILITIES this model implements."""
        return frozenset(
            name for name in ABILITIES if getattr(type(self), name) is not getattr(Model, name)
        )

    @property
    def condition(self) -> Condition:
        """How this model is asked; the length rule, and what a run adds, are not its to state."""
        return plain_condition(self)

    def through_chat(self, system: str | None = None) -> Model:
        """This model, asked through its chat template: the question is the user's turn, the option
        begins the reply."""
        raise UserError(f"'{self.name}' has no chat template: ask it without --chat.")

    def with_picture(self, stand_in: StandIn) -> Model:
        """This model, shown a picture beside every question, none of which has one."""
        raise UserError(
            f"'{self.name}' cannot be shown a picture in place of none: --picture is for "
            "VisualBERT, LXMERT, ViLT, FLAVA and a CLIP-BERT that imagines."
        )

    def restrict(self, task: Task) -> Task:
        """The task as this model can be asked it; by default as it is."""
        return task

    def prepare(self, task: Task) -> None:
        """Called with the whole task before its prompts are asked."""

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Indices of the prompts in batches, each prompt once; by default in order.

        Batches depend on the prompts alone, so that a resumed run computes the same batches and the
        same digits.
        """
        size = self.prompts_per_batch
        return [list(range(i, min(i + size, len(prompts)))) for i in range(0, len(prompts), size)]

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """What asking these prompts will take, for the user to read before it starts; empty where
        nothing is paid.

        `max_tokens` is the length of a free answer, where such are asked for.
        """
        return ""

    def spent(self) -> dict[str, float]:
        """What asking has taken since the model was loaded, in the manifest's words: `requests`,
        `tokens_read`, `tokens_written`, `cost`; empty where nothing is paid."""
        return {}

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The scores of every option of one batch of prompts, in order."""
        raise self._cannot("answer questions")

    def answer_layers(self, prompts: Sequence[Prompt]) -> list[list[Scores]]:
        """The scores that the output head gives to the states of each layer (logit lens), layer by
        layer.

        The first layer is the embedding, the last one gives what `answer` gives.
        """
        raise self._cannot("be asked layer by layer")

    def answer_batches(
        self, batches: Sequence[Sequence[Prompt]]
    ) -> Iterator[tuple[int, list[Scores]]]:
        """The scores of every batch with its number, in whatever order they come; by default one
        after the other."""
        for number, batch in enumerate(batches):
            yield number, self.answer(batch)

    def score(
        self,
        texts: Iterable[str],
        *,
        end: bool | None = None,
        stride: int | None = None,
    ) -> Iterator[TokenScores]:
        """Token log-probabilities, text by text, in order.

        `end`: with or without the end-of-sentence token; by default as the model itself writes
        texts. `stride`: by how many tokens the window moves over a text that is longer than it; by
        default half of the window.
        """
        raise self._cannot("score texts")

    def score_filled(self, gaps: Sequence[tuple[str, str]], words: Sequence[str]) -> FilledScores:
        """Every word in every gap, which is given as the text before and the text after it.

        By default text by text, the words of one gap together, so that a causal model reads what
        precedes it once.
        """
        scored = list(self.score(before + word + after for before, after in gaps for word in words))
        # one text without a score would leave a hole in the matrix
        reason = next((scores.left_out for scores in scored if scores.left_out), None)
        if reason:
            raise UserError(
                f"A context cannot be scored: {reason}. Leave out captions of that kind."
            )
        shape = (len(gaps), len(words))
        logp = np.array([sum(scores.logp) for scores in scored], dtype=np.float64)
        tokens = np.array([len(scores.tokens) for scores in scored], dtype=np.int64)
        return FilledScores(logp.reshape(shape).T, tokens.reshape(shape).T)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector per text."""
        raise self._cannot("encode texts")

    def encode_layers(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of each text, texts × layers × width: from the embedding to the one that
        `encode` gives."""
        raise self._cannot("encode texts layer by layer")

    def layer_count(self) -> int | None:
        """How many layers are read, the embedding included; None where that is seen only when they
        are."""
        return None

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """Free answers to one batch of prompts, as many to each as there are samples."""
        raise self._cannot("generate text")

    def knows(self, word: str) -> bool:
        """Whether the word is in the vocabulary of a model that reads whole words."""
        return True

    def can_score(self, text: str) -> bool:
        """Whether `score` gives this text a log-probability; a model trained without unknown words
        may refuse some."""
        return True

    def pieces(self, words: Sequence[str]) -> list[int] | None:
        """How many tokens each word takes in running text; None where the model does not tell."""
        return None

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """How `score` reads texts (end token, window, stride), for a signature; "" where the model
        has no `score`."""
        if "score" not in self.abilities:
            return ""
        eos = {None: "own", True: "yes", False: "no"}[end]
        return f"eos:{eos}|stride:{stride or 'own'}"

    def describe_encoding(self) -> str:
        """How `encode` begins texts, for a signature; "" where there is nothing to say."""
        return ""

    def note(self, text: str, *, lasting: bool = False) -> None:
        """Tell the user something that belongs to the figures too: it is logged now and kept with
        the run, or, where it is about the model itself (`lasting`), with every run of it."""
        text = in_callers_words(text)
        if self._notes is None:
            self._notes = {}
        if text not in self._notes:
            self._notes[text] = lasting
            log.warning("%s", text)

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """What a reader of the run should know; `answered` holds every score of the run, of this
        process or before."""
        return list(self._notes or ())

    def clear_notes(self) -> None:
        """Forget the notes that have been kept with a run; lasting ones belong to the next run
        too."""
        self._notes = {text: True for text, lasting in (self._notes or {}).items() if lasting}

    def _cannot(self, what: str) -> UserError:
        return UserError(f"'{self.name}' cannot {what}.")


def plain_condition(model: Model) -> Condition:
    """Return the condition of a model that is asked as it is, without a wrapper around it."""
    return Condition(chat=model.chat, system=model.system, scope=model.scope)
