"""METEOR 1.5 for English, without Java."""

from seesay.captions.coco.meteor.resources import MeteorResources, load
from seesay.captions.coco.meteor.score import meteor

__all__ = ["MeteorResources", "load", "meteor"]
