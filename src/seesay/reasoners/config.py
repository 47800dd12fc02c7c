"""What a network is made of: the numbers that its layers need, and the words it reads and says."""

from __future__ import annotations

from dataclasses import dataclass

from seesay.reasoners.vocabulary import Words


@dataclass(frozen=True, slots=True)
class Shape:
    """`look` is the form of what it looks at: channels, rows, columns of a picture or of another network's maps."""

    words: Words
    answers: tuple[str, ...]
    look: tuple[int, ...]
    width: int = 64
    halvings: int = 2
    levels: int = 0
    blocks: int = 4
    embedding: int = 64
    hidden: int = 128
    classifier: int = 256
    dropout: float = 0.0
    batch_norm: bool = True
