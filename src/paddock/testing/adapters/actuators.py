"""Actuator commands: NaN is refused, excess is clipped, and they move what they should."""

from __future__ import annotations

from math import inf, nan

import numpy as np

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.sensor_data import COLUMN, Floats
from paddock.testing.adapters.rig import AdapterRig

SECONDS = 2.0


def check_refused(rig: AdapterRig) -> str:
    """NaN in any place is refused, and leaves what was there."""
    adapter = rig.connected()
    for name, commands in {
        "motor": ActuatorCommands(armed=True, motors=[nan, 0.5]),
        "last servo": ActuatorCommands(armed=True, servos=[0.0] * 7 + [nan]),
        "arming": ActuatorCommands(np.array([nan, *np.zeros(16)])),
    }.items():
        rig.refuses(f"a command whose {name} is NaN", lambda given=commands: adapter.send_actuators(given, 1))  # type: ignore[misc]
    rows = rig.record(adapter, 5, None)
    if rig.rests and _greatest_speed(rows) > 0.5:
        rig.fail("a refused command moved the vehicle")
    return "NaN in motors, servos and arming refused"


def check_clipping(rig: AdapterRig) -> str:
    """Commands beyond their range, even infinite ones, do what the limit does."""
    large = ActuatorCommands(armed=True, motors=[5.0] * 4)
    endless = ActuatorCommands(armed=True, motors=[inf] * 4)
    full = ActuatorCommands(armed=True, motors=[1.0] * 4)
    limit, beyond, far = (rig.record(rig.connected(), 10, commands) for commands in (full, large, endless))
    for rows in (beyond, far):
        if np.isinf(rows).any():
            rig.fail("a command beyond its range makes a sensor value infinite")
        if rig.deterministic:
            rig.same(limit, rows, "between motors at 1 and motors beyond 1")
    return "motors at 5 and at infinity are motors at 1"


def check_effect(rig: AdapterRig) -> str:
    """An armed vehicle moves, a disarmed one does not, and a vehicle beside it is not concerned."""
    if rig.motion is None:
        return "not tried: no commands given that move this craft"
    count = rig.steps_for(SECONDS)
    moved = _greatest_speed(rig.record(rig.connected(), count, rig.motion))
    if moved < 0.5:
        rig.fail(f"armed and with motors running the vehicle shows no motion ({moved:.2f})")
    disarmed = rig.motion.copy()
    disarmed.row[0] = 0.0
    if rig.rests and (still := _greatest_speed(rig.record(rig.connected(), count, disarmed))) > 0.5 * moved:
        rig.fail(f"disarmed, with motors commanded, the vehicle moves all the same ({still:.2f})")
    if rig.rests and rig.several() > 1:
        adapter = rig.connected(2)
        adapter.send_actuators(rig.motion, 2)
        if (other := _greatest_speed(rig.record(adapter, count, None))) > 0.5 * moved:
            rig.fail(f"commands for vehicle 2 move vehicle 1 ({other:.2f})")
    return f"moves at {moved:.1f} m/s when armed, stays when disarmed"


def _greatest_speed(rows: Floats) -> float:
    """The greatest speed shown (m/s): the true one, else that of GNSS, else what the accelerometer gathers."""
    velocity = rows[:, COLUMN["gnss_vn"] : COLUMN["gnss_vd"] + 1]
    truth = rows[:, COLUMN["true_vn"] : COLUMN["true_vd"] + 1]
    for values in (truth, velocity):
        if not np.isnan(values).all():
            return float(np.nanmax(np.linalg.norm(values, axis=1)))
    steps = np.diff(rows[:, 0], prepend=rows[0, 0]) * 1e-6
    force = rows[:, COLUMN["accel_x"] : COLUMN["accel_z"] + 1] + np.array([0.0, 0.0, 9.80665])
    return float(np.abs(np.nancumsum(force * steps[:, None], axis=0)).max())
