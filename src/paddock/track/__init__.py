"""Tracks: cones, boundaries, middle line, gates; loaded from files, generated, or of the catalog.

from paddock import track

t = track.load("autocross")
along, offset = t.locate(x, y)
"""

from paddock.track.building import from_cones
from paddock.track.generator import generate
from paddock.track.loading import dump, formats, load, parse
from paddock.track.ordering import TrackShapeError
from paddock.track.standard import names
from paddock.track.track import CONE_COLOURS, CONE_SIZES, Gate, Track
from paddock.wire.tracks import TrackFileError

__all__ = [
    "CONE_COLOURS",
    "CONE_SIZES",
    "Gate",
    "Track",
    "TrackFileError",
    "TrackShapeError",
    "dump",
    "formats",
    "from_cones",
    "generate",
    "load",
    "names",
    "parse",
]
