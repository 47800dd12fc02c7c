"""The base of a study's documents."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A document that never changes and has no fields but those that are declared."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
