"""The answers in a form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from seesay.judge.items import ItemAnswer
from seesay.judge.study import Study

_FIELD = re.compile(r"(v|ok|t|o[0-9]{1,2}-)([1-9][0-9]{0,3})")


def read_answers(study: Study, form: Mapping[str, str]) -> dict[int, ItemAnswer]:
    """The answers in a form, by the places of their items."""
    fields: dict[int, dict[str, str]] = {}
    for name, value in form.items():
        if match := _FIELD.fullmatch(name):
            fields.setdefault(int(match[2]), {})[match[1].rstrip("-")] = value
    answers = {
        place: study.items[0].read_form(item_fields) for place, item_fields in fields.items()
    }
    return {place: answer for place, answer in answers.items() if answer is not None}
