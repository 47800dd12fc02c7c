"""What ViPhy's paper shows, as numbers: the values behind its figures are in the authors' notebooks.

Tables 3 to 6 are with the tasks (`seesay.tasks.viphy`). Everything is in percent, as printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from seesay.questions import Published
from seesay.reports.pages.sections import DataTable

LANGUAGE = ("BERT-base", "RoBERTa-large", "UnifiedQA-large", "DeBERTa-xxl")
VISION = ("VisualBERT", "ViLT", "FLAVA", "CLIP")

KAPPA = {"size": 0.85, "space": 0.78}
"""Fleiss' kappa of the answers behind the human rows, as printed; the answers themselves are not published."""

CARDINALITY: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "BERT": ((48.60, 67.08, 81.45, 84.09, 86.07, 89.19, 90.02), (25.45, 42.91, 56.51, 64.65, 69.39, 76.95, 77.22)),
    "FLAVA": ((63.61, 77.93, 85.91, 87.04, 88.89, 95.95, 91.30), (33.40, 48.49, 60.35, 67.27, 71.90, 80.60, 77.61)),
    "CLIP": ((70.47, 81.21, 87.49, 89.19, 87.56, 91.89, 89.00), (47.95, 58.66, 67.97, 74.00, 76.92, 83.46, 79.77)),
    "people (CoDa)": ((96.46, 96.74, 100, 98.61, 100, 100), (75.69, 77.02, 83.76, 83.57, 83.04, 92.81)),
}
"""Figure 5: relaxed accuracy and confidence for 1, 2, … typical colours (vis/color_cardinality_results.ipynb)."""

CODA_CARDINALITY = (176, 89, 61, 87, 15, 4)
"""Figures 10 and 11: how many of CoDa's 432 shared objects have 1, 2, … typical colours (the same notebook)."""

CATEGORY: Mapping[str, tuple[float, float]] = {
    "animal": (58.42, 78.71), "animal body": (65.76, 77.42), "bathroom": (73.33, 84.67), "clothing": (70.00, 85.47),
    "construction": (73.17, 82.93), "electronics": (69.83, 75.53), "food": (56.40, 83.91), "furniture": (73.96, 85.03),
    "human body": (55.95, 70.24), "kitchenware": (64.38, 80.00), "miscellaneous": (66.90, 75.44),
    "nature": (61.34, 79.17), "person": (72.76, 75.96), "sports equipment": (66.70, 79.36), "street": (64.29, 80.10),
    "utility items": (64.97, 71.97), "vehicle": (70.56, 80.34),
}  # fmt: skip
"""Figure 6: relaxed accuracy of BERT and CLIP (extra/err_category.ipynb)."""

FEW_SHOT: Mapping[str, Mapping[str, Sequence[float]]] = {
    "viphy-color": {
        "CapBERT": (50.05, 49.12, 55.56, 55.58, 56.53), "BERT": (55.56, 56.01, 55.96, 55.96, 56.08),
        "RoBERTa": (43.53, 53.53, 55.95, 55.95, 55.95), "DeBERTa": (55.95, 55.95, 55.95, 55.95, 55.95),
        "ViLT": (54.06, 49.81, 54.86, 54.90, 49.81), "FLAVA": (41.98, 53.12, 56.69, 56.58, 56.61),
        "CLIP": (43.32, 55.33, 53.62, 56.79, 57.82),
    },
    "viphy-size": {
        "CapBERT": (62.39, 64.23, 68.16, 71.70, 70.57), "BERT": (57.80, 56.03, 59.04, 60.67, 56.12),
        "RoBERTa": (50.43, 49.79, 50.19, 49.81, 55.53), "DeBERTa": (50.19, 49.81, 49.81, 50.19, 50.19),
        "ViLT": (49.09, 54.75, 51.04, 60.21, 56.87), "FLAVA": (53.34, 57.68, 60.01, 63.82, 64.64),
        "CLIP": (49.78, 54.05, 55.02, 56.62, 57.17),
    },
}  # fmt: skip
"""Figures 8 and 9: one epoch on 20, 40, 60, 80 and 100 % of the training questions (vis/few_shot_curves.ipynb)."""
FEW_SHOT_FRACTIONS = (0.2, 0.4, 0.6, 0.8, 1.0)

SCENE: Mapping[str, tuple[float, float, float]] = {
    "bathroom": (53.24, 57.17, 61.26), "bedroom": (63.08, 66.28, 75.58), "kitchen": (67.49, 66.78, 70.03),
    "living room": (71.29, 72.05, 73.19), "office": (50.89, 49.11, 50.00),
}  # fmt: skip
"""Figure 13: relaxed accuracy of ViLT, BERT and CapBERT on places (extra/err_spatial.ipynb)."""

OBJECTS = (
    "tooth", "skull", "napkin", "towel", "coal", "grass", "snow", "moon", "blue sky", "broccoli", "tomato",
    "green pepper", "carrot", "asparagus", "strawberry", "blueberry", "mayonnaise", "marshmallow", "chocolate sauce",
    "wedding cake", "tennis ball", "football", "cab", "yacht", "school bus", "car tire", "coin slot", "faucet",
    "toilet tissue", "sunglasses", "sand", "fork", "spoon", "butter knife", "kitchen sink", "sunflower", "sink",
    "pigeon", "zebra", "giraffe", "road", "cone", "cloud", "coconut", "egg", "cheese", "bread", "banana", "onion",
    "sauce", "laptop", "camera", "earphone", "television", "cellular telephone", "baseball glove", "soccer ball",
    "bear", "cat", "horse", "bull", "beard", "mouse", "brick", "clock", "frisbee", "bicycle seat", "street sign",
    "suit", "flag", "rug", "pillow", "dress", "skirt", "shirt", "bow tie", "cup", "cake", "car", "chair", "flower",
    "bird", "bicycle", "doughnut", "glove", "bag", "kite", "surfboard", "watchband", "pen",
)  # fmt: skip
"""Figure 16: its 90 objects (results/col_90.json of an earlier state of the authors' repository)."""
NOT_RELEASED: Mapping[str, Mapping[str, float]] = {
    "blue sky": {"blue": 1.0},
    "green pepper": {"green": 1.0},
    "blueberry": {"blue": 0.6323, "black": 0.3677},
    "sunglasses": {"black": 1.0},
    "cellular telephone": {"black": 1.0},
}
"""The five of them that the released table does not have, with their shares in that earlier file."""


def percent(value: float | None) -> str | None:
    """A share as the paper prints it.

    >>> percent(0.70452), percent(None)
    ('70.45', None)
    """
    return None if value is None else f"{100 * value:.2f}"


def with_averages(rows: Sequence[Published], metrics: Mapping[str, str], title: str) -> DataTable:
    """Published rows as the paper prints them, one line per model, and the means of `LANGUAGE` and `VISION` models.

    `metrics` maps the metrics to their column heads.
    """
    by_model: dict[str, dict[str, float]] = {}
    for row in rows:
        by_model.setdefault(row.model, {}).setdefault(row.metric, row.value)
    lines = [[model, *(percent(values.get(metric)) for metric in metrics)] for model, values in by_model.items()]
    for name, members in (("mean of language models", LANGUAGE), ("mean of vision-language models", VISION)):
        present = [by_model[model] for model in members if model in by_model]
        if len(present) == len(members):
            means = []
            for metric in metrics:
                values = [row[metric] for row in present if metric in row]
                means.append(percent(fmean(values)) if values else None)
            lines.append([name, *means])
    return DataTable(["published, in percent", *metrics.values()], lines, title)
