"""METEOR 1.5 for English, without Java."""

from seesay.metrics.captions.meteor.resources import MeteorResources, load
from seesay.metrics.captions.meteor.score import meteor

__all__ = ["MeteorResources", "load", "meteor"]
