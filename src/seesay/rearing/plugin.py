"""What rearing brings to seesay: models raised on known diets, and what they are asked."""

from __future__ import annotations

from seesay.plugins import Plugin, TaskCard

PLUGIN = Plugin(
    tasks={
        "reared-color": TaskCard(
            "seesay.rearing.tasks:load_usual",
            "What colour is a thing of a world that nobody knows but who was raised in it?",
            "seesay",
            licence="CC0-1.0",
        )
    },
    models={"reared": "seesay.rearing.recall:load"},
    mergers={"rearing": "seesay.rearing.commands:merge"},
    commands={"rear": "seesay.rearing.commands:app"},
    command_group="Texts",
)
