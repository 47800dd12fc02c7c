"""What language brings to seesay.

N-grams and LSTMs, their training on captions, perplexity, and spatial relations.
"""

from __future__ import annotations

from seesay.plugins import Plugin

PLUGIN = Plugin(
    models={
        "arpa": "seesay.language.words.arpa:load_arpa",
        "lstm": "seesay.language.words.lstm:load_lstm",
        "visual-prefix": "seesay.language.seeing.prefix_model:load_prefix",
    },
    model_folders={"seesay-lstm": "lstm", "seesay-visual-prefix": "visual-prefix"},
    model_files={".arpa": "arpa", ".arpa.gz": "arpa"},
    commands={
        "perplexity": "seesay.language.commands.perplexity:perplexity",
        "relations": "seesay.language.commands.relations:app",
        "pretrain": "seesay.language.commands.pretrain:app",
    },
    command_group="Texts",
    functions={
        "perplexity": "seesay.language.perplexity.front:perplexity",
        "surprisals": "seesay.language.perplexity.front:surprisals",
    },
)
