"""Positions of GNSS against its velocities: latitude and longitude in degrees, altitude in m upwards."""

from __future__ import annotations

from math import cos, radians

import numpy as np

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.sensor_data import COLUMN, Floats
from paddock.testing.adapters.rig import AdapterRig

SECONDS = 6.0
DEGREE = 111_000.0
"""m of latitude in a degree, to half a percent."""
AXES = {"latitude": "gnss_vn", "longitude": "gnss_ve", "altitude": "gnss_vd"}
LEAST_SPREAD = 0.2
"""m (standard deviation) that a vehicle has to move along an axis to be judged by it."""
SURE = 0.1
"""Standard error of a ratio above which noise might explain anything."""
TOLERANCE = 0.5
"""A ratio that is further from 1 is no noise."""
PUSH = 0.1
"""Share of thrust by which a copter's rear motors exceed the front ones for a moment, then fall short of them."""


def check_position(rig: AdapterRig) -> str:
    """A vehicle in motion gets where its velocity leads."""
    rows = _travel(rig)
    samples = rows[np.unique(rows[:, COLUMN["gnss_time_us"]], return_index=True)[1]]
    samples = samples[~np.isnan(samples[:, [COLUMN[name] for pair in AXES.items() for name in pair]]).any(axis=1)]
    if len(samples) < 5:
        return "not tried: no GNSS"
    judged = [name for name in AXES if _agrees(rig, samples, name)]
    return f"{', '.join(judged)} as the velocity says" if judged else "not judged: it hardly moves"


def _travel(rig: AdapterRig) -> Floats:
    """Rows of a vehicle that moves, if it can be made to."""
    adapter, motion = rig.connected(), None if rig.motion is None else rig.motion.copy()
    if motion is not None and rig.craft == "rover":
        motion.motors[:2] = motion.motors[:2].mean()  # straight on
    if motion is None or rig.craft != "copter":
        return rig.record(adapter, rig.steps_for(SECONDS), motion)
    parts = []
    for share, seconds in ((0.0, 0.5), (PUSH, 0.1), (-PUSH, 0.1), (0.0, SECONDS - 0.7)):
        front, rear = motion.motors[0] - share, motion.motors[0] + share
        tilting = ActuatorCommands(armed=True, motors=[front, rear, front, rear])
        parts.append(rig.record(adapter, rig.steps_for(seconds), tilting))
    return np.concatenate(parts)


def _agrees(rig: AdapterRig, samples: Floats, name: str) -> bool:
    """Whether the vehicle has moved along this axis, and then as far as the velocity says."""
    times, velocity = samples[:, COLUMN["gnss_time_us"]] * 1e-6, samples[:, COLUMN[AXES[name]]]
    steps = np.diff(times) * 0.5 * (velocity[1:] + velocity[:-1])
    expected = np.concatenate([[0.0], np.cumsum(steps)])
    shown = (samples[:, COLUMN[name]] - samples[0, COLUMN[name]]) * _scale(name, samples)
    expected, shown = expected - expected.mean(), shown - shown.mean()
    if expected.std() < LEAST_SPREAD:
        return False
    ratio = float(expected @ shown / (expected @ expected))
    error = float(np.linalg.norm(shown - ratio * expected) / np.linalg.norm(expected) / np.sqrt(len(shown) - 2))
    if error > SURE:
        return False
    if abs(ratio - 1.0) > TOLERANCE:
        unit = "m, upwards" if name == "altitude" else "degrees"
        rig.fail(f"{name} changes {ratio:.3g} times as much as {AXES[name]} says: it has to be in {unit}")
    return True


def _scale(name: str, samples: Floats) -> float:
    """m towards the velocity's side for one unit."""
    narrower = cos(radians(samples[0, COLUMN["latitude"]]))
    return {"latitude": DEGREE, "longitude": DEGREE * narrower, "altitude": -1.0}[name]
