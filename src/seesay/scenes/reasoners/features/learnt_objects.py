"""Objects found by a network that has learnt, without labels, which pixels belong together.

A small U-Net gives every pixel a place in a space. It is trained on pictures alone: pixels of one
colour side by side are drawn together, pixels far apart or of two colours are pushed apart, since
the former are mostly of one thing and the latter mostly of two (after Isola et al. 2016, "Learning
visual groups from co-occurrences in space and time"). Each cluster is an object, which is measured
as in `objects`.

What is given is that black is nothing, and that nearness and likeness are evidence of belonging
together. That two pixels of one colour some way apart are of one thing or of two is learnt;
connection and convexity are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import interpolate

from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.models.files import file_digest
from seesay.scenes.reasoners.dataset import ReasonerDataset
from seesay.scenes.reasoners.features.extractor import Pictures
from seesay.scenes.reasoners.features.objects import (
    IMAGE_SIZE,
    SMALLEST,
    Detected,
    Floats,
    Mask,
    covered_pixels,
    measure_object,
    to_slots,
)
from seesay.training import checkpoint, loop
from seesay.training.schedule import Schedule

PREFIX = "objects:"
GRID = 64
"""Cells a side of the picture in which pixels are grouped."""
DIMENSIONS = 8
"""Of the space in which every cell has a place."""
MARGIN = 2.0
"""How far apart the places of cells far apart should be; half of it separates two clusters."""
TRAINING = "training"
_SIDE = IMAGE_SIZE // GRID
_WIDTH = 16
_NEAR = ((0, 1), (1, 0), (1, 1), (1, -1), (0, 2), (2, 0))
"""Steps, in rows and columns, to the cells that count as side by side."""
_FAR = 6.0
"""Cells: what lies farther apart than this is pushed apart."""
_UNLIKE = 0.5
"""The difference of a colour channel from which two cells are of different colours."""
_DARK = 0.1
"""The brightness below which a cell has no colour of its own."""
_CLOSENESS = 20.0
"""The weight of drawing together beside that of pushing apart."""
_SAMPLED = 192
"""Cells of a picture whose pairs are pushed apart."""
_SPREAD = 4.0
"""Where cells begin: at their own place in the picture, from minus this to this."""
_BATCH = 16

Groups = NDArray[np.intp]
"""The number of every cell's group, from 1; 0 is no object."""


class PixelSpace(nn.Module):
    """A U-Net from pictures (items, 3, rows, columns) to places (items, dimensions, …)."""

    def __init__(self) -> None:
        super().__init__()
        width = _WIDTH
        self.down = nn.ModuleList(
            [
                _layer(3 + 2, width),
                _layer(width, 2 * width, stride=2),
                _layer(2 * width, 4 * width, stride=2),
                nn.Sequential(_layer(4 * width, 4 * width, stride=2), _layer(4 * width, 4 * width)),
            ]
        )
        self.up = nn.ModuleList(
            [
                _layer(8 * width, 4 * width),
                _layer(6 * width, 2 * width),
                _layer(3 * width, width),
            ]
        )
        self.place = nn.Conv2d(width, DIMENSIONS, 1)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        items, _, rows, columns = pictures.shape
        down = torch.linspace(-1, 1, rows, device=pictures.device)
        across = torch.linspace(-1, 1, columns, device=pictures.device)
        positions = torch.stack(torch.meshgrid(down, across, indexing="ij"))
        maps = torch.cat((pictures, positions.expand(items, 2, rows, columns)), 1)
        finer = []
        for layer in self.down:
            maps = layer(maps)
            finer.append(maps)
        for layer, skipped in zip(self.up, reversed(finer[:-1]), strict=True):
            maps = layer(torch.cat((interpolate(maps, scale_factor=2.0), skipped), 1))
        places: torch.Tensor = self.place(maps)
        # from where it is in the picture, every cell moves to where its object is
        return torch.cat((places[:, :2] + _SPREAD * positions, places[:, 2:]), 1)


def _layer(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, stride, 1)
    return nn.Sequential(convolution, nn.GroupNorm(4, outputs), nn.ReLU(inplace=True))


def grouping_losses(
    places: torch.Tensor,
    pictures: torch.Tensor,
    present: torch.Tensor,
    generator: torch.Generator | None = None,
) -> dict[str, torch.Tensor]:
    """Return what is to be as small as possible, and its weighted sum.

    It is how far apart like cells side by side are (closeness), and how much the distance of unlike
    cells side by side (border), and of unlike or far ones (separation), lacks of the margin.
    `present` (items, rows, columns) says where there is something; each item needs some.
    """
    hues = pictures / pictures.amax(1, keepdim=True).clamp(min=_DARK)
    steps = [_side_by_side(places, hues, present, *step) for step in _NEAR]
    distance = torch.cat([distance for distance, _ in steps])
    is_like = torch.cat([is_like for _, is_like in steps])
    closeness = _mean((distance**2)[is_like])
    border = _mean(_lack(distance[~is_like]))
    cells = present.flatten(1).float()
    sampled = torch.multinomial(cells, _SAMPLED, replacement=True, generator=generator)
    points = _pick(places, sampled)
    hue = _pick(hues, sampled)
    columns = present.shape[2]
    position = torch.stack((sampled // columns, sampled % columns), 2).float()
    is_far = torch.cdist(position, position) > _FAR
    is_unlike = (hue[:, :, None] - hue[:, None]).abs().amax(3) > _UNLIKE
    # a distance of 0 has no gradient
    between = torch.cdist(points, points + 1e-4)
    separation = _mean(_lack(between[is_far | is_unlike]))
    loss = _CLOSENESS * closeness + border + separation
    return {"loss": loss, "closeness": closeness, "border": border, "separation": separation}


def _side_by_side(
    places: torch.Tensor, hues: torch.Tensor, present: torch.Tensor, down: int, across: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the distances of cells one step apart, and whether they are of one colour."""
    rows, columns = present.shape[1:]
    first = slice(0, rows - down), slice(max(-across, 0), columns - max(across, 0))
    second = slice(down, rows), slice(max(across, 0), columns - max(-across, 0))
    both = present[:, *first] & present[:, *second]
    offsets = (places[:, :, *first] - places[:, :, *second]).movedim(1, 3)[both]
    unlikeness = (hues[:, :, *first] - hues[:, :, *second]).abs().amax(1)[both]
    # a distance of 0 has no gradient
    return (offsets + 1e-4).norm(dim=1), unlikeness <= _UNLIKE


def _lack(distance: torch.Tensor) -> torch.Tensor:
    return (MARGIN - distance).clamp(min=0) ** 2


def _mean(values: torch.Tensor) -> torch.Tensor:
    """Return the mean, or 0 of nothing."""
    return values.sum() / max(len(values), 1)


def _pick(maps: torch.Tensor, cells: torch.Tensor) -> torch.Tensor:
    """Return the vectors (items, cells, channels) of some cells of maps."""
    vectors = maps.flatten(2).transpose(1, 2)
    return vectors.gather(1, cells[:, :, None].expand(-1, -1, vectors.shape[2]))


def group_cells(places: NDArray[np.float32], present: Mask) -> Groups:
    """Return the group of every present cell; `places` are (dimensions, rows, columns).

    The cell with most others within half the margin is the middle of a group, which takes them;
    then the densest of the others, and so on. In the end every cell joins the nearest group.
    """
    groups = np.zeros(present.shape, dtype=np.intp)
    points = places[:, present].T
    near = _distances(points, points) < MARGIN / 2
    # as numbers: the densities are then a product of matrices
    weights = near.astype(np.float32)
    free = np.ones(len(points), dtype=np.float32)
    middles = []
    while free.any():
        middle = int((weights @ free * free).argmax())
        members = near[middle] & (free > 0)
        # rounding may leave a cell outside its own reach
        members[middle] = True
        middles.append(points[members].mean(0))
        free[members] = 0
    if middles:
        groups[present] = 1 + _distances(points, np.array(middles)).argmin(1)
    return groups


def _distances(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the distance of every point (points, dimensions) to every one of others."""
    squares = (first**2).sum(1)[:, None] + (second**2).sum(1)
    distances: NDArray[np.float32] = np.sqrt(np.maximum(squares - 2 * first @ second.T, 0))
    return distances


def to_grid(pictures: Pictures) -> Pictures:
    """Return pictures of `IMAGE_SIZE` pixels as cells, each the mean of the pixels it covers."""
    items = len(pictures)
    means = pictures.reshape(items, GRID, _SIDE, GRID, _SIDE, 3).mean((2, 4))
    cells: Pictures = means.round().astype(np.uint8)
    return cells


def present_cells(cells: Pictures) -> Mask:
    """Return where there is something (items, rows, columns)."""
    return np.stack([covered_pixels(picture) for picture in cells])


def measure_groups(picture: NDArray[np.uint8], groups: Groups) -> list[Detected]:
    """Measure the objects of a picture by the groups of its cells."""
    from scipy import ndimage

    # a pixel at an edge belongs to the nearest group
    nearest = ndimage.distance_transform_edt(
        groups == 0, return_distances=False, return_indices=True
    )
    owner = groups[tuple(nearest)].repeat(_SIDE, 0).repeat(_SIDE, 1)
    inside = covered_pixels(picture)
    detected = []
    for number, where in enumerate(ndimage.find_objects(owner), 1):
        # a group may have lost all of its cells to others
        if where is None:
            continue
        owned = owner[where] == number
        mask = inside[where] & owned
        if mask.sum() >= SMALLEST:
            colors = picture[where]
            light = np.where(owned, colors.max(2), 0)
            corner = (where[0].start, where[1].start)
            detected.append(measure_object(colors, light, mask, corner))
    return detected


class LearntObjectExtractor:
    """Slots of objects that a trained network finds; `folder` is that of its training."""

    image_size = IMAGE_SIZE

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if loop.read_result(folder / TRAINING) is None:
            raise UserError(
                f"'{folder}' has no network that finds objects: train one with "
                f"`python benchmarks/object_centred.py`, whose folder {PREFIX}FOLDER takes."
            )

    @property
    def name(self) -> str:
        """Return how a user asks for it."""
        return f"{PREFIX}{self.folder}"

    @property
    def fingerprint(self) -> str:
        """Return a digest of the weights."""
        weights = file_digest([self.folder / TRAINING / checkpoint.BEST])
        return f"objects-learnt-{IMAGE_SIZE}-{text_digest(f'1 {weights}')}"

    @cached_property
    def network(self) -> PixelSpace:
        """Return the trained network."""
        network = PixelSpace()
        checkpoint.load(network, None, self.folder / TRAINING / checkpoint.BEST)
        return network.eval()

    def group(self, pictures: Pictures) -> Groups:
        """Return the groups of the cells of pictures (items, rows, columns)."""
        cells = to_grid(pictures)
        with torch.inference_mode():
            places = self.network(_to_tensor(cells.transpose(0, 3, 1, 2))).numpy()
        present = present_cells(cells)
        return np.stack([group_cells(*item) for item in zip(places, present, strict=True)])

    def extract(self, pictures: Pictures) -> Floats:
        """Return one row of slots per picture."""
        rows = zip(pictures, self.group(pictures), strict=True)
        return np.stack([to_slots(measure_groups(*row), IMAGE_SIZE) for row in rows])


@dataclass(frozen=True)
class _Batches(Sequence[torch.Tensor]):
    """Pictures (items, channels, rows, columns) in batches."""

    pictures: NDArray[np.uint8]
    order: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.order) // _BATCH

    def __getitem__(self, index: int) -> torch.Tensor:  # type: ignore[override]
        if index >= len(self):
            raise IndexError(index)
        rows = self.order[index * _BATCH : (index + 1) * _BATCH]
        return torch.from_numpy(np.array(self.pictures[rows]))


def train_finder(
    items: ReasonerDataset, validation: ReasonerDataset, folder: Path, schedule: Schedule
) -> loop.Result:
    """Train a network that finds objects, or resume the folder's training.

    The features of the items are pictures of `GRID` pixels a side; nothing else of them is used.
    """
    torch.manual_seed(schedule.seed)
    network = PixelSpace()

    def losses(network: PixelSpace, pictures: torch.Tensor) -> dict[str, torch.Tensor]:
        cells = pictures.numpy().transpose(0, 2, 3, 1)
        present = torch.from_numpy(present_cells(cells))
        generator = None if network.training else torch.Generator().manual_seed(0)
        colors = _to_tensor(pictures.numpy())
        return grouping_losses(network(colors), colors, present, generator)

    def batches(epoch: int) -> _Batches:
        order = np.random.default_rng([schedule.seed, epoch]).permutation(len(items))
        return _Batches(items.features, order)

    def validate(network: PixelSpace) -> loop.Measurements:
        held_out = _Batches(validation.features, np.arange(len(validation)))
        return loop.mean_losses(network, held_out, losses, len)

    settings = {"items": len(items), "pictures": items.fingerprint}
    return loop.train(
        network, batches, losses, validate, folder / TRAINING, schedule, settings, device="cpu"
    )


def _to_tensor(pictures: NDArray[np.uint8]) -> torch.Tensor:
    """Return bytes, channels first, as numbers from 0 to 1."""
    return torch.from_numpy(np.ascontiguousarray(pictures)).float().div_(255)
