"""evalb's parameter file: what is not counted, and what counts as the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seesay.errors import UserError


@dataclass(frozen=True)
class EvalbParameters:
    """The defaults are those of COLLINS.prm (evalb's README, section 6).

    A deleted label takes its word along if it is a tag, and only its bracket if it is a
    constituent.
    """

    delete: frozenset[str] = frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."})
    delete_for_length: frozenset[str] = frozenset({"-NONE-"})
    equal_labels: frozenset[frozenset[str]] = frozenset({frozenset({"ADVP", "PRT"})})
    equal_words: frozenset[frozenset[str]] = frozenset()
    cutoff: int = 40
    labelled: bool = True

    def same_label(self, a: str, b: str) -> bool:
        """Whether two labels, or tags, count as one."""
        return a == b or frozenset({a, b}) in self.equal_labels

    def same_word(self, a: str, b: str) -> bool:
        """Whether two words count as one."""
        return a == b or frozenset({a, b}) in self.equal_words


_MOST_DIGITS = 9
_NUMBERS = ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED")
_SETS = {"DELETE_LABEL": 1, "DELETE_LABEL_FOR_LENGTH": 1, "EQ_LABEL": 2, "EQ_WORD": 2}


def read_parameters(path: Path) -> EvalbParameters:
    """From a file as evalb reads it. `DEBUG` and `MAX_ERROR` are taken and change nothing: every
    error is reported."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Cannot read the parameter file {path}: {error}.") from error
    numbers: dict[str, int] = {"CUTOFF_LEN": 9999, "LABELED": 1}
    sets: dict[str, set[tuple[str, ...]]] = {name: set() for name in _SETS}
    for number, line in enumerate(lines, 1):
        name, *values = line.split() if line.strip() and not line.startswith("#") else ("",)
        if not name:
            continue
        if (
            name in _NUMBERS
            and len(values) == 1
            and values[0].isdecimal()
            and len(values[0]) <= _MOST_DIGITS
        ):
            numbers[name] = int(values[0])
        elif _SETS.get(name) == len(values):
            sets[name].add(tuple(values))
        else:
            raise UserError(
                f"Line {number} of {path} is not an evalb parameter: {line.strip()[:60]!r}."
            )
    return EvalbParameters(
        frozenset(label for (label,) in sets["DELETE_LABEL"]),
        frozenset(label for (label,) in sets["DELETE_LABEL_FOR_LENGTH"]),
        frozenset(frozenset(both) for both in sets["EQ_LABEL"]),
        frozenset(frozenset(both) for both in sets["EQ_WORD"]),
        numbers["CUTOFF_LEN"],
        bool(numbers["LABELED"]),
    )
