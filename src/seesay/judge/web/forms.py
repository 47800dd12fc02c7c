"""The answers in a form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from seesay.judge.items import ItemAnswer
from seesay.judge.study import Study

_FIELD = re.compile(r"(v|ok|t|o[0-9]{1,2}-)([1-9][0-9]{0,3})")
"""What a field holds (value, box, text, an option) and the place of its item."""


def read_answers(study: Study, form: Mapping[str, str]) -> dict[int, ItemAnswer]:
    """Return the answers in a form, by the places of their items."""
    fields: dict[int, dict[str, str]] = {}
    for name, value in form.items():
        match = _FIELD.fullmatch(name)
        if match:
            part = match[1].rstrip("-")
            place = int(match[2])
            fields.setdefault(place, {})[part] = value
    # All items of a study are of one kind.
    read_item = study.items[0].read_form
    answers = {}
    for place, item_fields in fields.items():
        answer = read_item(item_fields)
        if answer is not None:
            answers[place] = answer
    return answers
