"""Captions of every published form.

`corpus` reads a corpus of captions, one caption at a time (to train on, to score, to find names and
relations in); `pairs` brings captions and their references together (to measure them).
"""

from __future__ import annotations

from seesay.data.captions.corpus import Corpus, CorpusSummary, distinct_sources
from seesay.data.captions.records import Caption

__all__ = ["Caption", "Corpus", "CorpusSummary", "distinct_sources"]
