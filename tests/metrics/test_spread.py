"""The spread over templates beside the published standard deviations."""

from __future__ import annotations

import csv
from collections import defaultdict

import pytest
from tests.shared_data import shared

from seesay.metrics import spread

# Hagström & Johansson 2022, Memory Colors: mean and standard deviation over 13 templates.
PUBLISHED = {
    "clip-bert-explicit": (0.882, 0.066),
    "bert-base-trained-lxmert": (0.761, 0.028),
    "clip-bert-implicit": (0.741, 0.068),
    "bert-base-trained": (0.724, 0.112),
    "bert-base-trained-lxmert-scratch": (0.690, 0.039),
    "lxmert-base-uncased": (0.495, 0.094),
    "visualbert-vqa-coco": (0.275, 0.075),
    "bert-base-uncased": (0.252, 0.102),
}


def test_published_spreads() -> None:
    values: dict[str, list[float]] = defaultdict(list)
    with shared("memory_colors/results.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values[row["model"]].append(float(row["accuracy"]))
    ours = {model: (sum(row) / len(row), spread(row)) for model, row in values.items()}
    assert ours.keys() == PUBLISHED.keys()
    for model, (mean, deviation) in PUBLISHED.items():
        assert ours[model] == pytest.approx((mean, deviation), abs=0.00051), model


def test_one_template_has_no_spread() -> None:
    assert spread([0.5]) is None
