"""What scenes keep between runs."""

from __future__ import annotations

from seesay.caches import Cache

SCENES = Cache("scenes", "pictures and questions of the malevic tasks", format=None)
REASONER_FEATURES = Cache("reasoner-features", "features of pictures, for training reasoners")
