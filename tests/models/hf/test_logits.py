"""Logits are read at the positions that are needed."""

from __future__ import annotations

import pytest
import torch

from seesay.models.hf.logits import CACHED_ROWS, normalisers


@pytest.mark.parametrize("rows", [0, 1, CACHED_ROWS, 3 * CACHED_ROWS + 5])
def test_normalisers_are_those_of_all_rows_at_once(rows: int) -> None:
    torch.manual_seed(0)
    logits = torch.randn(rows, 300) * 5
    assert torch.equal(normalisers(logits), logits.logsumexp(-1))
