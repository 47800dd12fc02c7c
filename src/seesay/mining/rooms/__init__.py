"""Synthetic rooms to test mining: 3-D objects of known size, colour and height, seen by a pinhole
camera.

>>> shot = snapshot(0, seed=0)
>>> shot.picture.scene, len(shot.picture.regions) == len(shot.objects), shot.view.depth.shape
('bathroom', True, (240, 320))
"""

from seesay.mining.rooms.dataset_writer import Snapshot, snapshot, snapshots, write_rooms
from seesay.mining.rooms.sampling import Room, RoomObject
from seesay.mining.rooms.truth import RoomTruth, elevation, larger

__all__ = [
    "Room",
    "RoomObject",
    "RoomTruth",
    "Snapshot",
    "elevation",
    "larger",
    "snapshot",
    "snapshots",
    "write_rooms",
]
