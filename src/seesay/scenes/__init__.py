"""Synthetic scenes of shapes and what is true of them, after MALeViC (Pezzelle & Fernández 2019).

>>> recipe, plan = Recipe("set+pos", seed=0), make_plan("set+pos", 100)
>>> batch = next(batches(recipe, plan, "train", size=64, count=4))
>>> batch.pictures.shape, batch.sentences[0], bool(batch.answers[0])
((4, 64, 64, 3), 'The red circle is a big circle', True)
"""

from seesay.scenes.batches import Batch, batches, items
from seesay.scenes.config import Recipe
from seesay.scenes.dataset_writer import Output, make
from seesay.scenes.labels import askable, judge
from seesay.scenes.plan import Plan, make_plan
from seesay.scenes.raster import paint, rgb
from seesay.scenes.sampling import Item, draw
from seesay.scenes.sentences import sentence
from seesay.scenes.world import Scene, Thing

__all__ = [
    "Batch",
    "Item",
    "Output",
    "Plan",
    "Recipe",
    "Scene",
    "Thing",
    "askable",
    "batches",
    "draw",
    "items",
    "judge",
    "make",
    "make_plan",
    "paint",
    "rgb",
    "sentence",
]
