"""What a model is raised on: dials of the texts, by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator

from seesay.documents import Document
from seesay.errors import UserError
from seesay.files import damage_as_user_error
from seesay.registry import did_you_mean

DOSES = (0, 1, 2, 4, 8, 16, 32, 64)
MOST = 1024
"""The largest dose."""

Share = Annotated[float, Field(ge=0, le=1)]


class Diet(Document):
    """How texts report a world; a dial that is not given has its default."""

    name: str
    """What tables call the diet."""

    typical: Share = 1.0
    """How often the colour of a thing is mentioned where it is typical of its kind."""

    other: Share = 1.0
    """How often the colour is mentioned where it is not typical."""

    doses: tuple[Annotated[int, Field(ge=0, le=MOST)], ...] = DOSES
    """How often kinds are met: each kind has one of these doses, all of them equally often."""

    contradiction: Share = 0.0
    """The share of the kinds whose pictures show another colour than texts state."""

    indirect: Share = 0.5
    """The share of the members of a family of one colour that are never met themselves: what there
    is to know of them is to be learnt from their relatives."""

    @field_validator("doses")
    @classmethod
    def _validate_doses(cls, doses: tuple[int, ...]) -> tuple[int, ...]:
        if not doses or len(set(doses)) < len(doses):
            raise ValueError("give each dose once, as in 0,1,2,4")
        return tuple(sorted(doses))

    @property
    def dials(self) -> dict[str, str]:
        """The dials in words, for tables."""
        shares = self.model_dump(exclude={"name"})
        dials = {name: f"{shares[name]:g}" for name in shares if name != "doses"}
        # in the order in which they are declared
        return {**shares, **dials, "doses": f"{self.doses[0]} to {self.doses[-1]}"}


DIETS = (
    Diet(name="all-said"),
    Diet(name="half-said", typical=0.5),
    Diet(name="rarely-said", typical=0.1),
    Diet(name="full-bias", typical=0.0),
    Diet(name="silent", typical=0.0, other=0.0),
    Diet(name="contradicted", contradiction=0.5),
)
"""From texts that mention every colour to texts that mention none, and texts that are wrong."""


def make_diet(dials: Mapping[str, Any]) -> Diet:
    """Make a diet of its dials; one that does not exist, or stands where it cannot, is refused."""
    for dial in dials:
        _refuse_unknown("A diet has no dial", dial, "The dials are", Diet.model_fields)
    try:
        return Diet.model_validate(dict(dials))
    except ValidationError as error:
        problem = error.errors()[0]
        dial = str(problem["loc"][0])
        raise UserError(
            f"The dial '{dial}' of the diet '{dials.get('name', '')}' cannot be "
            f"{dials.get(dial)!r}: {problem['msg']}."
        ) from None


def read_diets(path: Path) -> list[Diet]:
    """Read diets from a YAML or JSON file: a list of dials by name."""
    import yaml

    with damage_as_user_error(f"The diets in {path}", "give a list of diets, each with its name"):
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("it is no list of diets")
    return [make_diet(row) for row in rows]


def choose_diets(names: Collection[str], known: Iterable[Diet] = DIETS) -> list[Diet]:
    """Return diets by name, each once."""
    diets = {diet.name: diet for diet in known}
    for name in names:
        _refuse_unknown("There is no diet", name, "There are", diets)
    return [diets[name] for name in dict.fromkeys(names)]


def _refuse_unknown(problem: str, name: str, listing: str, known: Collection[str]) -> None:
    """Refuse a name that nobody has, with the nearest one and all others."""
    if name not in known:
        raise UserError(
            f"{problem} '{name}'{did_you_mean(name, known)}. {listing} {', '.join(known)}."
        )
