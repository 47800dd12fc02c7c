"""What language brings: n-gram models and LSTMs, their training on captions, and spatial relations in corpora."""

from __future__ import annotations

from seesay.plugins import Plugin

PLUGIN = Plugin(
    models={
        "arpa": "seesay.language.words.arpa:load_arpa",
        "lstm": "seesay.language.words.lstm:load_lstm",
    },
    model_folders={"seesay-lstm": "lstm"},
    model_files={".arpa": "arpa", ".arpa.gz": "arpa"},
    commands={
        "relations": "seesay.language.commands.relations:app",
        "pretrain": "seesay.language.commands.pretrain:app",
    },
)
