"""The base of a study's documents."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

_FILE_KEYS = {
    "option_texts": "wordings",
    "criteria": "rule",
    "excluded": "dropped",
    "judgements_per_item": "judgements_an_item",
}


class FrozenModel(BaseModel):
    """A document that never changes. Files keep the field names of earlier versions (`_FILE_KEYS`)."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, alias_generator=lambda name: _FILE_KEYS.get(name, name)
    )

    def to_json(self, indent: int | None = None) -> str:
        return self.model_dump_json(indent=indent, by_alias=True)
