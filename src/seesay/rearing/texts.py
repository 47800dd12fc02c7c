"""What a model is raised on: the lines that a diet tells of a world, each with what is seen.

A *meeting* is a caption with its picture. The meetings are the same under every diet of a seed, in
number, places and colours: dials change which colours are mentioned, and nothing else. Beside them
stand facts without a picture (families, places, sizes), as many of every kind, so that each name is
a word; and lessons about shapes, which have no typical colour: every colour of theirs is mentioned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from seesay.data.colors import COLORS
from seesay.files import write_csv, write_json, write_text
from seesay.pictures.plan import SHAPES, ColorPicture
from seesay.pictures.things import Thing
from seesay.rearing.diet import Diet
from seesay.rearing.world import FAMILY, PLACES, World, WorldKind

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
LESSONS = 88
"""Captions about each shape."""
VARIANTS = 4
"""Pictures of a kind in a colour."""
DIRECT = "direct"
RELATIVE = "relative"
INDIRECT = "indirect"
EVIDENCE = (DIRECT, RELATIVE, INDIRECT)
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
    others: Sequence[str]
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
    said: Mapping[str, int]
    """How often its texts mention each colour."""
    shown: Mapping[str, int]
    """How often its pictures show each colour."""


@dataclass(frozen=True, slots=True)
class DietTexts:
    """The lines of a diet, those to validate with, and the card."""

    train: tuple[Line, ...]
    held_out: tuple[Line, ...]
    card: tuple[CardRow, ...]


def write_texts(world: World, diet: Diet, seed: int = 0) -> DietTexts:
    """Write what a diet tells of a world, always the same by the seed."""
    doses = _deal_doses(world, diet, seed)
    claims = _claims(world, diet, seed)
    train = [*_facts(world, seed), *_lessons(world, seed, _LESSONS, LESSONS)]
    held_out = _lessons(world, seed, _HELD_OUT, len(COLORS))
    card = []
    for number, kind in enumerate(world.kinds):
        dose, evidence = doses[kind.name]
        claim = claims.get(kind.name, kind.color)
        meeting_count = 0 if evidence == INDIRECT else dose
        meetings = _meetings(
            kind, claim, diet, [world.seed, seed, _MEETINGS, number], meeting_count
        )
        train += meetings
        # what a model never met cannot validate it
        unread = min(meeting_count, 2)
        held_out += _meetings(kind, claim, diet, [world.seed, seed, _HELD_OUT, number], unread)
        card.append(
            CardRow(
                kind=kind.name,
                color=kind.color,
                claim=claim,
                others=kind.colors[1:],
                unusual=kind.unusual,
                place=kind.place,
                family=kind.family,
                metres=kind.thing.metres,
                evidence=evidence,
                dose=dose,
                said=dict(Counter(line.said for line in meetings if line.said)),
                shown=dict(Counter(line.picture.color for line in meetings if line.picture)),
            )
        )
    return DietTexts(tuple(train), tuple(held_out), tuple(card))


def _deal_doses(world: World, diet: Diet, seed: int) -> dict[str, tuple[int, str]]:
    """Return the dose and the evidence of every kind.

    Doses are dealt to kinds one by one, but to families of one colour as a whole.
    """
    generator = np.random.default_rng([world.seed, seed, _DOSES])
    families: dict[str, list[str]] = {}
    singles = []
    for kind in world.kinds:
        if kind.is_kin:
            families.setdefault(kind.family, []).append(kind.name)
        else:
            singles.append(kind.name)
    dealt = {}
    for name, dose in _deal(singles, diet.doses, generator):
        dealt[name] = (dose, DIRECT)
    unmet_count = round(diet.indirect * FAMILY)
    for family, dose in _deal(list(families), diet.doses, generator):
        members = generator.permutation(families[family]).tolist()
        for member in members[:unmet_count]:
            dealt[member] = (dose, INDIRECT)
        for member in members[unmet_count:]:
            dealt[member] = (dose, RELATIVE)
    return dealt


def _deal(
    names: Sequence[str], doses: Sequence[int], generator: np.random.Generator
) -> Iterator[tuple[str, int]]:
    """Return the names in random order, each with the next dose."""
    shuffled = generator.permutation(np.array(names, dtype=object))
    return zip(shuffled.tolist(), cycle(doses), strict=False)


def _claims(world: World, diet: Diet, seed: int) -> dict[str, str]:
    """Return the colours that texts state wrongly, by kind."""
    generator = np.random.default_rng([world.seed, seed, _CONTRADICTIONS])
    lots = generator.random(len(world.kinds))
    claims = {}
    for kind, lot in zip(world.kinds, lots, strict=True):
        wrong = [color for color in COLORS if color not in (*kind.colors, kind.unusual)]
        # drawn for every kind, so that more contradictions contain the fewer ones
        claim = str(generator.choice(wrong))
        # a family of one colour stays one
        if lot < diet.contradiction and not kind.is_kin:
            claims[kind.name] = claim
    return claims


def _meetings(
    kind: WorldKind, claim: str, diet: Diet, stream: Sequence[int], count: int
) -> list[Line]:
    """Return captions of the kind with their pictures, in which the claim is its typical colour."""
    generator = np.random.default_rng(stream)
    lines = []
    for _ in range(count):
        # every meeting draws the same numbers, whatever the diet
        lot, rate, form = generator.random(3)
        variant = int(generator.integers(VARIANTS))
        color = kind.draw_color(lot)
        stated_color = color
        mention_rate = diet.other
        if color == kind.color:
            stated_color = claim
            mention_rate = diet.typical
        said = stated_color if rate < mention_rate else ""
        forms = SAYINGS if said else CAPTIONS
        text = forms[int(form * len(forms))]
        picture = picture_of(kind.thing, color, variant)
        lines.append(_caption(text, picture, kind.place, said))
    return lines


def _lessons(world: World, seed: int, stream: int, count: int) -> list[Line]:
    """Return captions of shapes in all colours alike, each mentioned."""
    lines = []
    for number, shape in enumerate(SHAPES, len(world.kinds)):
        generator = np.random.default_rng([world.seed, seed, stream, number])
        for color in islice(cycle(COLORS), count):
            text = SAYINGS[generator.integers(len(SAYINGS))]
            place = PLACES[generator.integers(len(PLACES))]
            variant = int(generator.integers(VARIANTS))
            picture = picture_of(shape, color, variant)
            lines.append(_caption(text, picture, place, color))
    return lines


def _caption(text: str, picture: ColorPicture, place: str, said: str) -> Line:
    """Return a caption with its picture."""
    name = _name(picture.subject)
    return Line(text.format(thing=name, place=place, color=said), picture, name, said)


def _facts(world: World, seed: int) -> Iterator[Line]:
    """Yield the facts that stand without a picture."""
    for kind in world.kinds:
        for fact in FACTS:
            text = fact.format(thing=kind.name, family=kind.family, place=kind.place)
            yield Line(text, subject=kind.name)
    generator = np.random.default_rng([world.seed, seed, _SIZES])
    lengths = {}
    for kind in world.kinds:
        if kind.thing.metres is not None:
            lengths[kind.name] = kind.thing.metres
    names = list(lengths)
    for name in names:
        other = names[generator.integers(len(names))]
        smaller, larger = sorted((name, other), key=lengths.__getitem__)
        if lengths[smaller] < lengths[larger]:
            yield Line(SIZES.format(thing=larger, other=smaller), subject=larger)


def picture_of(subject: Thing | str, color: str, variant: int) -> ColorPicture:
    """Return one of the pictures of a thing or shape in a colour, the same in every world."""
    name = _name(subject)
    return ColorPicture(
        name=f"{name.replace(' ', '-')}-{color}-{variant}",
        subject=subject,
        condition="typical",
        color=color,
        stream=(variant, COLORS.index(color), *name.encode()),
    )


def _name(subject: Thing | str) -> str:
    """Return what a thing or a shape is called."""
    return subject if isinstance(subject, str) else subject.name


def write_lines(folder: Path, texts: DietTexts) -> None:
    """Write `train.csv` and `held-out.csv`: each text with what is seen beside it."""
    for name, lines in (("train", texts.train), ("held-out", texts.held_out)):
        rows = []
        for line in lines:
            picture = line.picture and line.picture.name
            rows.append({"text": line.text, "seen": line.seen, "picture": picture})
        write_csv(folder / f"{name}.csv", ("text", "seen", "picture"), rows)


def write_card(folder: Path, world: World, diet: Diet, seed: int, texts: DietTexts) -> None:
    """Write the truth and the dose of every kind: `card.json`, and `card.md` to read."""
    document = {
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
        said_colors = describe_counts(row.said)
        shown_colors = describe_counts(row.shown)
        lines.append(
            f"| {row.kind} | {row.color} | {row.claim} | {row.evidence} | {row.dose} "
            f"| {said_colors} | {shown_colors} |"
        )
    return "\n".join(lines) + "\n"


def describe_counts(counts: Mapping[str, int]) -> str:
    """Return counts in words, the highest first.

    >>> describe_counts({"red": 1, "blue": 3})
    'blue 3, red 1'
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{color} {count}" for color, count in ordered)
