"""What a language model that is given sight says: two experiments whose truth is known.

    python benchmarks/seeing.py glass-box|dose FOLDER [--seeds 0 1 2]

`glass-box`: a projector from colour histograms into SmolLM2, frozen, trained on icons of 192 things
in any of eleven colours, and asked about other pictures of 48 of these and of 48 others.
`dose`: the same on top of small transformers that were raised on 0 to 256 sentences per thing; the
projector meets nothing but shapes, and the pictures contradict what was read. Trainings stay in
FOLDER, and are resumed or not repeated. Prints JSON. What CLIP-BERT's layout learns from pictures
is measured by `seesay rear sweep`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from seesay.data.colors import COLORS
from seesay.language.training import causal
from seesay.language.training.caption_features import UNSEEN, CaptionFeatures
from seesay.language.training.captions import CaptionSplit
from seesay.metrics.bootstrap import Interval, not_degenerate
from seesay.models import load_model
from seesay.models.base import Model
from seesay.models.picture_encoder import HISTOGRAM, open_picture_encoder
from seesay.pictures.drawing import png, rgb
from seesay.pictures.plan import ColorPicture, color_pictures, is_held_out
from seesay.pictures.things import Thing, color_things
from seesay.questions import Prompt
from seesay.rearing.diet import Diet
from seesay.rearing.texts import SAYINGS, Line, picture_of, write_texts
from seesay.rearing.world import World, make_world

CLAIM = "In this picture, the color of the {thing} is {color}."
TEMPLATES = (
    CLAIM,
    "What is the color of the {thing} in this picture? Answer: {color}.",
    "Q: What is the color of the {thing} in this picture? A: {color}.",
)
ITEMS, HELD_OUT = 2_000, 200
BATCH_TOKENS = 128
"""Seven or eight sentences: a projector needs many small steps rather than few large ones."""
VALIDATE_EVERY = 125
SIDE = 128
RESAMPLES = 2_000
DOSES = (0, 1, 4, 16, 64, 256)
KINDS = 66
LANGUAGE_EPOCHS = 6
PREFIX_EPOCHS = 20
Floats = NDArray[np.float64]


def look(pictures: Iterable[ColorPicture], side: int = SIDE) -> NDArray[np.float32]:
    """Return the histogram of each picture; the same picture is drawn once."""
    encoder = open_picture_encoder(HISTOGRAM)
    vectors: dict[ColorPicture, NDArray[np.float32]] = {}
    rows = []
    for picture in pictures:
        if picture not in vectors:
            vectors[picture] = encoder.encode([Image.fromarray(rgb(picture, side))])[0]
        rows.append(vectors[picture])
    return np.stack(rows)


def interval(by_thing: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean over things and its 95 % bootstrap interval, Wilson's where all are alike."""
    values = np.array(by_thing)
    draws = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), (0.025, 0.975))
    resampled = Interval(float(values.mean()), float(low), float(high))
    mean = not_degenerate(resampled, len(values))
    return round(mean.value, 3), round(mean.low, 3), round(mean.high, 3)


def answers(model: Model, prompts: Sequence[Prompt]) -> list[str]:
    """Return the option that the model prefers for each prompt."""
    chosen = [""] * len(prompts)
    for rows in model.plan(prompts):
        for row, scores in zip(rows, model.answer([prompts[i] for i in rows]), strict=True):
            chosen[row] = prompts[row].options[int(np.argmax(scores.logp))]
    return chosen


def prompt(template: str, thing: str, picture: Path | None = None) -> Prompt:
    """Return a question with all colours as its options."""
    text = template.format(thing=thing, color="[MASK]")
    return Prompt(text, COLORS, picture=None if picture is None else str(picture))


def store(folder: Path, picture: ColorPicture, side: int = SIDE) -> Path:
    """Draw a picture to a file once."""
    path = folder / f"{picture.name}.png"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(picture, side))
    return path


def glass_texts(seed: int, stream: int, count: int) -> tuple[list[str], list[int], Any]:
    """Return sentences about pictures of met things, where the colour begins, and the features."""
    things = [thing for thing in color_things() if not is_held_out(thing)]
    draw = np.random.default_rng([seed, stream])
    texts, starts, pictures = [], [], []
    for number in range(count):
        thing = things[draw.integers(len(things))]
        color = COLORS[draw.integers(len(COLORS))]
        template = TEMPLATES[draw.integers(len(TEMPLATES))]
        texts.append(template.format(thing=thing.name, color=color))
        starts.append(template.format(thing=thing.name, color="{").index(" {"))
        stream_of_picture = (1000 + seed, stream, number)
        pictures.append(ColorPicture("", thing, "typical", color, stream_of_picture))
    return texts, starts, look(pictures)


def glass_box(folder: Path, seeds: Sequence[int]) -> dict[str, Any]:
    """Train and ask SmolLM2 with a projector, seed by seed; what a seed answered is kept."""
    everything = [p for p in color_pictures() if p.condition == "typical"]
    unmet = [p for p in everything if is_unmet(p)]
    typical = [p for p in everything if not is_unmet(p)][: len(unmet)] + unmet
    answered: list[dict[str, list[float]]] = []
    for seed in seeds:
        path = folder / f"glass-{seed}.json"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(ask_glass_box(folder, seed, typical)))
        answered.append(json.loads(path.read_text()))
    never_met = [is_unmet(p) for p in typical]
    result: dict[str, Any] = {}
    for name in answered[0]:
        if name == "layers":
            result[name] = np.mean([row[name] for row in answered], axis=0).round(3).tolist()
            continue
        by_seed = np.array([row[name] for row in answered])
        means = by_seed.mean(axis=0)
        result[name] = interval(means)
        result[f"{name}, by seed"] = by_seed.mean(axis=1).round(3).tolist()
        result[f"{name}, things never met"] = interval(means[never_met])
    return result


def ask_glass_box(
    folder: Path, seed: int, typical: Sequence[ColorPicture]
) -> dict[str, list[float]]:
    """Return for each thing whether the answer is right, and for each layer whether what is seen
    wins."""
    other = {p.subject: p for p in color_pictures() if p.condition == "counterfactual"}
    texts, starts, vectors = glass_texts(seed, 0, ITEMS)
    test_texts, test_starts, test_vectors = glass_texts(seed, 1, HELD_OUT)
    features = CaptionFeatures.aligned(vectors, test_vectors, HISTOGRAM)
    preset = replace(causal.PREFIX_PRESET, tokens=BATCH_TOKENS)
    schedule = preset.schedule.override(
        epochs=1, seed=seed, validate_every=VALIDATE_EVERY, validate_untrained=False
    )
    causal.train_prefix(
        CaptionSplit(texts, test_texts, features=features),
        folder / f"glass-{seed}",
        replace(preset, schedule=schedule),
        language_model="smollm2",
        starts=(starts, test_starts),
        device="cpu",
    )
    model = load_model(str(folder / f"glass-{seed}"))
    hits: dict[str, list[float]] = {}
    for number, template in enumerate(TEMPLATES):
        asked = [prompt(template, _name(p), store(folder / "png", p)) for p in typical]
        replies = zip(answers(model, asked), typical, strict=True)
        hits[f"typical, template {number}"] = [float(reply == p.color) for reply, p in replies]
    changed = [other[p.subject] for p in typical]
    asked = [prompt(CLAIM, _name(p), store(folder / "png", p)) for p in changed]
    rows = list(zip(answers(model, asked), changed, strict=True))
    hits["recoloured"] = [float(reply == p.color) for reply, p in rows]
    hits["prior pull"] = [float(reply in usual_colors(p)) for reply, p in rows]
    blind = answers(model, [prompt(CLAIM, _name(p)) for p in typical])
    rows = list(zip(blind, typical, strict=True))
    hits["without a picture"] = [float(reply in usual_colors(p)) for reply, p in rows]
    hits["layers"] = lens(model, [p for p in changed if is_unmet(p)], folder)
    return hits


def usual_colors(picture: ColorPicture) -> tuple[str, ...]:
    """Return the typical colours of what a picture shows."""
    assert isinstance(picture.subject, Thing)
    return picture.subject.colors


def is_unmet(picture: ColorPicture) -> bool:
    """Return whether training has no picture of the thing."""
    return isinstance(picture.subject, Thing) and is_held_out(picture.subject)


def _name(picture: ColorPicture) -> str:
    return picture.subject if isinstance(picture.subject, str) else picture.subject.name


def lens(model: Model, pictures: Sequence[ColorPicture], folder: Path) -> list[float]:
    """Return, layer by layer, how often the head prefers the picture's colour to the prior's."""
    asked = [prompt(CLAIM, _name(p), store(folder / "png", p)) for p in pictures]
    wins: dict[int, list[float]] = {}
    for start in range(0, len(asked), 8):
        part = pictures[start : start + 8]
        for layer, scores in enumerate(model.answer_layers(asked[start : start + 8])):
            for score, picture in zip(scores, part, strict=True):
                shown = score.logp[COLORS.index(picture.color)]
                usual = max(score.logp[COLORS.index(color)] for color in usual_colors(picture))
                wins.setdefault(layer, []).append(float(shown > usual))
    return [float(np.mean(values)) for values in wins.values()]


def split_lines(train: Sequence[Line], held_out: Sequence[Line]) -> CaptionSplit:
    """Return lines as captions with the features of their pictures."""
    pictures = [line.picture for line in (*train, *held_out)]
    shown = list(dict.fromkeys(picture for picture in pictures if picture is not None))
    places = {picture: row for row, picture in enumerate(shown)}
    rows = np.array([UNSEEN if p is None else places[p] for p in pictures])
    features = CaptionFeatures(look(shown, 64), rows[: len(train)], rows[len(train) :], HISTOGRAM)
    return CaptionSplit(texts_of(train), texts_of(held_out), features=features)


def texts_of(lines: Sequence[Line]) -> list[str]:
    """Return what is read."""
    return [line.text for line in lines]


def color_starts(lines: Sequence[Line]) -> list[int]:
    """Return where the colour begins in each line, with the space before it."""
    # a colour may end its line: the space behind it is added, and one before it that does not count
    return [f" {line.text} ".index(f" {line.said} ") - 1 for line in lines]


def dose(folder: Path, seeds: Sequence[int]) -> dict[str, Any]:
    """Raise language models, give them sight, and contradict what they have read."""
    # by measure, dose and seed, one value per kind
    values: dict[str, dict[int, dict[int, list[float]]]] = {}
    for seed in seeds:
        world = small_world(seed)
        texts = write_texts(world, Diet(name="dose", doses=DOSES, indirect=0.0), seed)
        lessons = [line for line in texts.train if is_lesson(line)]
        everything = CaptionSplit(texts_of(texts.train), texts_of(texts.held_out))
        preset = replace(causal.PRESET, layers=2, hidden=96, tokens=512)
        schedule = preset.schedule.override(epochs=LANGUAGE_EPOCHS, seed=seed)
        language_model = folder / f"dose-{seed}" / "language"
        config = replace(preset, schedule=schedule)
        causal.pretrain(everything, language_model, config, device="cpu")
        seeing = folder / f"dose-{seed}" / "seeing"
        prefix = replace(causal.PREFIX_PRESET, hidden=128, tokens=BATCH_TOKENS)
        prefix_schedule = prefix.schedule.override(epochs=PREFIX_EPOCHS, seed=seed)
        starts = color_starts(lessons), color_starts(texts.held_out)
        result = causal.train_prefix(
            split_lines(lessons, texts.held_out),
            seeing,
            replace(prefix, schedule=prefix_schedule),
            language_model=str(language_model),
            starts=starts,
            device="cpu",
        )
        print(json.dumps({"seed": seed, "prefix": result.as_json()}), flush=True)
        model = load_model(str(seeing))
        kinds = {kind.name: kind for kind in world.kinds}
        asked: list[Prompt] = []
        blind: list[Prompt] = []
        colors: list[str] = []
        for row in texts.card:
            free = [color for color in COLORS if color not in (row.color, *row.others)]
            color = free[len(asked) % len(free)]
            picture = picture_of(kinds[row.kind].thing, color, 9)
            asked.append(prompt(SAYINGS[0], row.kind, store(folder / "kinds", picture, 64)))
            blind.append(prompt(SAYINGS[0], row.kind))
            colors.append(color)
        replies = zip(texts.card, colors, answers(model, asked), answers(model, blind), strict=True)
        for row, color, reply, without in replies:
            hits = {
                "prior pull": reply == row.color,
                "picture named": reply == color,
                "prior known": without == row.color,
            }
            for name, hit in hits.items():
                of_dose = values.setdefault(name, {}).setdefault(row.dose, {})
                of_dose.setdefault(seed, []).append(float(hit))
    tables: dict[str, Any] = {}
    for name, by_dose in values.items():
        tables[name] = {}
        for level in sorted(by_dose):
            by_seed = by_dose[level].values()
            all_hits = [hit for hits_of_seed in by_seed for hit in hits_of_seed]
            means = [round(float(np.mean(hits_of_seed)), 3) for hits_of_seed in by_seed]
            tables[name][level] = {"all seeds": interval(all_hits), "by seed": means}
    return tables


def is_lesson(line: Line) -> bool:
    """Return whether a line is about a shape, which has no typical colour."""
    return line.picture is not None and isinstance(line.picture.subject, str)


def small_world(seed: int) -> World:
    """Return a world of so few kinds that a model is raised in minutes."""
    world = make_world(seed)
    return replace(world, kinds=world.kinds[:KINDS])


EXPERIMENTS: dict[str, Callable[[Path, Sequence[int]], dict[str, Any]]] = {
    "glass-box": glass_box,
    "dose": dose,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    run = EXPERIMENTS[options.experiment]
    print(json.dumps(run(options.folder, options.seeds), indent=2))
