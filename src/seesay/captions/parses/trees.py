"""Penn Treebank brackets, read safely: no recursion, so that no depth is too deep, and a bad tree
costs only itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from seesay.data.lines import read_errors
from seesay.errors import UserError
from seesay.questions import BadRow

LONGEST_TREE = 1 << 18
DEEPEST_TREE = 1000
MOST_BRACKETS = 5000
_STEPS = {"(": 1, ")": -1}
_TOKEN = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True, slots=True)
class Bracket:
    """A constituent over words start … end − 1."""

    label: str
    start: int
    end: int


@dataclass(slots=True)
class ParseTree:
    """A parse without its shape: words with tags, and brackets, the innermost and leftmost
    first."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    brackets: list[Bracket] = field(default_factory=list)


TreeRow = tuple[int, "ParseTree | BadRow | None"]
"""The number of a line, and the parse that begins there."""


class BadTreeError(ValueError):
    """Why a tree cannot be read."""


def parse(text: str) -> ParseTree:
    """One parse, or several side by side: a line may hold a parse that found no root.

    >>> parse("(S (NP (PRP it)) (VP (VBD was)))").brackets[-1]
    Bracket(label='S', start=0, end=2)
    """
    tree = ParseTree()
    open_labels: list[tuple[str, int]] = []
    tokens = _TOKEN.findall(text)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        following = tokens[at + 1 : at + 4]
        if token == "(":
            if (
                len(following) == 3
                and following[2] == ")"
                and "(" not in following
                and following[1] != ")"
            ):
                tree.tags.append(following[0])
                tree.words.append(following[1])
                at += 4
                continue
            label = following[0] if following and following[0] not in "()" else ""
            open_labels.append((label, len(tree.words)))
            at += 2 if label else 1
        elif token == ")":
            if not open_labels:
                raise BadTreeError("a bracket closes that was not opened")
            label, start = open_labels.pop()
            tree.brackets.append(Bracket(label, start, len(tree.words)))
            at += 1
        else:
            raise BadTreeError(f"the word '{token[:40]}' has no tag of its own")
    if open_labels:
        raise BadTreeError(f"{len(open_labels)} bracket{'s' * (len(open_labels) > 1)} not closed")
    return tree


def read_trees(path: Path) -> list[TreeRow]:
    """The parses of a file in order, each with its line; None for an empty line where every parse
    has one line."""
    with read_errors(path):
        raw = path.read_bytes()
    rows = split_trees(raw.decode("utf-8-sig", "replace").split("\n"))
    if not rows:
        raise UserError(f"{path} holds no parse: it is empty.")
    return rows


def split_trees(lines: list[str]) -> list[TreeRow]:
    """The parses of the lines of a file.

    A parse begins with a bracket at the beginning of a line; the lines after it that do not are
    part of it.
    """
    while lines and not lines[-1].strip():
        lines.pop()
    one_per_line = all(line.startswith("(") or not line.strip() for line in lines)
    texts = enumerate(lines, 1) if one_per_line else _chunks(lines)
    return [(number, _read(number, text)) for number, text in texts]


def _chunks(lines: list[str]) -> Iterator[tuple[int, str]]:
    start = 0
    held = list[str]()
    for number, line in enumerate(lines, 1):
        if line.startswith("(") or not held:
            if held and "".join(held).strip():
                yield start, "\n".join(held)
            start = number
            held = []
        held.append(line)
    if "".join(held).strip():
        yield start, "\n".join(held)


def _read(number: int, text: str) -> ParseTree | BadRow | None:
    if not text.strip():
        return None
    if len(text) > LONGEST_TREE:
        return BadRow(number, f"a parse of more than {LONGEST_TREE:,} characters")
    if "\ufffd" in text:
        return BadRow(number, "not UTF-8 text")
    if max(accumulate(_STEPS.get(character, 0) for character in text)) > DEEPEST_TREE:
        return BadRow(number, f"nested more than {DEEPEST_TREE:,} deep")
    try:
        tree = parse(text)
    except BadTreeError as error:
        return BadRow(number, str(error))
    if len(tree.brackets) > MOST_BRACKETS:  # each is compared with each
        return BadRow(number, f"more than {MOST_BRACKETS:,} constituents")
    return tree
