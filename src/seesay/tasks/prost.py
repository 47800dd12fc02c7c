"""PROST: ten concepts of physical reasoning about objects (Aroca-Ouellette et al. 2021).

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
from seesay.questions import SLOT, Provenance, Question, Task
from seesay.tasks.template_files import read_template_file

CONCEPTS = (
    "bouncing", "breaking", "circumference", "directions", "grasping",
    "height", "mass", "rolling", "sliding", "stacking",
)  # fmt: skip
RULES = (
    "constant_a",
    "constant_b",
    "constant_c",
    "constant_d",
    "turning",
    "pick_odd_one_out",
)
LEXICONS = "lexicons.yml"
MOST_QUESTIONS = 100_000
_LARGEST = 1 << 16
_PLACEHOLDER = re.compile(r"\{(a:)?([a-z_]+?)(\d*)\}")

Lexicons = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One published template: what is said and asked, the four options, and the rule for gold."""

    name: str
    concept: str
    context: str
    question: str
    example: str
    choices: tuple[str, ...]
    rule: str

    def placeholders(self) -> dict[str, list[str]]:
        """Return the placeholders by the list that they draw from, in order of appearance."""
        text = " ".join((self.context, self.question, *self.choices))
        names: dict[str, dict[str, None]] = {}
        for _, lexicon, number in _PLACEHOLDER.findall(text):
            names.setdefault(lexicon, {})[f"{lexicon}{number}"] = None
        return {lexicon: list(slots) for lexicon, slots in names.items()}


def load(data: Path | None = None) -> Task:
    """Load the task from the published YAML files: of a folder, or of the data folder."""
    if data is not None and data.is_file():
        raise UserError(
            f"{data} is a file: PROST needs the folder that holds {LEXICONS} and the ten concepts."
        )
    lexicons = _read_lexicons(store.require_file("prost", LEXICONS, data))
    questions: list[Question] = []
    for concept in CONCEPTS:
        path = store.require_file("prost", f"{concept}.yml", data)
        for pattern in _read_patterns(path, concept):
            questions += expand(pattern, lexicons)
    dataset = store.get_dataset("prost")
    return Task(
        name="prost",
        version="1",
        title="",
        questions=tuple(questions),
        provenance=Provenance(licence=dataset.licence, citation=dataset.citation),
        **read_template_file("prost"),
    )


def expand(pattern: Pattern, lexicons: Lexicons) -> Iterator[Question]:
    """Yield every question of a template.

    Placeholders of one list take different words of it, in every order.

    Every order of the words is a question of its own, so that no place among the options is right
    more often.
    """
    placeholders = pattern.placeholders()
    unknown = [lexicon for lexicon in placeholders if lexicon not in lexicons]
    if unknown:
        raise UserError(
            f"PROST's {pattern.name} draws from '{unknown[0]}', which {LEXICONS} does not have."
        )
    # Counted before anything is expanded: a long list would make billions of permutations.
    counts = [math.perm(len(lexicons[name]), len(slots)) for name, slots in placeholders.items()]
    total = math.prod(counts)
    if total > MOST_QUESTIONS:
        raise UserError(
            f"PROST's {pattern.name} would have {total:,} questions: this is not the published "
            "file."
        )
    orders = [
        itertools.permutations(lexicons[name], len(slots)) for name, slots in placeholders.items()
    ]
    # One word per slot, lists side by side, in the order of the permutations below.
    slots = list(itertools.chain(*placeholders.values()))
    for number, word_groups in enumerate(itertools.product(*orders)):
        words = dict(zip(slots, itertools.chain(*word_groups), strict=True))
        yield _build_question(pattern, number, words, lexicons)


def _build_question(
    pattern: Pattern,
    number: int,
    words: Mapping[str, str],
    lexicons: Lexicons,
) -> Question:
    """Build the question of a template with these words in its placeholders."""
    options = tuple(_fill(choice, words) for choice in pattern.choices)
    try:
        gold_place = _gold_place(pattern, words, options, lexicons)
    except (LookupError, ValueError):
        raise UserError(
            f"PROST's {pattern.name} does not fit its rule, '{pattern.rule}'."
        ) from None
    before, _, after = capital(_fill(pattern.question, words)).partition(SLOT)
    return Question(
        id=f"{pattern.name}/{number}",
        fields={
            "context": capital(_fill(pattern.context, words)),
            "before": before,
            "after": after,
            "question": capital(_fill(pattern.example, words)),
        },
        options=options,
        gold={options[gold_place]: 1.0},
        object="|".join(sorted(options)),
        tags={"concept": pattern.concept, "position": "ABCD"[gold_place]},
    )


def _fill(text: str, words: Mapping[str, str]) -> str:
    """Put words into the placeholders of a text, with an article where `{a:…}` asks for one."""

    def word(match: re.Match[str]) -> str:
        article_mark, lexicon, number = match.groups()
        value = words[f"{lexicon}{number}"]
        if article_mark:
            value = with_article(value)
        return value

    return _PLACEHOLDER.sub(word, text)


def _gold_place(
    pattern: Pattern,
    words: Mapping[str, str],
    options: Sequence[str],
    lexicons: Lexicons,
) -> int:
    """Return the place of the right option, by the published rules (`expect_fn`).

    A rule that does not fit its options raises LookupError or ValueError.
    """
    rule = pattern.rule
    if rule.startswith("constant_"):
        return "abcd".index(rule.removeprefix("constant_"))
    if rule == "turning":
        # Directions are listed clockwise, and turns as a quarter, a half and three quarters.
        start = lexicons["coord"].index(words["coord"])
        turn = lexicons["turn"].index(words["turn"])
        return (start + turn + 1) % 4
    matches = [_PLACEHOLDER.fullmatch(choice) for choice in pattern.choices]
    option_lexicons = [match[2] for match in matches if match]
    if rule == "pick_odd_one_out":
        # Three options are of one list, and one is of another.
        return [option_lexicons.count(lexicon) for lexicon in option_lexicons].index(1)
    # The order of a list is the order of its things in the world, such as by their mass.
    candidates = options[:2] if "filtered" in rule else options
    lexicon = lexicons[option_lexicons[0]]
    ranks = [lexicon.index(option) for option in candidates]
    if rule.endswith("max"):
        return ranks.index(max(ranks))
    return ranks.index(min(ranks))


def _read_lexicons(path: Path) -> Lexicons:
    """Read the lists of words, whose order says which thing has more of a property."""
    lexicons: dict[str, Sequence[str]] = {}
    for name, words in _read_yaml(path).items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise UserError(f"{path} is not PROST's lists of words.")
        lexicons[str(name)] = words
    return lexicons


def _read_patterns(path: Path, concept: str) -> list[Pattern]:
    """Read the templates of one concept."""
    configs = _read_yaml(path).get("configs")
    try:
        return [_pattern(config, concept) for config in configs or ()]
    except (KeyError, TypeError, AttributeError):
        raise UserError(f"{path} is not one of PROST's files of templates.") from None


def _pattern(config: Mapping[str, Any], concept: str) -> Pattern:
    """Parse one template, which must have a rule that is known."""
    rule = str(config["expect_fn"])
    if rule not in RULES and not re.fullmatch(r"pick_ranked_(filtered_)?(max|min)", rule):
        raise UserError(f"PROST's {config['name']} has an unknown rule, '{rule}'.")
    pattern = Pattern(
        name=str(config["name"]),
        concept=concept,
        context=_on_one_line(config["context"]),
        question=_on_one_line(config["question"]),
        example=_on_one_line(config["ex_question"]),
        choices=tuple(str(choice) for choice in config["choices"].values()),
        rule=rule,
    )
    if pattern.question.count(SLOT) != 1 or len(pattern.choices) != 4:
        raise UserError(f"PROST's {pattern.name} needs one {SLOT} and four choices.")
    return pattern


def _on_one_line(text: object) -> str:
    """Return a text of YAML without its line breaks."""
    return " ".join(str(text).split())


def _read_yaml(path: Path) -> dict[str, Any]:
    """Read a small YAML file with the safe loader."""
    # The published files are a few kilobytes; aliases would make a larger one huge.
    if path.stat().st_size > _LARGEST:
        raise UserError(f"{path} is not one of PROST's files.")
    raw = path.read_bytes()
    try:
        value = yaml.safe_load(raw)
    except (yaml.YAMLError, RecursionError, ValueError):
        value = None
    if not isinstance(value, dict):
        raise UserError(f"{path} is not one of PROST's files.")
    return value
