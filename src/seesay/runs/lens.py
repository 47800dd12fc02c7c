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
from seesay.condition import How
from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.metrics import FloatArray
from seesay.models.base import Model
from seesay.probes.task_metrics import without_vocabulary_metrics
from seesay.progress import Kept, ProgressCallback
from seesay.questions import Prompt, Question, Scores, Task
from seesay.runs import store
from seesay.runs.answer_table import AnswerTable, PromptScores
from seesay.runs.ask import (
    Settings,
    assemble,
    describe,
    distinct_prompts,
    drop_pictures,
    limit_task,
    sign,
    validate_scores,
)
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.journal import Journal
from seesay.runs.layers import (
    LayerCurve,
    LensAnswer,
    layer_figures,
    parse_layers,
    validate_layers,
)

JOURNAL = "lens.jsonl"


def lens(
    model: Model,
    task: Task,
    root: Path,
    settings: Settings,
    layers: str,
    progress: ProgressCallback | None = None,
) -> LayerCurve:
    """Return the headline figure of the task, and every answer, by layer."""
    if "answer_layers" not in model.abilities:
        raise UserError(
            f"'{model.name}' ({model.family}) cannot be asked by layer: give a causal or masked "
            "model."
        )
    validate_layers(layers, model)
    model.prepare(task)
    if "pictures" not in model.accepts:
        task = drop_pictures(task, model)
    task = replace(without_vocabulary_metrics(task), neutral={})
    task, settings = limit_task(model, task, settings)
    condition = model.condition.replace(how=How.LENS)
    manifest = describe(model, task, settings, condition=condition)
    folder = store.folder_for(root, manifest)
    with lock_folder(folder, hint="give this one its own --output"):
        scores = ask_layers(model, task, Journal(folder / JOURNAL), progress)
    # all layers were asked and kept: which of them are shown is not part of the run's key
    shown_layers = parse_layers(layers, len(scores))
    answers = [assemble(task, PromptScores(scores[layer])) for layer in shown_layers]
    metric = metrics.get(task.metrics[0])
    stats = []
    for table in answers:
        items = items_by_template(task, table, settings.length)
        stats.append(statistics([metric], items)[metric.name])

    def sign_layer(layer: int) -> str:
        return sign(model, task, settings, manifest.condition.replace(layer=layer))

    figures = layer_figures(
        model.name,
        task,
        shown_layers,
        [stats],
        settings,
        sign_layer,
    )
    notes = model.notes()
    model.clear_notes()
    rows = lens_answers(task, shown_layers, answers, settings.length)
    return LayerCurve(
        How.LENS,
        tuple(figures),
        manifest.signature,
        answers=tuple(rows),
        notes=tuple(notes),
    )


def ask_layers(
    model: Model,
    task: Task,
    journal: Journal,
    progress: ProgressCallback | None = None,
) -> list[dict[str, Scores]]:
    """Return the scores of every distinct prompt, by layer. Prompts in the journal are not asked
    again."""
    prompts = list(distinct_prompts(task).values())
    answered, count = _read_layers(journal)
    # planned over all prompts, so that a resumed run computes the same batches
    for indices in model.plan(prompts):
        batch = [prompts[i] for i in indices]
        done: int = Kept(len(batch))
        if not all(prompt.key in answered for prompt in batch):
            done = len(batch)
            by_layer = model.answer_layers(batch)
            count = len(by_layer)
            for prompt, layers in zip(batch, zip(*by_layer, strict=True), strict=True):
                for scores in layers:
                    validate_scores(prompt, scores, model.name)
                answered[prompt.key] = dict(enumerate(layers))
            journal.append(_lines(batch, answered))
        if progress:
            progress(done, len(prompts))
    layers_scores = []
    for layer in range(count):
        layers_scores.append({prompt.key: answered[prompt.key][layer] for prompt in prompts})
    return layers_scores


def _read_layers(
    journal: Journal,
) -> tuple[dict[str, dict[int, Scores]], int]:
    """What the journal holds of prompts that have every layer, and how many layers that is."""
    by_prompt: dict[str, dict[int, Scores]] = {}
    for key, scores in journal.read().items():
        prompt_key, _, layer = key.partition(":")
        by_prompt.setdefault(prompt_key, {})[int(layer)] = scores
    counts = [max(layers) + 1 for layers in by_prompt.values()]
    count = max(counts, default=0)
    # a prompt whose lines were torn off has fewer layers than the others, and is asked again
    answered = {key: layers for key, layers in by_prompt.items() if len(layers) == count}
    return answered, count


def _lines(
    batch: Sequence[Prompt],
    answered: Mapping[str, Mapping[int, Scores]],
) -> dict[str, Scores]:
    """What the journal keeps of a batch: the last layer first, so that a torn end never hides how
    many there are."""
    lines = {}
    for prompt in batch:
        layers = answered[prompt.key]
        for layer in sorted(layers, reverse=True):
            lines[f"{prompt.key}:{layer}"] = layers[layer]
    return lines


def lens_answers(
    task: Task,
    layers: Sequence[int],
    answers: Sequence[AnswerTable],
    length: str,
) -> list[LensAnswer]:
    """Return every question in every template with its probabilities by layer, and where the gold
    answer takes over."""
    tables = []  # layers × templates, each questions × labels
    for table in answers:
        tables.append([items.probabilities for items in items_by_template(task, table, length)])
    column = {label: i for i, label in enumerate(task.labels)}
    rows = []
    for place, template in enumerate(task.templates):
        stacked = np.stack([by_template[place] for by_template in tables])
        for number, question in enumerate(task.questions):
            columns = [column[label] for label in question.options]
            probabilities = stacked[:, number, columns]
            takeover, rival = _takeover(question, probabilities)
            rows.append(
                LensAnswer(
                    question=question.id,
                    template=template.name,
                    text=template.ask(question).text,
                    options=question.options,
                    gold=question.best_label,
                    probabilities=tuple(map(tuple, probabilities.tolist())),
                    takeover=None if takeover is None else layers[takeover],
                    rival=rival,
                )
            )
    return rows


def _takeover(
    question: Question,
    probabilities: FloatArray,
) -> tuple[int | None, str | None]:
    """From which row on a gold option stays ahead to the last one, and what was ahead before it."""
    # once and for all: a layer where the gold option is ahead and falls behind again does not count
    ahead = [question.options[option] for option in probabilities.argmax(axis=1)]
    wrong = [row for row, option in enumerate(ahead) if option not in question.gold]
    if not wrong:
        return 0, None
    last_wrong = wrong[-1]
    if last_wrong == len(ahead) - 1:
        return None, None
    return last_wrong + 1, ahead[last_wrong]
