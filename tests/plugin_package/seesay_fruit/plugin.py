"""What this package adds to seesay: two tasks and a model."""

from __future__ import annotations

from seesay.plugins import Plugin, TaskCard

PLUGIN = Plugin(
    tasks={
        "plugin-task": TaskCard(
            "seesay_fruit.tasks:load_fruit", "The colors of fruit", "seesay-fruit"
        ),
        "plugin-pictures": TaskCard(
            "seesay_fruit.tasks:load_pictures", "Colors in pictures", "seesay-fruit"
        ),
    },
    models={"plugin-model": "seesay_fruit.model:load"},
)
