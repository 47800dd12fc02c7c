"""The base of what is read from files and written to them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """A document, or a part of one: it never changes, and has no fields but those that are
    declared.

    The docstring under a field is its description in the schema.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
