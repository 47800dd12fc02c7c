"""Options as they are tokenized in their sentence: the one place where text becomes tokens.

The whole sentence is tokenized with the option in the slot, and the option's tokens are found by their character
offsets. So RoBERTa's leading space, SentencePiece's marks and upper case come out as they would in running text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seesay.errors import UserError
from seesay.questions import SEPARATOR, Prompt

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class TokenizedOption:
    """A sentence with an option in its slot: its tokens, which of them are the option's, and its characters."""

    ids: tuple[int, ...]
    start: int
    stop: int
    chars: int


def resolve_separator(text: str, separator: str | None) -> str:
    """`[SEP]` becomes the model's own separator, or nothing where it has none.

    >>> resolve_separator("What color? [SEP] A: red", None)
    'What color? A: red'
    """
    return text.replace(SEPARATOR, separator) if separator else text.replace(f"{SEPARATOR} ", "").replace(SEPARATOR, "")


def tokenize_options(
    tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt], *, rest: bool = True, rendered: bool = False
) -> list[list[TokenizedOption]]:
    """Every prompt with each of its options; without `rest` the sentence ends with the option.

    A `rendered` text comes out of a chat template: it has its special tokens, and the space that opens a reply is the
    template's, not the option's.
    """
    separator = tokenizer.sep_token
    spans: list[tuple[int, int]] = []
    texts: list[str] = []
    for prompt in prompts:
        before, after = (resolve_separator(part, separator) for part in prompt.parts)
        for option in prompt.options:
            spans.append((len(before), len(before) + len(option)))
            texts.append(before + option + (after if rest else ""))
    if not texts:
        return []
    encoded = tokenizer(
        texts, return_offsets_mapping=True, return_special_tokens_mask=True, add_special_tokens=not rendered
    )
    columns = (encoded[key] for key in ("input_ids", "offset_mapping", "special_tokens_mask"))
    options = iter([_locate(tokenizer, *row, rendered=rendered) for row in zip(*columns, spans, texts, strict=True)])
    return [[next(options) for _ in prompt.options] for prompt in prompts]


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
