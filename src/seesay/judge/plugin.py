"""What the judge brings: the command that asks people."""

from __future__ import annotations

from seesay.plugins import Plugin

PLUGIN = Plugin(commands={"judge": "seesay.judge.commands.judge:app"}, command_group="People")
