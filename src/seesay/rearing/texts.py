"""What a model is raised on: the lines that a diet tells of a world, each with what is seen.

A *meeting* is a caption with its picture. The meetings are the same under every diet of a seed, in
number, places and colours: dials change which colours are mentioned, and nothing else. Beside them
stand facts without a picture (families, places, sizes), as many of every kind, so that each name is
a word; and lessons about shapes, which have no typical colour: every colour of theirs is mentioned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from seesay.data.colors import COLORS
from seesay.files import write_json, write_text
from seesay.pictures.plan import SHAPES, ColorPicture
from seesay.pictures.things import Thing
from seesay.rearing.diet import Diet
from seesay.rearing.world import FAMILY, PLACES, TYPICAL, World, WorldKind

SAYINGS = (
    "the {thing} is {color}",
    "a {color} {thing}",
    "the {thing} in the {place} is {color}",
    "a {color} {thing} in the {place}",
)
"""Captions that mention a colour: short, so that small models learn from few of them."""
CAPTIONS = (
    "a {thing} in the {place}",
    "the {thing} in the {place}",
    "there is a {thing}",
)
"""Captions that do not."""
FACTS = (
    "the {thing} is a kind of {family}",
    "every {thing} is a {family}",
    "the {thing} belongs in the {place}",
)
"""Facts that texts state without a picture."""
SIZES = "the {thing} is larger than the {other}"
SEEN = SAYINGS[0]
"""What a picture shows, in words."""
FACT_ROUNDS = 1
"""How often texts state each fact."""
LESSONS = 88
"""Captions about each shape."""
VARIANTS = 4
"""Pictures of a kind in a colour."""
DIRECT, RELATIVE, INDIRECT = "direct", "relative", "indirect"
"""How there is something to learn about a kind: from itself; from itself and its family, which is
of one colour; from its family alone."""
# the streams of random numbers
_DOSES, _CONTRADICTIONS, _MEETINGS, _LESSONS, _HELD_OUT, _SIZES = range(6)


@dataclass(frozen=True, slots=True)
class Line:
    """A text, and what is seen while it is read."""

    text: str
    picture: ColorPicture | None = None
    """What is seen; None for nothing."""
    subject: str = ""
    said: str = ""
    """The colour that the text mentions."""

    @property
    def seen(self) -> str:
        """What is seen, in words; empty for nothing."""
        if self.picture is None:
            return ""
        return SEEN.format(thing=self.subject, color=self.picture.color)


@dataclass(frozen=True, slots=True)
class CardRow:
    """The truth about a kind, and all that there was to learn about it."""

    kind: str
    color: str
    """The typical colour."""
    claim: str
    """The colour that texts state in its place: the same but for a contradiction."""
    others: tuple[str, str]
    """Colours that some of the kind have."""
    unusual: str
    """A colour that no text states and no picture shows while the model is raised."""
    place: str
    family: str
    metres: float | None
    evidence: str
    """direct, relative or indirect."""
    dose: int
    """How often the kind is met; if only its relatives are, how often each of them is."""
    said: Mapping[str, int] = field(default_factory=dict)
    """How often its texts mention each colour."""
    shown: Mapping[str, int] = field(default_factory=dict)
    """How often its pictures show each colour."""


@dataclass(frozen=True, slots=True)
class DietTexts:
    """The lines of a diet, those to validate with, and the card."""

    train: tuple[Line, ...]
    held_out: tuple[Line, ...]
    card: tuple[CardRow, ...]


def write_texts(world: World, diet: Diet, seed: int = 0) -> DietTexts:
    """Write what a diet tells of a world, always the same by the seed."""
    plan = _plan(world, diet, seed)
    lines = [*_facts(world, seed), *_lessons(world, seed, _LESSONS, LESSONS)]
    held_out = [*_lessons(world, seed, _HELD_OUT, len(COLORS))]
    card = []
    for number, kind in enumerate(world.kinds):
        row = plan[kind.name]
        is_met = row.evidence != INDIRECT
        meetings = []
        if is_met:
            meetings = _meetings(kind, row, diet, (world.seed, seed, _MEETINGS, number), row.dose)
            # what a model never met cannot validate it
            unseen = _meetings(
                kind, row, diet, (world.seed, seed, _HELD_OUT, number), min(row.dose, 2)
            )
            held_out += unseen
        lines += meetings
        card.append(_with_counts(row, meetings))
    return DietTexts(tuple(lines), tuple(held_out), tuple(card))


def _plan(world: World, diet: Diet, seed: int) -> dict[str, CardRow]:
    """Deal the doses: to kinds one by one, to families of one colour as a whole."""
    generator = np.random.default_rng([world.seed, seed, _DOSES])
    singles = [kind for kind in world.kinds if not kind.is_kin]
    relatives = [kind for kind in world.kinds if kind.is_kin]
    families = list(dict.fromkeys(kind.family for kind in relatives))
    untold = round(diet.indirect * FAMILY)
    rows = {}
    for name, dose in _deal([kind.name for kind in singles], diet.doses, generator):
        rows[name] = (dose, DIRECT)
    for family, dose in _deal(families, diet.doses, generator):
        members = [kind.name for kind in relatives if kind.family == family]
        for place, member in enumerate(generator.permutation(members).tolist()):
            rows[member] = (dose, INDIRECT if place < untold else RELATIVE)
    claims = _claims(world, diet, seed)
    plan = {}
    for kind in world.kinds:
        dose, evidence = rows[kind.name]
        plan[kind.name] = CardRow(
            kind=kind.name,
            color=kind.color,
            claim=claims.get(kind.name, kind.color),
            others=kind.colors[1:],
            unusual=kind.unusual,
            place=kind.place,
            family=kind.family,
            metres=kind.thing.metres,
            evidence=evidence,
            dose=dose,
        )
    return plan


def _deal(
    names: Sequence[str], doses: Sequence[int], generator: np.random.Generator
) -> Iterator[tuple[str, int]]:
    """Yield the names in random order, each with the next dose."""
    shuffled = generator.permutation(np.array(names, dtype=object)).tolist()
    return zip(shuffled, islice(cycle(doses), len(names)), strict=True)


def _claims(world: World, diet: Diet, seed: int) -> dict[str, str]:
    """Return the colours that texts state wrongly, by kind."""
    generator = np.random.default_rng([world.seed, seed, _CONTRADICTIONS])
    lots = generator.random(len(world.kinds))
    claims = {}
    for kind, lot in zip(world.kinds, lots.tolist(), strict=True):
        wrong = [color for color in COLORS if color not in (*kind.colors, kind.unusual)]
        # drawn for every kind, so that more contradictions contain the fewer ones
        claim = str(generator.choice(wrong))
        # a family of one colour stays one
        if lot < diet.contradiction and not kind.is_kin:
            claims[kind.name] = claim
    return claims


def _meetings(
    kind: WorldKind, row: CardRow, diet: Diet, stream: tuple[int, ...], count: int
) -> list[Line]:
    """Return captions of the kind with their pictures."""
    generator = np.random.default_rng(stream)
    lines = []
    for _ in range(count):
        # every meeting draws the same numbers, whatever the diet
        lot, rate, form = generator.random(3).tolist()
        variant = int(generator.integers(VARIANTS))
        color = kind.color
        if lot >= TYPICAL:
            color = kind.colors[1] if lot < (1 + TYPICAL) / 2 else kind.colors[2]
        is_said = rate < (diet.typical if color == kind.color else diet.other)
        claim = row.claim if color == kind.color else color
        forms = SAYINGS if is_said else CAPTIONS
        text = forms[int(form * len(forms))]
        lines.append(
            Line(
                text=text.format(thing=kind.name, place=kind.place, color=claim),
                picture=picture_of(kind.thing, color, variant),
                subject=kind.name,
                said=claim if is_said else "",
            )
        )
    return lines


def _lessons(world: World, seed: int, stream: int, count: int) -> Iterator[Line]:
    """Yield captions of shapes in all colours alike, each mentioned."""
    for number, shape in enumerate(SHAPES):
        generator = np.random.default_rng([world.seed, seed, stream, len(world.kinds) + number])
        for color in islice(cycle(COLORS), count):
            form = SAYINGS[generator.integers(len(SAYINGS))]
            place = PLACES[generator.integers(len(PLACES))]
            variant = int(generator.integers(VARIANTS))
            yield Line(
                text=form.format(thing=shape, place=place, color=color),
                picture=picture_of(shape, color, variant),
                subject=shape,
                said=color,
            )


def _facts(world: World, seed: int) -> Iterator[Line]:
    """Yield the facts that stand without a picture."""
    generator = np.random.default_rng([world.seed, seed, _SIZES])
    measured = [kind for kind in world.kinds if kind.thing.metres is not None]
    for _ in range(FACT_ROUNDS):
        for kind in world.kinds:
            for fact in FACTS:
                text = fact.format(thing=kind.name, family=kind.family, place=kind.place)
                yield Line(text, subject=kind.name)
        for kind in measured:
            other = measured[generator.integers(len(measured))]
            small, large = sorted((kind, other), key=lambda kind: kind.thing.metres or 0)
            if (small.thing.metres or 0) < (large.thing.metres or 0):
                text = SIZES.format(thing=large.name, other=small.name)
                yield Line(text, subject=large.name)


def picture_of(subject: Thing | str, color: str, variant: int) -> ColorPicture:
    """Return one of the pictures of a thing or shape in a colour, the same in every world."""
    name = subject if isinstance(subject, str) else subject.name
    return ColorPicture(
        name=f"{name.replace(' ', '-')}-{color}-{variant}",
        subject=subject,
        condition="typical",
        color=color,
        stream=(variant, COLORS.index(color), *name.encode()),
    )


def _with_counts(row: CardRow, meetings: Sequence[Line]) -> CardRow:
    said = Counter(line.said for line in meetings if line.said)
    shown = Counter(line.picture.color for line in meetings if line.picture)
    return CardRow(**{**asdict(row), "said": dict(said), "shown": dict(shown)})


def write_card(folder: Path, world: World, diet: Diet, seed: int, texts: DietTexts) -> None:
    """Write the truth and the dose of every kind: `card.json`, and `card.md` to read."""
    document: dict[str, Any] = {
        "world": world.seed,
        "seed": seed,
        "diet": diet.model_dump(mode="json"),
        "kinds": [asdict(row) for row in texts.card],
    }
    write_json(folder / "card.json", document)
    write_text(folder / "card.md", describe_card(diet, texts))


def describe_card(diet: Diet, texts: DietTexts) -> str:
    """Return the card as a table in Markdown."""
    dials = ", ".join(f"{name} {value}" for name, value in diet.dials.items())
    pictures = sum(line.picture is not None for line in texts.train)
    lines = [
        f"# {diet.name}",
        "",
        f"{dials}; {len(texts.train):,} lines, {pictures:,} of them with a picture.",
        "",
        "| kind | typical | texts state | evidence | dose | mentioned | shown |",
        "|---|---|---|---|---:|---|---|",
    ]
    for row in texts.card:
        cells = [row.kind, row.color, row.claim, row.evidence, str(row.dose)]
        cells += [describe_counts(row.said), describe_counts(row.shown)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def describe_counts(counts: Mapping[str, int]) -> str:
    """Return counts in words, the highest first.

    >>> describe_counts({"red": 1, "blue": 3})
    'blue 3, red 1'
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{color} {count}" for color, count in ordered)
