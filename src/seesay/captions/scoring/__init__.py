"""Score text against references, from files or from memory: captions and parses.

>>> references = [["A dog is running."], ["A cat sleeps."]]
>>> scores = score_captions(["A dog runs."] * 2, references, use_meteor=False)
>>> round(scores.figures["BLEU-1"].value, 3)
0.423
"""

from seesay.captions.scoring.captions import CaptionScores, score_captions
from seesay.captions.scoring.parses import ParseScores, score_parses
from seesay.captions.scoring.relevance import RelevanceScores, score_relevance

__all__ = [
    "CaptionScores",
    "ParseScores",
    "RelevanceScores",
    "score_captions",
    "score_parses",
    "score_relevance",
]
