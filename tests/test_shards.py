from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.errors import UserError
from seesay.shards import Shard, parse_shard


@given(st.lists(st.integers()), st.integers(1, 9))
def test_shares_are_all_of_the_work_once(items: list[int], count: int) -> None:
    shares = [Shard(number, count).take(items) for number in range(1, count + 1)]
    assert sorted(item for share in shares for item in share) == sorted(items)
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("2", {}),
        ("0/4", {}),
        ("5/4", {}),
        ("1/0", {}),
        ("-1/4", {}),
        ("a/b", {}),
        ("", {}),
        ("auto", {}),
        ("auto", {"JOB_COMPLETION_INDEX": "0"}),  # Kubernetes does not say how many there are
        ("auto", {"SLURM_ARRAY_TASK_ID": "x", "SLURM_ARRAY_TASK_COUNT": "3"}),
        # an array with steps: 0, 2, 4
        (
            "auto",
            {
                "SLURM_ARRAY_TASK_ID": "4",
                "SLURM_ARRAY_TASK_MIN": "0",
                "SLURM_ARRAY_TASK_COUNT": "3",
            },
        ),
    ],
)
def test_no_share(text: str, environment: dict[str, str]) -> None:
    with pytest.raises(UserError, match="--shard is"):
        parse_shard(text, environment)
