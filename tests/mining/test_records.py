"""Pictures survive the way through Arrow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seesay.mining.records import Picture, Region, from_batch, to_batch

SIDE = st.floats(0, 1e4, allow_nan=False)
REGIONS = st.builds(
    Region,
    st.text(max_size=9),
    st.tuples(SIDE, SIDE, SIDE, SIDE),
    st.lists(SIDE, max_size=6).map(tuple),
)
PICTURES = st.builds(
    Picture,
    st.text(min_size=1, max_size=9),
    st.integers(1, 9999),
    st.integers(1, 9999),
    st.lists(REGIONS, max_size=3).map(tuple),
    st.lists(st.text(max_size=9), max_size=2).map(tuple),
    st.text(max_size=5),
)


@given(st.lists(PICTURES, max_size=4))
def test_round_trip(pictures: list[Picture]) -> None:
    assert list(from_batch(to_batch(pictures))) == pictures
