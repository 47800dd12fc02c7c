"""Penn Treebank brackets, read safely.

There is no recursion, so that no depth is too deep, and a bad tree costs only itself.
"""

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
"""Each bracket of a parse is compared with each of the other: more would take too long."""
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
    """A parse without its shape: words with tags, and brackets.

    The innermost and leftmost bracket is the first.
    """

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    brackets: list[Bracket] = field(default_factory=list)


TreeRow = tuple[int, "ParseTree | BadRow | None"]
"""The number of a line, and the parse that begins there."""


class BadTreeError(ValueError):
    """Why a tree cannot be read."""


def parse(text: str) -> ParseTree:
    """Parse one tree, or several side by side: a line may hold a parse that found no root.

    >>> parse("(S (NP (PRP it)) (VP (VBD was)))").brackets[-1]
    Bracket(label='S', start=0, end=2)
    """
    tree = ParseTree()
    open_labels: list[tuple[str, int]] = []
    tokens = _TOKEN.findall(text)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token == "(":
            following = tokens[at : at + 3]
            if _is_leaf(following):
                tag, word, _ = following
                tree.tags.append(tag)
                tree.words.append(word)
                at += 3
                continue
            # A bracket without a label, such as the outermost of the Penn Treebank's, is kept.
            label = ""
            if following and following[0] not in "()":
                label = following[0]
                at += 1
            open_labels.append((label, len(tree.words)))
        elif token == ")":
            if not open_labels:
                raise BadTreeError("a bracket closes that was not opened")
            label, start = open_labels.pop()
            tree.brackets.append(Bracket(label, start, len(tree.words)))
        else:
            raise BadTreeError(f"the word '{token[:40]}' has no tag of its own")
    if open_labels:
        plural = "s" if len(open_labels) > 1 else ""
        raise BadTreeError(f"{len(open_labels)} bracket{plural} not closed")
    return tree


def _is_leaf(tokens: list[str]) -> bool:
    """Return whether the tokens after a bracket are a tag, a word and the end."""
    if len(tokens) != 3 or tokens[2] != ")":
        return False
    return "(" not in tokens and tokens[1] != ")"


def read_trees(path: Path) -> list[TreeRow]:
    """Read the parses of a file in order, each with its line.

    A blank line is None where every parse has one line.
    """
    with read_errors(path):
        raw = path.read_bytes()
    rows = split_trees(raw.decode("utf-8-sig", "replace").split("\n"))
    if not rows:
        raise UserError(f"{path} holds no parse: it is empty.")
    return rows


def split_trees(lines: list[str]) -> list[TreeRow]:
    """Return the parses of the lines of a file.

    A parse begins with a bracket at the beginning of a line; the lines after it that do not are
    part of it.
    """
    while lines and not lines[-1].strip():
        lines.pop()
    one_per_line = all(line.startswith("(") or not line.strip() for line in lines)
    texts = enumerate(lines, 1) if one_per_line else _chunks(lines)
    return [(number, _read(number, text)) for number, text in texts]


def _chunks(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Return the text of each parse that is not blank, and the line where it begins."""
    start = 1
    chunk: list[str] = []
    # A last bracket that is no line ends the last parse as any other.
    for number, line in enumerate([*lines, "("], 1):
        if line.startswith("("):
            text = "\n".join(chunk)
            if text.strip():
                yield start, text
            start = number
            chunk = []
        chunk.append(line)


def _read(number: int, text: str) -> ParseTree | BadRow | None:
    """Parse a text that begins at a line, or say why it cannot be used."""
    if not text.strip():
        return None
    if len(text) > LONGEST_TREE:
        return BadRow(number, f"a parse of more than {LONGEST_TREE:,} characters")
    if "\ufffd" in text:
        return BadRow(number, "not UTF-8 text")
    depths = accumulate(_STEPS.get(character, 0) for character in text)
    if max(depths) > DEEPEST_TREE:
        return BadRow(number, f"nested more than {DEEPEST_TREE:,} deep")
    try:
        tree = parse(text)
    except BadTreeError as error:
        return BadRow(number, str(error))
    if len(tree.brackets) > MOST_BRACKETS:
        return BadRow(number, f"more than {MOST_BRACKETS:,} constituents")
    return tree
