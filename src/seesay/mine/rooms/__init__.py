"""A world to test mining in: 3-D rooms with things of known size, colour and height, seen by a pinhole camera.

>>> shot = snapshot(0, seed=0)
>>> shot.picture.scene, len(shot.picture.regions) == len(shot.things), shot.view.depth.shape
('bathroom', True, (240, 320))
"""

from seesay.mine.rooms.dataset_writer import Snapshot, snapshot, snapshots, write_rooms
from seesay.mine.rooms.raster import RoomView
from seesay.mine.rooms.sampling import Room, RoomObject
from seesay.mine.rooms.truth import RoomTruth, elevation, larger

__all__ = [
    "Room",
    "RoomObject",
    "RoomTruth",
    "RoomView",
    "Snapshot",
    "elevation",
    "larger",
    "snapshot",
    "snapshots",
    "write_rooms",
]
