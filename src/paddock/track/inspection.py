"""Figures of a track, and what in it breaks the rules of Formula Student for autocross and trackdrive."""

from typing import Any

import numpy as np

from paddock.compute import arrays
from paddock.track.generator import HAIRPIN, LONGEST, NARROWEST, SHORTEST, STRAIGHT, straightest
from paddock.track.lines import Floats, lengths
from paddock.track.skidpad import find_skidpad
from paddock.track.track import CONE_COLOURS, YELLOW, Track

FARTHEST = 5.0  # m between neighbouring cones of a boundary
TOLERANCE = 0.05  # m: positions in files are rounded, and boundaries are curves through cones
SHOWN = 5  # places that a problem lists


def figures(track: Track) -> dict[str, Any]:
    """Return length and widths (m), tightest radius (m, None: straight), cones by colour, gates and problems."""
    bend = np.abs(track.curvature)
    tightest = int(np.argmax(bend))
    return {
        "name": track.name,
        "closed": track.closed,
        "length": round(track.length, 2),
        "width": [round(float(track.width.min()), 2), round(float(track.width.max()), 2)],
        "tightest_radius": None if bend[tightest] < 1e-6 else round(float(1.0 / bend[tightest]), 2),
        "longest_straight": round(straightest(track), 1),
        "cones": {name: len(track.of_colour(name)) for name in CONE_COLOURS if len(track.of_colour(name))},
        "start": list(track.start),
        "gates": [gate.name for gate in track.gates],
        "problems": problems(track),
    }


def problems(track: Track) -> list[str]:
    """Return one line for each rule that a track breaks."""
    found: list[str] = []
    beyond = start_beyond(track)
    if beyond > TOLERANCE:
        found.append(f"start pose {_at(np.array(track.start[:2]))}, {beyond:.1f} m outside the track")
    narrow = np.flatnonzero(track.width < NARROWEST - TOLERANCE)
    if len(narrow):
        least = int(np.argmin(track.width))
        found.append(f"width {track.width[least]:.2f} m {_at(track.centre[least])}, at least {NARROWEST:g} m")
    for name, side in (("left", track.left_cones), ("right", track.right_cones)):
        found += _gaps(track, name, side)
    if track.closed and not SHORTEST <= track.length <= LONGEST:
        found.append(f"lap of {track.length:.0f} m, {SHORTEST:g} to {LONGEST:g} m are allowed")
    if track.closed and (straight := straightest(track)) > STRAIGHT:
        found.append(f"straight of {straight:.0f} m, at most {STRAIGHT:g} m")
    outside = outside_diameters(track)
    if outside.min() < HAIRPIN - 2.0 * TOLERANCE:
        k = int(np.argmin(outside))
        found.append(f"hairpin of {outside[k]:.1f} m outside diameter {_at(track.centre[k])}, at least {HAIRPIN:g} m")
    yellow = int(np.count_nonzero(track.colours[track.left_cones] == YELLOW))
    if yellow and len(track.left_cones):
        found.append(f"{yellow} yellow cones on the left, where blue ones belong: swap the colours")
    return found


def _gaps(track: Track, name: str, side: Any) -> list[str]:
    """Return a line about neighbouring cones of a boundary that are too far apart."""
    if len(side) < 2 or find_skidpad(track.cones, track.colours) is not None:  # its circles have their own distances
        return []
    places = track.cones[side]
    places = np.concatenate([places, places[:1]]) if track.closed else places
    steps = lengths(np.diff(places, axis=0))
    wide = np.flatnonzero(steps > FARTHEST + TOLERANCE)
    if not len(wide):
        return []
    k = int(np.argmax(steps))
    more = "" if len(wide) == 1 else f" ({len(wide)} such gaps)"
    return [f"{name} cones {steps[k]:.2f} m apart {_at(places[k])}, at most {FARTHEST:g} m{more}"]


def start_beyond(track: Track) -> float:
    """Return how far (m) the start pose is outside the boundaries; the way before an open track does not count."""
    x, y, _ = track.start
    along, _ = track.locate(x, y)
    heading, (px, py) = np.array([float(track.heading_at(along))]), track.point_at(along).tolist()
    aside = float(arrays.cos(heading)[0] * (y - py) - arrays.sin(heading)[0] * (x - px))
    left, right = track.widths_at(along)
    return max(aside - float(left), -aside - float(right))


def outside_diameters(track: Track) -> Floats:
    """Return the diameter (m) of the outer boundary at each point of the middle line; inf where it is straight."""
    bend = track.curvature
    outer = np.where(bend > 0.0, track.right_width, track.left_width)
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * (1.0 / np.abs(bend) + outer))


def _at(place: Floats) -> str:
    return f"at ({place[0]:.1f}, {place[1]:.1f})"
