"""What pictures bring: prior against picture and big for its kind, measures, baselines, a gallery.

Its pictures can be trained on, too.
"""

from __future__ import annotations

from seesay.pictures.caches import ICON_PICTURES
from seesay.plugins import BaselineCard, Plugin, TaskCard

_TASKS = {
    "prior-color": TaskCard(
        "seesay.pictures.tasks.prior_color:load",
        "What colour is it here, and what colour is it usually?",
        "seesay",
        licence="CC0-1.0",
        anchors=0.25,
        pictures=True,
    ),
    "kind-size": TaskCard(
        "seesay.pictures.tasks.kind_size:load",
        "Is it big here, and is it big for its kind?",
        "seesay",
        licence="CC0-1.0",
        anchors=0.25,
        pictures=True,
    ),
    "prior-size": TaskCard(
        "seesay.pictures.tasks.prior_size:load",
        "Which is larger here, and which is larger in the world?",
        "seesay",
        licence="CC0-1.0",
        anchors=0.25,
        pictures=True,
    ),
}

PLUGIN = Plugin(
    tasks=_TASKS,
    task_groups={"prior": ("prior-color", "prior-size")},
    metrics={
        "prior_pull": "seesay.pictures.pull:PRIOR_PULL",
        "prior_log_odds": "seesay.pictures.pull:PRIOR_LOG_ODDS",
        "picture_pull": "seesay.pictures.pull:PICTURE_PULL",
        "picture_log_odds": "seesay.pictures.pull:PICTURE_LOG_ODDS",
        "gain_over_blind": "seesay.pictures.pull:GAIN_OVER_BLIND",
    },
    baselines={
        "prior": BaselineCard(
            "seesay.pictures.baselines:Prior",
            "The most typical answer, whatever is asked and shown: it knows and does not look.",
        ),
        "pixels": BaselineCard(
            "seesay.pictures.baselines:Pixels",
            "What the picture shows, whatever is asked, and nothing without one: it looks and does "
            "not know.",
        ),
        "big-here": BaselineCard(
            "seesay.pictures.baselines:BigHere",
            "What is big in the whole picture, whatever is asked.",
        ),
        "big-for-kind": BaselineCard(
            "seesay.pictures.baselines:BigForKind",
            "What is big among things of its kind, whatever is asked.",
        ),
    },
    picture_sets={
        "kind-size": "seesay.pictures.kind_training_set:open_kind_size",
        "prior-color": "seesay.pictures.training_set:open_prior_color",
    },
    commands={"pictures": "seesay.pictures.commands:app"},
    command_group="Pictures",
    page_sections={"gallery": "seesay.pictures.gallery:render_galleries"},
    caches=(ICON_PICTURES,),
)
