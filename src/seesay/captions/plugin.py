"""What captions bring: metrics of captions and parses, by command and by function."""

from __future__ import annotations

from seesay.captions.caches import PARAPHRASES
from seesay.plugins import Plugin

PLUGIN = Plugin(
    commands={"score": "seesay.captions.commands:app"},
    command_group="Texts",
    functions={
        "score_captions": "seesay.captions:score_captions",
        "score_parses": "seesay.captions:score_parses",
        "score_relevance": "seesay.captions:score_relevance",
    },
    caches=(PARAPHRASES,),
)
