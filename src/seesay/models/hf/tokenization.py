"""Options as they are tokenized in their sentence: the one place where text becomes tokens.

The whole sentence is tokenized with the option in the slot, and the option's tokens are found by
their character offsets. So RoBERTa's leading space, SentencePiece's marks and upper case come out
as they would in running text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError, first_line
from seesay.models.base import SEPARATOR, without_bars
from seesay.questions import Prompt, resolve_separator

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Ids = tuple[int, ...]

UNKNOWN = ("<unk>", "[UNK]", "<UNK>")
"""What tokenizers call the token for what they cannot write, whether they say so or not."""

MANY_OPTIONS = 32
"""From this many options on, each is not tokenized in every sentence."""


@dataclass(frozen=True, slots=True)
class TokenizedOption:
    """A sentence with an option in its slot: its tokens, which of them are the option's, and its
    characters."""

    ids: Ids
    start: int
    stop: int
    chars: int

    @property
    def tokens(self) -> Ids:
        """The option's tokens."""
        return self.ids[self.start : self.stop]

    @property
    def around(self) -> tuple[Ids, Ids]:
        """The tokens before the option and after it."""
        return self.ids[: self.start], self.ids[self.stop :]


def tokenize(name: str, tokenizer: Any, texts: str | Sequence[str], **arguments: Any) -> Any:
    """Return what a model's tokenizer makes of texts; whatever it raises becomes one sentence."""
    try:
        return tokenizer(texts, **arguments)
    except (KeyboardInterrupt, SystemExit):
        raise
    # a tokenizer is other people's file, and one in Rust may panic, which is no Exception
    except BaseException as error:
        raise UserError(
            f"The tokenizer of '{name}' fails on a text: {first_line(error)} (a file may be "
            "damaged; use another model)."
        ) from error


@lru_cache(maxsize=8)
def unknown_ids(tokenizer: Any) -> frozenset[int]:
    """Return the tokens that stand for what the tokenizer cannot write: the one that it names, the
    one that its algorithm writes, and any that is called so."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    algorithm = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    names = (*UNKNOWN, getattr(algorithm, "unk_token", None))
    ids = [vocabulary.get(name) for name in names if name is not None]
    ids += [tokenizer.unk_token_id, getattr(algorithm, "unk_id", None)]
    return frozenset(token for token in ids if token is not None)


def has_unknown(tokenizer: Any, ids: Iterable[int]) -> bool:
    """Whether tokens of running text have one for what the tokenizer cannot write; GPT-2 calls its
    end token so, which is none."""
    marks = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
    return not (unknown_ids(tokenizer) - marks).isdisjoint(ids)


def refuse_same_tokens(name: str, options: Sequence[str], tokens: Sequence[Hashable]) -> None:
    """Refuse different options that become the same tokens, between which there is no choice."""
    texts: dict[Hashable, str] = {}
    for option, option_tokens in zip(options, tokens, strict=True):
        other = texts.setdefault(option_tokens, option)
        if other != option:
            raise UserError(
                f"The tokenizer of '{name}' writes the options {other!r} and {option!r} with the "
                "same tokens: leave one of them out or use another model."
            )


def begins_texts(tokenizer: Any) -> bool:
    """Whether the tokenizer writes a beginning-of-text token before every text, as those of Llama
    and Gemma do."""
    ids = tokenizer("a")["input_ids"]
    return tokenizer.bos_token_id is not None and ids[:1] == [tokenizer.bos_token_id]


def document_start(tokenizer: Any) -> int | None:
    """Return the token after which a document began in training; None where no token can be it.

    It is the one that the tokenizer writes by itself. One that writes none was trained on texts
    with a token between them, called `<|endoftext|>` wherever there is such a token: what it names
    its beginning-of-text token may be something else, as in SmolLM2-Instruct and Qwen, where
    `<|im_start|>` opens a turn of the chat.
    """
    if begins_texts(tokenizer):
        return int(tokenizer.bos_token_id)
    candidates = (
        tokenizer.get_vocab().get(SEPARATOR),
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
    )
    return next((int(token) for token in candidates if token is not None), None)


def signed_token(tokenizer: Any, token: int) -> str:
    """Return a special token as signatures name it."""
    return without_bars(str(tokenizer.convert_ids_to_tokens(token)))


def tokenize_options(
    name: str,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[Prompt],
    *,
    rest: bool = True,
    rendered: bool = False,
) -> list[list[TokenizedOption]]:
    """Every prompt with each of its options; without `rest` the sentence ends with the option.

    A `rendered` text comes out of a chat template: it has its special tokens, and the space that
    opens a reply is the template's, not the option's.
    """
    rows = []
    for prompt in prompts:
        before, after = (resolve_separator(part, tokenizer.sep_token) for part in prompt.parts)
        rest_of_sentence = after if rest else ""
        if len(prompt.options) < MANY_OPTIONS:
            row = _tokenize(
                name,
                tokenizer,
                before,
                rest_of_sentence,
                prompt.options,
                rendered,
            )
        else:
            row = _tokenize_many(
                name,
                tokenizer,
                before,
                rest_of_sentence,
                prompt.options,
                rendered,
            )
        refuse_same_tokens(name, prompt.options, [option.ids for option in row])
        rows.append(row)
    return rows


def _tokenize(
    name: str,
    tokenizer: PreTrainedTokenizerBase,
    before: str,
    after: str,
    options: Sequence[str],
    rendered: bool,
) -> list[TokenizedOption]:
    """Each option between the two sides of its slot."""
    spans = [(len(before), len(before) + len(option)) for option in options]
    texts = [before + option + after for option in options]
    encoded = tokenize(
        name,
        tokenizer,
        texts,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        add_special_tokens=not rendered,
    )
    columns = (encoded[key] for key in ("input_ids", "offset_mapping", "special_tokens_mask"))
    return [
        _locate(name, tokenizer, *row, rendered=rendered)
        for row in zip(*columns, spans, texts, strict=True)
    ]


def _tokenize_many(
    name: str,
    tokenizer: PreTrainedTokenizerBase,
    before: str,
    after: str,
    options: tuple[str, ...],
    rendered: bool,
) -> list[TokenizedOption]:
    """Many options of one prompt: what they become is found once per word before the slot and text
    after it.

    Tokenizers cut texts at spaces first, so that an option's tokens do not depend on words further
    away; two options are tokenized in the whole sentence all the same, and if they come out
    otherwise, so are all. An option that changes the tokens around it is never put together.
    """
    last_word = before[len(before.rstrip().rpartition(" ")[0]) :]
    pieces = _pieces(name, tokenizer, last_word, after, options, rendered)
    samples = [*list(pieces)[:1], *list(pieces)[-1:]]
    others = [option for option in options if option not in pieces]
    in_sentence = [*samples, *others]
    rows = _tokenize(name, tokenizer, before, after, in_sentence, rendered)
    tokenized = dict(zip(in_sentence, rows, strict=True))
    around_samples = {tokenized[option].around for option in samples}
    is_alike = all(pieces[option] == tokenized[option].tokens for option in samples)
    if len(around_samples) != 1 or not is_alike:
        return _tokenize(name, tokenizer, before, after, options, rendered)
    ((prefix, suffix),) = around_samples
    for option, ids in pieces.items():
        stop = len(prefix) + len(ids)
        tokenized[option] = TokenizedOption(
            prefix + ids + suffix, len(prefix), stop, len(option) + len(after)
        )
    return [tokenized[option] for option in options]


@lru_cache(maxsize=64)
def _pieces(
    name: str,
    tokenizer: PreTrainedTokenizerBase,
    last_word: str,
    after: str,
    options: tuple[str, ...],
    rendered: bool,
) -> dict[str, Ids]:
    """What options become after a word; without those that change the tokens around them."""
    tokenized = _tokenize(name, tokenizer, last_word, after, options, rendered)
    # the tokens around most options are those around options that leave them alone
    around = Counter(option.around for option in tokenized).most_common(1)[0][0]
    return {
        text: option.tokens
        for text, option in zip(options, tokenized, strict=True)
        if option.around == around
    }


def unwritable(name: str, option: str) -> UserError:
    """The error for an option that a tokenizer cannot write."""
    return UserError(
        f"The tokenizer of '{name}' cannot write the option {option!r} (it becomes an unknown "
        "token): leave the option out or use another model."
    )


def _locate(
    name: str,
    tokenizer: PreTrainedTokenizerBase,
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    special: Sequence[int],
    span: tuple[int, int],
    text: str,
    *,
    rendered: bool,
) -> TokenizedOption:
    """Find the tokens that overlap the option's characters."""
    begin, end = span
    inside = []
    for i, (low, high) in enumerate(offsets):
        if not special[i] and low < end and high > begin:
            inside.append(i)
    option = text[begin:end]
    is_unknown = not unknown_ids(tokenizer).isdisjoint(ids[i] for i in inside)
    if not option.strip() or not inside or is_unknown:
        raise unwritable(name, option)
    start = inside[0]
    # Where a tokenizer makes the space before the option a token of its own, that token is the
    # option's first: for other options the space is part of their first token, and all must be
    # scored against the same prefix.
    if start and not rendered and not special[start - 1]:
        low, high = offsets[start - 1]
        if not text[low:high].strip():
            start -= 1
    return TokenizedOption(tuple(ids), start, inside[-1] + 1, len(text) - begin)
