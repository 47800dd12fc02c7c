"""The logit lens (nostalgebraist 2020): what the head makes of each layer, and where the right
answer takes over.

The scores of every layer are kept in the run's folder as they come: a killed run continues where it
stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.models.base import Model
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.progress import ProgressCallback
from seesay.questions import Answer, Prompt, Scores, Task
from seesay.runs import store
from seesay.runs.ask import Settings, assemble, checked, describe, limited, pairs, without_pictures
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.journal import Journal
from seesay.runs.layers import LayerCurve, LensAnswer, chosen_layers, layer_figures

JOURNAL = "lens.jsonl"


def lens(
    model: Model,
    task: Task,
    root: Path,
    settings: Settings,
    layers: str,
    progress: ProgressCallback | None = None,
) -> LayerCurve:
    """The headline figure of the task, and every answer, by layer."""
    if "answer_layers" not in model.abilities:
        raise UserError(
            f"'{model.name}' ({model.family}) cannot be asked by layer: give a causal or masked "
            "model."
        )
    model.prepare(task)
    if "pictures" not in model.accepts:
        task = without_pictures(task, model)
    task = replace(without_vocabulary_metrics(task), neutral={})
    if settings.limit is not None:
        task = limited(task, settings.limit, settings.seed)
    manifest = describe(model, task, settings, ("how:lens",))
    folder = store.folder_for(root, manifest)
    with lock_folder(folder, hint="give this one its own --output"):
        scores = ask_layers(model, task, Journal(folder / JOURNAL), progress)
    chosen = chosen_layers(layers, len(scores))
    answers = [assemble(task, scores[layer]) for layer in chosen]
    metric = metrics.get(task.metrics[0])
    stats = [
        statistics([metric], items_by_template(task, table, settings.length))[metric.name]
        for table in answers
    ]
    figures = layer_figures(model.name, task, chosen, [stats], settings, manifest.signature)
    notes = model.notes()
    model.clear_notes()
    rows = lens_answers(task, chosen, answers, settings.length)
    return LayerCurve("lens", tuple(figures), answers=tuple(rows), notes=tuple(notes))


def ask_layers(
    model: Model, task: Task, journal: Journal, progress: ProgressCallback | None = None
) -> list[dict[str, Scores]]:
    """The scores of every distinct prompt, by layer. Prompts in the journal are not asked again."""
    prompts = list({prompt.key: prompt for _, _, prompt, _ in pairs(task)}.values())
    stored = journal.read()
    by_prompt: dict[str, dict[int, Scores]] = {}
    for key, scores in stored.items():
        prompt_key, _, layer = key.partition(":")
        by_prompt.setdefault(prompt_key, {})[int(layer)] = scores
    count = 1 + max((layer for layers in by_prompt.values() for layer in layers), default=-1)
    answered = {key: layers for key, layers in by_prompt.items() if len(layers) == count}
    for indices in model.plan(prompts):
        batch = [prompts[i] for i in indices]
        if not all(prompt.key in answered for prompt in batch):
            by_layer = model.answer_layers(batch)
            for prompt, layers in zip(batch, zip(*by_layer, strict=True), strict=True):
                answered[prompt.key] = {
                    layer: checked(prompt, scores, model.name)
                    for layer, scores in enumerate(layers)
                }
            journal.append(_lines(batch, answered))
            count = len(by_layer)
        if progress:
            progress(len(indices), len(prompts))
    return [
        {prompt.key: answered[prompt.key][layer] for prompt in prompts} for layer in range(count)
    ]


def _lines(
    batch: Sequence[Prompt], answered: Mapping[str, Mapping[int, Scores]]
) -> dict[str, Scores]:
    """What the journal keeps of a batch: the last layer first, so that a torn end never hides how
    many there are."""
    return {
        f"{prompt.key}:{layer}": answered[prompt.key][layer]
        for prompt in batch
        for layer in sorted(answered[prompt.key], reverse=True)
    }


def lens_answers(
    task: Task, layers: Sequence[int], answers: Sequence[Sequence[Answer]], length: str
) -> list[LensAnswer]:
    """Every question in every template with its probabilities by layer, and where the gold answer
    takes over."""
    by_template = [
        [items.probabilities for items in items_by_template(task, table, length)]
        for table in answers
    ]  # layers × templates, each questions × labels
    column = {label: i for i, label in enumerate(task.labels)}
    rows = []
    for place, template in enumerate(task.templates):
        stacked = np.stack([of_layer[place] for of_layer in by_template])
        for number, question in enumerate(task.questions):
            probabilities = stacked[:, number, [column[label] for label in question.options]]
            ahead = probabilities.argmax(axis=1)
            right = np.array([question.options[option] in question.gold for option in ahead])
            wrong = np.flatnonzero(~right)
            first = 0 if not wrong.size else int(wrong[-1]) + 1
            rows.append(
                LensAnswer(
                    question.id,
                    template.name,
                    template.ask(question).text,
                    question.options,
                    question.best_label,
                    tuple(map(tuple, probabilities.tolist())),
                    layers[first] if first < len(layers) else None,
                    question.options[ahead[first - 1]] if 0 < first < len(layers) else None,
                )
            )
    return rows
