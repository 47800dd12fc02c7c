"""A world to test mining in: 3-D rooms with things of known size, colour and height, seen by a pinhole camera.

>>> shot = snapshot(0, seed=0)
>>> shot.picture.scene, len(shot.picture.regions) == len(shot.things), shot.view.depth.shape
('bathroom', True, (240, 320))
"""

from seesay.mine.rooms.dataset_writer import Snapshot, snapshot, snapshots, write
from seesay.mine.rooms.raster import View
from seesay.mine.rooms.sampling import Room, Thing
from seesay.mine.rooms.truth import Tally, elevation, larger

__all__ = ["Room", "Snapshot", "Tally", "Thing", "View", "elevation", "larger", "snapshot", "snapshots", "write"]
