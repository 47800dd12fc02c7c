"""What captions keep between runs."""

from __future__ import annotations

from seesay.caches import Cache

PARAPHRASES = Cache("paraphrases", "METEOR's table of paraphrases, prepared")
