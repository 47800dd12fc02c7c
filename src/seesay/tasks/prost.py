"""PROST: physical reasoning about objects, ten concepts, four options each (Aroca-Ouellette et al.
2021).

The published files are templates over word lists; here they are expanded. Placeholders of one list
take different words, in every order, and which option is right follows from the lists: the odd one
out, or the first or last of four.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from seesay.data import store
from seesay.data.task_files.texts import capital, with_article
from seesay.errors import UserError
from seesay.questions import SLOT, Question, Task
from seesay.tasks.wording import wording

CONCEPTS = (
    "bouncing", "breaking", "circumference", "directions", "grasping",
    "height", "mass", "rolling", "sliding", "stacking",
)  # fmt: skip
LEXICONS = "lexicons.yml"
MOST_QUESTIONS = 100_000
_LARGEST = 1 << 16
_PLACEHOLDER = re.compile(r"\{(a:)?([a-z_]+?)(\d*)\}")

Lexicons = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One published template: what is said, what is asked, the four options and the rule for the
    right one."""

    name: str
    concept: str
    context: str
    question: str
    example: str
    choices: tuple[str, ...]
    rule: str

    def placeholders(self) -> dict[str, list[str]]:
        """The placeholders by the list that they draw from, in order of appearance."""
        lexicons: dict[str, dict[str, None]] = {}
        for _, lexicon, number in _PLACEHOLDER.findall(
            " ".join((self.context, self.question, *self.choices))
        ):
            lexicons.setdefault(lexicon, {})[f"{lexicon}{number}"] = None
        return {lexicon: list(names) for lexicon, names in lexicons.items()}


def load(data: Path | None = None) -> Task:
    """The task from the published YAML files: a folder that holds them, or the data folder's."""
    if data is not None and data.is_file():
        raise UserError(
            f"{data} is a file: PROST needs the folder that holds {LEXICONS} and the ten concepts."
        )
    lexicons = _lexicons(store.require_file("prost", LEXICONS, data))
    questions: list[Question] = []
    for concept in CONCEPTS:
        for pattern in _patterns(store.require_file("prost", f"{concept}.yml", data), concept):
            questions += expand(pattern, lexicons)
    return Task(
        name="prost",
        version="1",
        title="",
        questions=tuple(questions),
        citation=store.get_dataset("prost").citation,
        licence=store.get_dataset("prost").licence,
        **wording("prost"),
    )


def expand(pattern: Pattern, lexicons: Lexicons) -> Iterator[Question]:
    """Every question of a template: placeholders of one list take different words of it, in every
    order."""
    names = pattern.placeholders()
    if unknown := [lexicon for lexicon in names if lexicon not in lexicons]:
        raise UserError(
            f"PROST's {pattern.name} draws from '{unknown[0]}', which {LEXICONS} does not have."
        )
    total = math.prod(
        math.perm(len(lexicons[lexicon]), len(slots)) for lexicon, slots in names.items()
    )
    if total > MOST_QUESTIONS:
        raise UserError(
            f"PROST's {pattern.name} would have {total:,} questions: this is not the published "
            "file."
        )
    orders = [
        itertools.permutations(lexicons[lexicon], len(slots)) for lexicon, slots in names.items()
    ]
    slots = [slot for group in names.values() for slot in group]
    for number, drawn in enumerate(itertools.product(*orders)):
        words = dict(zip(slots, itertools.chain(*drawn), strict=True))
        options = tuple(_filled(choice, words) for choice in pattern.choices)
        try:
            right = _right(pattern, words, options, lexicons)
        except (LookupError, ValueError):
            raise UserError(
                f"PROST's {pattern.name} does not fit its rule, '{pattern.rule}'."
            ) from None
        before, _, after = capital(_filled(pattern.question, words)).partition(SLOT)
        yield Question(
            id=f"{pattern.name}/{number}",
            fields={
                "context": capital(_filled(pattern.context, words)),
                "before": before,
                "after": after,
                "question": capital(_filled(pattern.example, words)),
            },
            options=options,
            gold={options[right]: 1.0},
            object="|".join(sorted(options)),
            tags={"concept": pattern.concept, "position": "ABCD"[right]},
        )


def _filled(text: str, words: Mapping[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        value = words[f"{match[2]}{match[3]}"]
        return with_article(value) if match[1] else value

    return _PLACEHOLDER.sub(word, text)


def _right(
    pattern: Pattern, words: Mapping[str, str], options: Sequence[str], lexicons: Lexicons
) -> int:
    """The place of the right option."""
    rule = pattern.rule
    if rule.startswith("constant_"):
        return "abcd".index(rule.removeprefix("constant_"))
    if rule == "turning":
        return (
            lexicons["coord"].index(words["coord"]) + lexicons["turn"].index(words["turn"]) + 1
        ) % 4
    lists = [match[2] for choice in pattern.choices if (match := _PLACEHOLDER.fullmatch(choice))]
    if rule == "pick_odd_one_out":
        return [lists.count(lexicon) for lexicon in lists].index(1)
    among = options[:2] if "filtered" in rule else options
    ranks = [lexicons[lists[0]].index(option) for option in among]
    return ranks.index(max(ranks) if rule.endswith("max") else min(ranks))


def _lexicons(path: Path) -> Lexicons:
    value = _yaml(path)
    if not all(
        isinstance(words, list) and all(isinstance(word, str) for word in words)
        for words in value.values()
    ):
        raise UserError(f"{path} is not PROST's lists of words.")
    return {str(name): words for name, words in value.items()}


def _patterns(path: Path, concept: str) -> list[Pattern]:
    configs = _yaml(path).get("configs")
    try:
        return [_pattern(config, concept) for config in configs or ()]
    except (KeyError, TypeError, AttributeError):
        raise UserError(f"{path} is not one of PROST's files of templates.") from None


def _pattern(config: Mapping[str, Any], concept: str) -> Pattern:
    rule = str(config["expect_fn"])
    rules = ("constant_a", "constant_b", "constant_c", "constant_d", "turning", "pick_odd_one_out")
    if rule not in rules and not re.fullmatch(r"pick_ranked_(filtered_)?(max|min)", rule):
        raise UserError(f"PROST's {config['name']} has an unknown rule, '{rule}'.")
    context, question, example = (
        " ".join(str(config[key]).split()) for key in ("context", "question", "ex_question")
    )
    choices = tuple(str(choice) for choice in config["choices"].values())
    if question.count(SLOT) != 1 or len(choices) != 4:
        raise UserError(f"PROST's {config['name']} needs one {SLOT} and four choices.")
    return Pattern(str(config["name"]), concept, context, question, example, choices, rule)


def _yaml(path: Path) -> dict[str, Any]:
    """A small YAML file, read by the safe loader."""
    raw = path.read_bytes()
    try:
        value = yaml.safe_load(raw) if len(raw) <= _LARGEST else None
    except (yaml.YAMLError, RecursionError, ValueError):
        value = None
    if not isinstance(value, dict):
        raise UserError(f"{path} is not one of PROST's files.")
    return value
