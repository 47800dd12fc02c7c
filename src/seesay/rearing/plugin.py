"""What rearing brings to seesay: models raised on known diets."""

from __future__ import annotations

from seesay.plugins import Plugin

PLUGIN = Plugin(
    models={"imagined": "seesay.rearing.imagination:load"},
    command_group="Texts",
)
