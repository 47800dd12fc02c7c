"""Models that look at pictures: vision-language models, which answer, and dual encoders, which
compare."""

from seesay.models.vision.loading import load_vision
from seesay.models.vision.vision_language import VisionModel

__all__ = ["VisionModel", "load_vision"]
