"""What papers bring: the papers behind seesay, table by table."""

from __future__ import annotations

from seesay.plugins import Plugin

PLUGIN = Plugin(
    commands={"paper": "seesay.papers.command:paper"},
    command_group="Results",
    papers={
        "viphy": "seesay.papers.viphy.entries:PAPER",
        "malevic": "seesay.papers.malevic.entries:PAPER",
        "memory-colors": "seesay.papers.memory_colors.entries:PAPER",
        "spatial-relations": "seesay.papers.spatial_relations.entries:PAPER",
        "cs388": "seesay.papers.cs388.entries:PAPER",
    },
)
