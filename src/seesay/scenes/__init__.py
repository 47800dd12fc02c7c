"""Synthetic scenes of shapes and what is true of them, after MALeViC (Pezzelle & Fernández 2019).

>>> from seesay.scenes import SceneConfig, batches, make_plan
>>> config, plan = SceneConfig("set+pos", seed=0), make_plan("set+pos", 100)
>>> batch = next(batches(config, plan, "train", size=64, count=4))
>>> batch.pictures.shape, batch.sentences[0], bool(batch.answers[0])
((4, 64, 64, 3), 'The red circle is a big circle', True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seesay.lazy import lazy_names

if TYPE_CHECKING:
    from seesay.scenes.config import SceneConfig
    from seesay.scenes.dataset_writer import SceneDataset, SceneOutput, make_scenes, write_dataset
    from seesay.scenes.labels import eligible_targets, label_objects
    from seesay.scenes.plan import ScenePlan, make_plan
    from seesay.scenes.raster import paint, rgb
    from seesay.scenes.sampling import SceneItem, draw
    from seesay.scenes.scene_batches import SceneBatch, batches, scene_items
    from seesay.scenes.sentences import sentence
    from seesay.scenes.world import Scene, SceneObject

__all__ = [
    "Scene",
    "SceneBatch",
    "SceneConfig",
    "SceneDataset",
    "SceneItem",
    "SceneObject",
    "SceneOutput",
    "ScenePlan",
    "batches",
    "draw",
    "eligible_targets",
    "label_objects",
    "make_plan",
    "make_scenes",
    "paint",
    "rgb",
    "scene_items",
    "sentence",
    "write_dataset",
]

__getattr__ = lazy_names(
    __name__,
    {
        "scene_batches": "SceneBatch batches scene_items",
        "config": "SceneConfig",
        "dataset_writer": "SceneDataset SceneOutput make_scenes write_dataset",
        "labels": "eligible_targets label_objects",
        "plan": "ScenePlan make_plan",
        "raster": "paint rgb",
        "sampling": "SceneItem draw",
        "sentences": "sentence",
        "world": "Scene SceneObject",
    },
)
