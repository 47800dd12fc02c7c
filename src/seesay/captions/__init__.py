"""Captions and parses against references.

Everything here works with NumPy alone, except the command.

>>> from seesay.captions import CaptionCorpus, bleu, rouge
>>> corpus = CaptionCorpus.tokenized(["A dog runs."], [["A dog is running.", "The dog runs fast!"]])
>>> [round(metric.value, 3) for metric in bleu(corpus)][:2]
[0.717, 0.717]
>>> round(rouge(corpus).value, 3)
0.557
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seesay.lazy import lazy_names

if TYPE_CHECKING:
    from seesay.captions.coco.bleu import bleu, unigram_precision
    from seesay.captions.coco.cider import DocumentFrequency, cider, cider_d
    from seesay.captions.coco.corpus import CaptionCorpus
    from seesay.captions.coco.evaluate import PairedTest, compare, evaluate, fuse, signature
    from seesay.captions.coco.meteor import MeteorResources, load, meteor
    from seesay.captions.coco.rouge import rouge, rouge_l
    from seesay.captions.coco.tokenize import tokenize
    from seesay.captions.scoring import (
        CaptionScores,
        ParseScores,
        RelevanceScores,
        score_captions,
        score_parses,
        score_relevance,
    )
    from seesay.captions.similarity import relevance

__all__ = [
    "CaptionCorpus",
    "CaptionScores",
    "DocumentFrequency",
    "MeteorResources",
    "PairedTest",
    "ParseScores",
    "RelevanceScores",
    "bleu",
    "cider",
    "cider_d",
    "compare",
    "evaluate",
    "fuse",
    "load",
    "meteor",
    "relevance",
    "rouge",
    "rouge_l",
    "score_captions",
    "score_parses",
    "score_relevance",
    "signature",
    "tokenize",
    "unigram_precision",
]

__getattr__ = lazy_names(
    __name__,
    {
        "coco.bleu": "bleu unigram_precision",
        "coco.cider": "DocumentFrequency cider cider_d",
        "coco.corpus": "CaptionCorpus",
        "coco.evaluate": "PairedTest compare evaluate fuse signature",
        "coco.meteor": "MeteorResources load meteor",
        "coco.rouge": "rouge rouge_l",
        "coco.tokenize": "tokenize",
        "similarity": "relevance",
        "scoring": (
            "CaptionScores ParseScores RelevanceScores score_captions score_parses score_relevance"
        ),
    },
)
