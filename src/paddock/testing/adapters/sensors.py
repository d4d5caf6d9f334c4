"""Sensor data: physically plausible, in the right axes and units, as declared, and new only once."""

from __future__ import annotations

from math import isnan

import numpy as np

from paddock.sitl.sensor_data import COLUMN, TRUTH, Columns, Floats
from paddock.testing.adapters.rig import AdapterRig

GRAVITY = 9.80665
RANGES = {
    "latitude": (-90.0, 90.0),
    "longitude": (-180.0, 180.0),
    "altitude": (-500.0, 50_000.0),
    "gnss_fix": (0.0, 8.0),
    "gnss_satellites": (0.0, 60.0),
    "pressure": (5_000.0, 110_000.0),
    "temperature": (180.0, 340.0),
    "battery_remaining": (0.0, 1.0),
    "battery_voltage": (0.0, 1_000.0),
    "airspeed": (-5.0, 400.0),
}
"""What no vehicle in the air or on the ground can leave."""
FIELD = (1.8e-5, 7.2e-5)
"""T: the Earth's magnetic field, with some noise."""
BELONGING = {
    "imu": ("imu_time_us", ("gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z")),
    "gnss": ("gnss_time_us", ("latitude", "longitude", "altitude", "gnss_vn", "gnss_ve", "gnss_vd")),
    "compass": ("compass_time_us", ("mag_x", "mag_y", "mag_z")),
    "barometer": ("baro_time_us", ("pressure", "temperature")),
    "rangefinder": ("range_time_us", ("range_1",)),
    "airspeed": ("", ("airspeed",)),
    "battery": ("", ("battery_voltage",)),
    "truth": ("", tuple(Columns._fields[TRUTH])),
}
"""Sensor -> the time of its sample, and the columns that it fills."""


def check_sensors(rig: AdapterRig) -> str:
    """Values in their ranges, times of samples that never fall and never lie ahead."""
    adapter = rig.connected()
    rows = rig.record(adapter, rig.steps_for(2.0), None)
    for name, (low, high) in RANGES.items():
        values = rows[:, COLUMN[name]]
        bad = values[~np.isnan(values) & ~((values >= low) & (values <= high))]
        if bad.size:
            rig.fail(f"{name} is {bad[0]:g}, outside {low:g} to {high:g}")
    if np.isinf(rows).any():
        rig.fail(f"{Columns._fields[int(np.argwhere(np.isinf(rows))[0, 1])]} is infinite: what is not measured is NaN")
    _check_times(rig, rows, adapter.sim_time_us)
    field = np.linalg.norm(rows[:, COLUMN["mag_x"] : COLUMN["mag_z"] + 1], axis=1)
    if np.nanmax(field, initial=FIELD[0]) > FIELD[1] or np.nanmin(field, initial=FIELD[1]) < FIELD[0]:
        rig.fail(
            f"the magnetic field has {field[-1]:.3g} T; the Earth's has {FIELD[0]:g} to {FIELD[1]:g} (is it gauss?)"
        )
    quaternion = np.linalg.norm(rows[:, COLUMN["true_qw"] : COLUMN["true_qz"] + 1], axis=1)
    if (np.abs(quaternion[~np.isnan(quaternion)] - 1.0) > 1e-6).any():
        rig.fail(f"the true attitude is not a unit quaternion: norm {quaternion[-1]:.6g}")
    return f"{len(rows)} rows plausible"


def _check_times(rig: AdapterRig, rows: Floats, now_us: int) -> None:
    if rows[-1, 0] != now_us:
        rig.fail(f"time_us is {rows[-1, 0]:.0f} after the last step, sim_time_us {now_us}")
    for name, k in COLUMN.items():
        if name.endswith("time_us"):
            times = rows[:, k]
            if np.isnan(times).any() or (np.diff(times) < 0.0).any():
                rig.fail(f"{name} falls, or is NaN: -1 stands for never")
            if (times > rows[:, 0]).any():
                rig.fail(f"{name} lies ahead of time_us")


def check_at_rest(rig: AdapterRig) -> str:
    """A vehicle that nobody commands stands on the ground: specific force up (FRD: -z), no rates, no velocity."""
    if not rig.rests:
        return "not claimed"
    rows = rig.record(rig.connected(), rig.steps_for(3.0), None)
    late = rows[len(rows) // 2 :]
    force = _mean(late, "accel_x")
    if np.isnan(force).any():
        return "no accelerometer"
    if not np.allclose(force, (0.0, 0.0, -GRAVITY), atol=0.5):
        shown = ", ".join(f"{value:.2f}" for value in force)
        rig.fail(f"at rest the specific force is ({shown}) m/s2, not (0, 0, -{GRAVITY:.2f}): forward-right-down")
    rates, speed = _mean(late, "gyro_x"), _mean(late, "gnss_vn")
    if np.abs(rates).max() > 0.05:
        rig.fail(f"at rest the gyroscope shows {np.abs(rates).max():.3f} rad/s")
    if np.abs(speed).max() > 0.3:
        rig.fail(f"at rest GNSS shows {np.abs(speed).max():.2f} m/s")
    return f"specific force {force[2]:.2f} m/s2 downwards, rates below {np.abs(rates).max():.4f} rad/s"


def _mean(rows: Floats, first: str) -> Floats:
    """The mean of three columns, (3,); NaN where nothing was measured."""
    values = rows[:, COLUMN[first] : COLUMN[first] + 3]
    known = ~np.isnan(values).any(axis=1)
    return np.asarray(values[known].mean(axis=0)) if known.any() else np.full(3, np.nan)


def check_capabilities(rig: AdapterRig) -> str:
    """What is declared is delivered, again and again; what is not declared is NaN."""
    adapter = rig.connected()
    rows = rig.record(adapter, rig.steps_for(3.0), None)
    declared = adapter.capabilities.sensors
    for name, (clock, columns) in BELONGING.items():
        values = rows[:, [COLUMN[column] for column in columns]]
        if name not in declared and not np.isnan(values).all():
            rig.fail(f"{name} is not declared, but {columns[0]} and others are filled: NaN is what nobody measures")
        if name in declared and np.isnan(values[-1]).any():
            rig.fail(f"{name} is declared, but {columns[int(np.isnan(values[-1]).argmax())]} stays NaN")
        if name in declared and clock and len(np.unique(rows[:, COLUMN[clock]])) < 3:
            rig.fail(f"{name} is declared, but {clock} shows fewer than 3 samples in 3 s")
    return f"{len(declared)} kinds of sensor delivered, {len(BELONGING) - len(declared)} absent as declared"


def check_news(rig: AdapterRig) -> str:
    """The same data is not delivered twice, and what was delivered stays as it was."""
    adapter = rig.connected()
    rig.step(adapter, 2)
    first = rig.sensors(adapter)
    kept = first.row.copy()
    if adapter.supports_lockstep and adapter.receive_sensors(1) is not None:
        rig.fail("receive_sensors delivers the same data twice: None means that there is nothing newer")
    rig.step(adapter, 2)
    second = rig.sensors(adapter)
    if not np.array_equal(first.row, kept, equal_nan=True):
        rig.fail("a row that was delivered changed with a later step: it belongs to who received it")
    if isnan(second.time_us) or second.time_us <= first.time_us:
        rig.fail(f"time_us went from {first.time_us:.0f} to {second.time_us:.0f} over two steps")
    return "delivered once, kept for good"
