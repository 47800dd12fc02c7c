"""What mining brings: knowledge from annotated pictures, and rooms to test it in."""

from __future__ import annotations

from seesay.plugins import Plugin

PLUGIN = Plugin(
    commands={
        "mine": "seesay.mining.commands.mine:mine",
        "rooms": "seesay.mining.commands.rooms:rooms",
    },
    command_group="Pictures",
    mergers={"mining": "seesay.mining.pipeline:merge"},
    functions={"mine": "seesay.mining.pipeline:mine"},
)
