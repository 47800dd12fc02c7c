"""Numbers of things in words."""

from __future__ import annotations

from seesay.quantities import quantity


def test_one_thing_is_singular_and_any_other_number_plural() -> None:
    assert [quantity(n, "query", "queries") for n in (0, 1, 2000)] == [
        "0 queries",
        "1 query",
        "2,000 queries",
    ]
    assert [quantity(n, "model") for n in (1, 2)] == ["1 model", "2 models"]
