"""evalb's parameter file: what is not counted, and what counts as the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seesay.errors import UserError


@dataclass(frozen=True)
class EvalbParameters:
    """evalb's settings. The defaults are those of COLLINS.prm (evalb's README, section 6)."""

    delete: frozenset[str] = frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."})
    """Labels that do not count: a tag takes its word along, a constituent only its bracket."""
    delete_for_length: frozenset[str] = frozenset({"-NONE-"})
    """Tags of words that do not count for the length of a sentence."""
    equal_labels: frozenset[frozenset[str]] = frozenset({frozenset({"ADVP", "PRT"})})
    """Pairs of labels that count as one."""
    equal_words: frozenset[frozenset[str]] = frozenset()
    """Pairs of words that count as one."""
    cutoff: int = 40
    """The length up to which sentences are scored a second time."""
    labelled: bool = True

    def same_label(self, a: str, b: str) -> bool:
        """Return whether two labels, or tags, count as one."""
        return a == b or frozenset({a, b}) in self.equal_labels

    def same_word(self, a: str, b: str) -> bool:
        """Return whether two words count as one."""
        return a == b or frozenset({a, b}) in self.equal_words


# No parameter is larger, and Python is slow to read a number of a million digits.
_MOST_DIGITS = 9
_NUMBERS = ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED")
_SETS = {"DELETE_LABEL": 1, "DELETE_LABEL_FOR_LENGTH": 1, "EQ_LABEL": 2, "EQ_WORD": 2}
"""How many values a line of each of the other parameters has."""


def read_parameters(path: Path) -> EvalbParameters:
    """Read a file as evalb does.

    `DEBUG` and `MAX_ERROR` are accepted and change nothing: every error is reported.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Cannot read the parameter file {path}: {error}.") from error
    # evalb's own defaults where a file is silent, not those of COLLINS.prm.
    numbers: dict[str, int] = {"CUTOFF_LEN": 9999, "LABELED": 1}
    sets: dict[str, set[tuple[str, ...]]] = {name: set() for name in _SETS}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, *values = line.split()
        if name in _NUMBERS and _is_number(values):
            numbers[name] = int(values[0])
        elif _SETS.get(name) == len(values):
            sets[name].add(tuple(values))
        else:
            raise UserError(
                f"Line {number} of {path} is not an evalb parameter: {line.strip()[:60]!r}."
            )
    return EvalbParameters(
        delete=frozenset(label for (label,) in sets["DELETE_LABEL"]),
        delete_for_length=frozenset(label for (label,) in sets["DELETE_LABEL_FOR_LENGTH"]),
        equal_labels=frozenset(map(frozenset, sets["EQ_LABEL"])),
        equal_words=frozenset(map(frozenset, sets["EQ_WORD"])),
        cutoff=numbers["CUTOFF_LEN"],
        labelled=bool(numbers["LABELED"]),
    )


def _is_number(values: list[str]) -> bool:
    """Return whether the values of a line are one number."""
    return len(values) == 1 and values[0].isdecimal() and len(values[0]) <= _MOST_DIGITS
