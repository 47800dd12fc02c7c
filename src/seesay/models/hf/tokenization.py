"""Options as they are tokenized in their sentence: the one place where text becomes tokens.

The whole sentence is tokenized with the option in the slot, and the option's tokens are found by their character
offsets. So RoBERTa's leading space, SentencePiece's marks and upper case come out as they would in running text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from seesay.errors import UserError
from seesay.questions import Prompt, resolve_separator

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Ids = tuple[int, ...]

MANY_OPTIONS = 32
"""From this many options on, each is not tokenized in every sentence."""

_MOST_CONTEXTS = 64
_KNOWN: WeakKeyDictionary[
    PreTrainedTokenizerBase, dict[tuple[str, bool, str, tuple[str, ...], bool], dict[str, Ids]]
] = WeakKeyDictionary()
"""What options become in a context: the word before the slot, whether it opens the text, the text after it."""


@dataclass(frozen=True, slots=True)
class TokenizedOption:
    """A sentence with an option in its slot: its tokens, which of them are the option's, and its characters."""

    ids: Ids
    start: int
    stop: int
    chars: int

    @property
    def tokens(self) -> Ids:
        """The option's own."""
        return self.ids[self.start : self.stop]

    @property
    def around(self) -> tuple[Ids, Ids]:
        """Those before it and after it."""
        return self.ids[: self.start], self.ids[self.stop :]


def tokenize_options(
    tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt], *, rest: bool = True, rendered: bool = False
) -> list[list[TokenizedOption]]:
    """Every prompt with each of its options; without `rest` the sentence ends with the option.

    A `rendered` text comes out of a chat template: it has its special tokens, and the space that opens a reply is the
    template's, not the option's.
    """
    sides = []
    for prompt in prompts:
        before, after = (resolve_separator(part, tokenizer.sep_token) for part in prompt.parts)
        sides.append((before, after if rest else ""))
    short = [i for i, prompt in enumerate(prompts) if len(prompt.options) < MANY_OPTIONS]
    few = iter(_tokenize(tokenizer, [(sides[i], option) for i in short for option in prompts[i].options], rendered))
    rows = {i: [next(few) for _ in prompts[i].options] for i in short}
    return [
        rows[i] if i in rows else _tokenize_many(tokenizer, sides[i], prompt.options, rendered)
        for i, prompt in enumerate(prompts)
    ]


def _tokenize(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[tuple[tuple[str, str], str]], rendered: bool
) -> list[TokenizedOption]:
    """Sentences, each given as what stands around the slot and the option in it."""
    if not sentences:
        return []
    spans = [(len(before), len(before) + len(option)) for (before, _), option in sentences]
    texts = [before + option + after for (before, after), option in sentences]
    encoded = tokenizer(
        texts, return_offsets_mapping=True, return_special_tokens_mask=True, add_special_tokens=not rendered
    )
    columns = (encoded[key] for key in ("input_ids", "offset_mapping", "special_tokens_mask"))
    return [_locate(tokenizer, *row, rendered=rendered) for row in zip(*columns, spans, texts, strict=True)]


def _tokenize_many(
    tokenizer: PreTrainedTokenizerBase, sides: tuple[str, str], options: tuple[str, ...], rendered: bool
) -> list[TokenizedOption]:
    """Many options of one prompt: what they become is found once per word before the slot and text after it.

    Tokenizers cut texts at spaces first, so that an option's tokens do not depend on words further away; two options
    are tokenized in the new sentence all the same, and if they come out otherwise, so are all. An option that changes
    the tokens around it is never put together.
    """
    before, after = sides
    last_word = before[len(before.rstrip().rpartition(" ")[0]) :]
    contexts = _KNOWN.setdefault(tokenizer, {})
    context = (last_word, last_word == before, after, options, rendered)
    pieces = contexts.get(context)
    if pieces is None:
        whole = _tokenize(tokenizer, [(sides, option) for option in options], rendered)
        around = Counter(o.around for o in whole).most_common(1)[0][0]
        if len(contexts) >= _MOST_CONTEXTS:
            contexts.clear()
        contexts[context] = {option: o.tokens for option, o in zip(options, whole, strict=True) if o.around == around}
        return whole
    samples = [*list(pieces)[:1], *list(pieces)[-1:]]
    once = [*samples, *(option for option in options if option not in pieces)]
    tokenized = dict(zip(once, _tokenize(tokenizer, [(sides, option) for option in once], rendered), strict=True))
    around_samples = {tokenized[option].around for option in samples}
    if len(around_samples) != 1 or any(pieces[option] != tokenized[option].tokens for option in samples):
        return _tokenize(tokenizer, [(sides, option) for option in options], rendered)
    ((prefix, suffix),) = around_samples
    return [
        TokenizedOption(
            prefix + pieces[option] + suffix, len(prefix), len(prefix) + len(pieces[option]), len(option) + len(after)
        )
        if option in pieces
        else tokenized[option]
        for option in options
    ]


def unwritable(name: str, option: str) -> UserError:
    """The error for an option that a tokenizer cannot write."""
    return UserError(
        f"The tokenizer of '{name}' cannot write the option {option!r} (it becomes an unknown token): leave the "
        "option out or use another model."
    )


def _locate(
    tokenizer: PreTrainedTokenizerBase,
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    special: Sequence[int],
    span: tuple[int, int],
    text: str,
    *,
    rendered: bool,
) -> TokenizedOption:
    begin, end = span
    inside = [i for i, (low, high) in enumerate(offsets) if not special[i] and low < end and high > begin]
    option = text[begin:end]
    if not option.strip() or not inside or tokenizer.unk_token_id in [ids[i] for i in inside]:
        raise unwritable(tokenizer.name_or_path, option)
    start = inside[0]
    # Where a tokenizer makes the space before the option a token of its own, that token is the option's first: for
    # other options the space is part of their first token, and all must be scored against the same prefix.
    if start and not rendered and not special[start - 1] and not text[slice(*offsets[start - 1])].strip():
        start -= 1
    return TokenizedOption(tuple(ids), start, inside[-1] + 1, len(text) - begin)
