"""Tracks: cones, boundaries, middle line, gates; loaded from files, generated, or of the catalog.

from paddock import track

t = track.load("autocross")
along, offset = t.locate(x, y)
"""

from typing import TYPE_CHECKING

from paddock.errors import lazy_names
from paddock.track.track import CONE_COLOURS, CONE_SIZES, Gate, Track

if TYPE_CHECKING:
    from paddock.track.building import from_cones
    from paddock.track.formula_student import generate
    from paddock.track.loading import dump, formats, load, names, parse
    from paddock.track.ordering import TrackShapeError
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
_HOMES = {
    **dict.fromkeys(("TrackFileError", "dump", "formats", "load", "names", "parse"), "loading"),
    **{"TrackShapeError": "ordering", "from_cones": "building", "generate": "formula_student"},
}
__getattr__ = lazy_names(__name__, _HOMES)  # imported on first use: the geometry of cones needs SciPy
