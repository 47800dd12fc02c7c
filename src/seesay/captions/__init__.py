"""Caption metrics, equal to the COCO evaluation's without Java.

>>> corpus = CaptionCorpus.tokenized(["A dog runs."], [["A dog is running.", "The dog runs fast!"]])
>>> [round(metric.value, 3) for metric in bleu(corpus)][:2]
[0.717, 0.717]
>>> round(rouge(corpus).value, 3)
0.557
"""

from seesay.captions.bleu import bleu, unigram_precision
from seesay.captions.cider import DocumentFrequency, cider, cider_d
from seesay.captions.corpus import CaptionCorpus
from seesay.captions.evaluate import PairedTest, compare, evaluate, fuse, signature
from seesay.captions.meteor import MeteorResources, load, meteor
from seesay.captions.rouge import rouge, rouge_l
from seesay.captions.tokenize import tokenize
from seesay.metrics.base import Measurement

__all__ = [
    "CaptionCorpus", "DocumentFrequency", "Measurement", "MeteorResources", "PairedTest", "bleu", "cider", "cider_d",
    "compare", "evaluate", "fuse", "load", "meteor", "rouge", "rouge_l", "signature", "tokenize", "unigram_precision",
]  # fmt: skip
