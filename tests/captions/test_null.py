"""Systems that are equal: how often do the paired tests of captions tell them apart?

`pytest -m slow -s tests/captions/test_null.py` prints the rates that docs/captions.md shows.
"""

from __future__ import annotations

import gzip
import random
from collections import Counter, defaultdict

import pytest
from tests.shared_data import shared

from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.evaluate import compare, evaluate
from seesay.metrics.bootstrap import Resamples
from seesay.metrics.paired import holm

DRAWS = 300
IMAGES = 40


@pytest.mark.slow
def test_equal_systems_are_told_apart_in_one_case_of_twenty() -> None:
    """Two of an image's five captions are the systems', drawn at random; three are references."""
    by_image: dict[str, list[str]] = defaultdict(list)
    path = shared("captions/flickr8k.token.txt.gz")
    for line in gzip.decompress(path.read_bytes()).decode().split("\n"):
        # three lines of the published file have no tab
        name, tab, caption = line.partition("\t")
        if tab:
            by_image[name.split("#")[0]].append(caption)
    names = sorted(name for name, captions in by_image.items() if len(captions) == 5)
    told_apart: Counter[str] = Counter()
    for seed in range(DRAWS):
        chance = random.Random(seed)
        images = chance.sample(names, IMAGES)
        shuffled = [chance.sample(by_image[name], 5) for name in images]
        references = [captions[2:] for captions in shuffled]
        first, second = (
            evaluate(CaptionCorpus.tokenized(texts, references), None)
            for texts in list(zip(*shuffled, strict=True))[:2]
        )
        tests = compare(first, second, images, Resamples(images, 400, seed))
        for test in tests:
            told_apart[f"{test.name} sign-flip"] += test.p_signflip <= 0.05
            told_apart[f"{test.name} bootstrap"] += test.difference.p <= 0.05
        told_apart["any after Holm"] += min(holm([test.p_signflip for test in tests])) <= 0.05
    for name, count in sorted(told_apart.items()):
        print(f"{name}: {count / DRAWS:.3f}")
    # 5 % in truth are more than 8.8 % of 300 draws once in a thousand times
    for name, count in told_apart.items():
        assert count / DRAWS <= 0.088, name
