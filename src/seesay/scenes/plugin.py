"""What scenes bring: MALeViC's tasks, rules that read a scene, networks over pictures, commands."""

from __future__ import annotations

from seesay.plugins import BaselineCard, Plugin, TaskCard
from seesay.scenes.caches import REASONER_FEATURES, SCENES

_MALEVIC = {
    "sup1": "Is it the biggest? Shapes of one kind",
    "pos1": "Is it big? Shapes of one kind",
    "pos": "Is it a big object? Among shapes of many kinds",
    "set-pos": "Is it a big square? Among the squares of a scene",
    "pos-hard": "malevic-pos without the scene's extremes",
    "set-pos-hard": "malevic-set-pos without the set's extremes",
    "compositional-seen": "Adjective and shape in combinations that training has",
    "compositional-unseen": "Adjective and shape in combinations that training lacks",
    "comparative": "Is one thing bigger than another?",
}
_TASKS = {
    f"malevic-{name}": TaskCard(
        f"seesay.scenes.tasks.malevic:{name}",
        title,
        "Pezzelle & Fernández 2019",
        anchors=0.25,
        pictures=True,
    )
    for name, title in _MALEVIC.items()
}

_RULE = BaselineCard(
    "seesay.scenes.baselines:SceneRule", "A rule that reads the scene, for malevic tasks."
)

PLUGIN = Plugin(
    tasks={
        **_TASKS,
        "easy-vqa": TaskCard(
            "seesay.scenes.tasks.easy_vqa:load",
            "What shape, what colour, is there one? A picture of one shape",
            "Zhou 2019",
            licence="MIT",
            pictures=True,
        ),
    },
    task_groups={"malevic": tuple(_TASKS)},
    models={"reasoner": "seesay.scenes.reasoners.model:load_reasoner"},
    model_folders={"seesay-reasoner": "reasoner"},
    baselines=dict.fromkeys(("fixed-k", "whole-scene", "max-is-big"), _RULE),
    mergers={"reasoner sweep": "seesay.scenes.commands.reasoner_sweep:merge"},
    commands={
        "scenes": "seesay.scenes.commands.scenes:app",
        "reasoner": "seesay.scenes.commands.reasoner:app",
    },
    command_group="Pictures",
    functions={"make_scenes": "seesay.scenes.dataset_writer:make_scenes"},
    caches=(SCENES, REASONER_FEATURES),
)
