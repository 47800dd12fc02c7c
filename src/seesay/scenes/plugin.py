"""What scenes bring: MALeViC's tasks, rules that read a scene, networks over pictures, and their commands."""

from __future__ import annotations

from seesay.plugins import BaselineCard, Plugin, TaskCard
from seesay.scenes.caches import REASONER_FEATURES, SCENES


def _malevic(title: str, loader: str) -> TaskCard:
    return TaskCard(f"seesay.scenes.tasks.malevic:{loader}", title, "Pezzelle & Fernández 2019")


_TASKS = {
    "malevic-sup1": _malevic("Is it the biggest? Shapes of one kind", "load_sup1"),
    "malevic-pos1": _malevic("Is it big? Shapes of one kind", "load_pos1"),
    "malevic-pos": _malevic("Is it a big object? Among shapes of many kinds", "load_pos"),
    "malevic-set-pos": _malevic("Is it a big square? Among the squares of a scene", "load_set_pos"),
    "malevic-pos-hard": _malevic("malevic-pos without the scene's extremes", "load_pos_hard"),
    "malevic-set-pos-hard": _malevic("malevic-set-pos without the set's extremes", "load_set_pos_hard"),
    "malevic-compositional-seen": _malevic(
        "Adjective and shape in combinations that training has", "load_compositional_seen"
    ),
    "malevic-compositional-unseen": _malevic(
        "Adjective and shape in combinations that training lacks", "load_compositional_unseen"
    ),
    "malevic-comparative": _malevic("Is one thing bigger than another?", "load_comparative"),
}

_RULE = BaselineCard("seesay.scenes.baselines:SceneRule", "A rule that reads the scene, for malevic tasks.")

PLUGIN = Plugin(
    tasks={
        **_TASKS,
        "easy-vqa": TaskCard(
            "seesay.scenes.tasks.easy_vqa:load",
            "What shape, what colour, is there one? A picture of one shape",
            "Zhou 2019",
            licence="MIT",
        ),
    },
    task_groups={"malevic": tuple(_TASKS)},
    models={"reasoner": "seesay.scenes.reasoners.model:load_reasoner"},
    model_folders={"seesay-reasoner": "reasoner"},
    baselines=dict.fromkeys(("fixed-k", "whole-scene", "max-is-big"), _RULE),
    commands={
        "scenes": "seesay.scenes.commands.scenes:app",
        "reasoner": "seesay.scenes.commands.reasoner:app",
    },
    functions={"make_scenes": "seesay.scenes.dataset_writer:make_scenes"},
    caches=(SCENES, REASONER_FEATURES),
)
