"""Check that a simulator adapter keeps its contract; here the checks of sensor data, positions and commands."""

import threading
from collections.abc import Callable
from math import cos, inf, isnan, nan, radians

import numpy as np

from paddock.autopilot.vehicle_data import COLUMN, TRUTH, ActuatorCommands, Floats, SensorColumns
from paddock.sitl.adapter import SimulatorAdapter, find_adapter
from paddock.testing import adapter_contract
from paddock.testing.adapter_contract import AdapterRig
from paddock.testing.conformance import ConformanceError, ConformanceReport, run_checks

GRAVITY = 9.80665
RANGES = {  # plausible range of each column
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
FIELD = (1.8e-5, 7.2e-5)  # T: the Earth's magnetic field, with some noise
BELONGING = {  # sensor -> the column with its sample time, and the columns that it fills
    "imu": ("imu_time_us", ("gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z")),
    "gnss": ("gnss_time_us", ("latitude", "longitude", "altitude", "gnss_vn", "gnss_ve", "gnss_vd")),
    "compass": ("compass_time_us", ("mag_x", "mag_y", "mag_z")),
    "barometer": ("baro_time_us", ("pressure", "temperature")),
    "rangefinder": ("range_time_us", ("range_1",)),
    "airspeed": ("", ("airspeed",)),
    "battery": ("", ("battery_voltage",)),
    "truth": ("", tuple(SensorColumns._fields[TRUTH])),
}


def check_sensors(rig: AdapterRig) -> str:
    """Values are plausible; sample times never decrease and are never in the future."""
    adapter = rig.connected()
    rows = rig.record(adapter, rig.steps_for(2.0), None)
    for name, (low, high) in RANGES.items():
        values = rows[:, COLUMN[name]]
        bad = values[~np.isnan(values) & ~((values >= low) & (values <= high))]
        if bad.size:
            rig.fail(f"{name} is {bad[0]:g}, outside {low:g} to {high:g}")
    if np.isinf(rows).any():
        name = SensorColumns._fields[int(np.argwhere(np.isinf(rows))[0, 1])]
        rig.fail(f"{name} is infinite: use NaN for no measurement")
    if rows[-1, 0] != adapter.sim_time_us:
        rig.fail(f"time_us is {rows[-1, 0]:.0f} after the last step, sim_time_us {adapter.sim_time_us}")
    for name, k in COLUMN.items():
        if name.endswith("time_us"):
            if np.isnan(rows[:, k]).any() or (np.diff(rows[:, k]) < 0.0).any():
                rig.fail(f"{name} decreases, or is NaN: -1 means never")
            if (rows[:, k] > rows[:, 0]).any():
                rig.fail(f"{name} is later than time_us")
    field = np.linalg.norm(rows[:, COLUMN["mag_x"] : COLUMN["mag_z"] + 1], axis=1)
    if np.nanmax(field, initial=FIELD[0]) > FIELD[1] or np.nanmin(field, initial=FIELD[1]) < FIELD[0]:
        rig.fail(
            f"the magnetic field has {field[-1]:.3g} T; the Earth's has {FIELD[0]:g} to {FIELD[1]:g} (is it gauss?)"
        )
    quaternion = np.linalg.norm(rows[:, COLUMN["true_qw"] : COLUMN["true_qz"] + 1], axis=1)
    if (np.abs(quaternion[~np.isnan(quaternion)] - 1.0) > 1e-6).any():
        rig.fail(f"the true attitude is not a unit quaternion: norm {quaternion[-1]:.6g}")
    return f"{len(rows)} rows plausible"


def check_at_rest(rig: AdapterRig) -> str:
    """An uncommanded vehicle is at rest: specific force up (FRD: -z), no rates, no velocity."""
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
    """Return the mean of three columns, (3,); NaN where nothing was measured."""
    values = rows[:, COLUMN[first] : COLUMN[first] + 3]
    measured = ~np.isnan(values).any(axis=1)
    return np.asarray(values[measured].mean(axis=0)) if measured.any() else np.full(3, np.nan)


def check_capabilities(rig: AdapterRig) -> str:
    """Declared sensors deliver several samples; the others are NaN."""
    adapter = rig.connected()
    rows = rig.record(adapter, rig.steps_for(3.0), None)
    declared = adapter.capabilities.sensors
    for name, (clock, columns) in BELONGING.items():
        values = rows[:, [COLUMN[column] for column in columns]]
        if name not in declared and not np.isnan(values).all():
            rig.fail(f"{name} is not declared, but {columns[0]} and others are filled: they must be NaN")
        if name in declared and np.isnan(values[-1]).any():
            rig.fail(f"{name} is declared, but {columns[int(np.isnan(values[-1]).argmax())]} stays NaN")
        if name in declared and clock and len(np.unique(rows[:, COLUMN[clock]])) < 3:
            rig.fail(f"{name} is declared, but {clock} shows fewer than 3 samples in 3 s")
    return f"{len(declared)} kinds of sensor delivered, {len(BELONGING) - len(declared)} absent as declared"


def check_news(rig: AdapterRig) -> str:
    """Data is delivered once, and a delivered row never changes."""
    adapter = rig.connected()
    rig.step(adapter, 2)
    first = rig.sensors(adapter)
    copy = first.row.copy()
    if adapter.supports_lockstep and adapter.receive_sensors(1) is not None:
        rig.fail("receive_sensors delivers the same data twice: return None when there is nothing newer")
    rig.step(adapter, 2)
    second = rig.sensors(adapter)
    if not np.array_equal(first.row, copy, equal_nan=True):
        rig.fail("a delivered row changed with a later step: return a copy")
    if isnan(second.time_us) or second.time_us <= first.time_us:
        rig.fail(f"time_us went from {first.time_us:.0f} to {second.time_us:.0f} over two steps")
    return "delivered once, never changed"


EFFECT_TIME = 2.0


def check_refused(rig: AdapterRig) -> str:
    """NaN in any column is refused, and the previous commands hold."""
    adapter = rig.connected()
    for name, commands in {
        "motor": ActuatorCommands(armed=True, motors=[nan, 0.5]),
        "last servo": ActuatorCommands(armed=True, servos=[0.0] * 7 + [nan]),
        "arming": ActuatorCommands(np.array([nan, *np.zeros(16)])),
    }.items():
        rig.refuses(f"a command whose {name} is NaN", lambda refused=commands: adapter.send_actuators(refused, 1))  # type: ignore[misc]
    rows = rig.record(adapter, 5, None)
    if rig.rests and _greatest_speed(rows) > 0.5:
        rig.fail("a refused command moved the vehicle")
    return "NaN in motors, servos and arming refused"


def check_clipping(rig: AdapterRig) -> str:
    """Commands out of range, even infinite ones, act as the limit."""
    tried = [ActuatorCommands(armed=True, motors=[share] * 4) for share in (1.0, 5.0, inf)]
    limit, beyond, far = (rig.record(rig.connected(), 10, commands) for commands in tried)
    for rows in (beyond, far):
        if np.isinf(rows).any():
            rig.fail("a command out of range makes a sensor value infinite")
        if rig.deterministic:
            rig.same(limit, rows, "between motors at 1 and motors beyond 1")
    return "motors at 5 and at infinity are motors at 1"


def check_effect(rig: AdapterRig) -> str:
    """An armed vehicle moves; a disarmed one and its neighbour do not."""
    if rig.motion is None:
        return "not tried: no commands given that move this craft"
    count = rig.steps_for(EFFECT_TIME)
    moved = _greatest_speed(rig.record(rig.connected(), count, rig.motion))
    if moved < 0.5:
        rig.fail(f"armed and with motors running the vehicle shows no motion ({moved:.2f})")
    disarmed = rig.motion.copy()
    disarmed.row[0] = 0.0
    if rig.rests and (still := _greatest_speed(rig.record(rig.connected(), count, disarmed))) > 0.5 * moved:
        rig.fail(f"disarmed, with motors commanded, the vehicle still moves ({still:.2f})")
    if rig.rests and rig.several() > 1:
        adapter = rig.connected(2)
        adapter.send_actuators(rig.motion, 2)
        if (other := _greatest_speed(rig.record(adapter, count, None))) > 0.5 * moved:
            rig.fail(f"commands for vehicle 2 move vehicle 1 ({other:.2f})")
    return f"moves at {moved:.1f} m/s when armed, stays when disarmed"


def _greatest_speed(rows: Floats) -> float:
    """Return the greatest speed (m/s): the true one, else of GNSS, else integrated from the accelerometer."""
    velocity = rows[:, COLUMN["gnss_vn"] : COLUMN["gnss_vd"] + 1]
    truth = rows[:, COLUMN["true_vn"] : COLUMN["true_vd"] + 1]
    for values in (truth, velocity):
        if not np.isnan(values).all():
            return float(np.nanmax(np.linalg.norm(values, axis=1)))
    steps = np.diff(rows[:, 0], prepend=rows[0, 0]) * 1e-6
    force = rows[:, COLUMN["accel_x"] : COLUMN["accel_z"] + 1] + np.array([0.0, 0.0, GRAVITY])
    return float(np.abs(np.nancumsum(force * steps[:, None], axis=0)).max())


TRAVEL_TIME = 6.0
DEGREE = 111_000.0  # m of latitude in a degree, to half a percent
AXES = {"latitude": "gnss_vn", "longitude": "gnss_ve", "altitude": "gnss_vd"}
LEAST_SPREAD = 0.2  # m (standard deviation) of motion along an axis that is needed to judge it
SURE = 0.1  # standard error of a ratio above which it is not judged
TOLERANCE = 0.5  # largest difference of the ratio from 1
PUSH = 0.1  # share of thrust by which a copter's rear motors exceed the front ones, then fall short of them, to tilt it


def check_position(rig: AdapterRig) -> str:
    """Positions of a moving vehicle agree with its velocity."""
    rows = _travel(rig)
    samples = rows[np.unique(rows[:, COLUMN["gnss_time_us"]], return_index=True)[1]]
    samples = samples[~np.isnan(samples[:, [COLUMN[name] for pair in AXES.items() for name in pair]]).any(axis=1)]
    if len(samples) < 5:
        return "not tried: no GNSS"
    judged = [name for name in AXES if _agrees(rig, samples, name)]
    return f"consistent with velocity: {', '.join(judged)}" if judged else "not judged: too little motion"


def _travel(rig: AdapterRig) -> Floats:
    """Return rows of a vehicle in motion, if commands for it are known."""
    adapter, motion = rig.connected(), None if rig.motion is None else rig.motion.copy()
    if motion is not None and rig.craft == "rover":
        motion.motors[:2] = motion.motors[:2].mean()  # straight ahead
    if motion is None or rig.craft != "copter":
        return rig.record(adapter, rig.steps_for(TRAVEL_TIME), motion)
    parts = []
    for share, seconds in ((0.0, 0.5), (PUSH, 0.1), (-PUSH, 0.1), (0.0, TRAVEL_TIME - 0.7)):
        front, rear = motion.motors[0] - share, motion.motors[0] + share
        tilting = ActuatorCommands(armed=True, motors=[front, rear, front, rear])
        parts.append(rig.record(adapter, rig.steps_for(seconds), tilting))
    return np.concatenate(parts)


def _agrees(rig: AdapterRig, samples: Floats, name: str) -> bool:
    """Return whether the axis could be judged; fail if position and velocity disagree."""
    times, velocity = samples[:, COLUMN["gnss_time_us"]] * 1e-6, samples[:, COLUMN[AXES[name]]]
    steps = np.diff(times) * 0.5 * (velocity[1:] + velocity[:-1])
    expected = np.concatenate([[0.0], np.cumsum(steps)])
    narrower = cos(radians(samples[0, COLUMN["latitude"]]))
    scale = {"latitude": DEGREE, "longitude": DEGREE * narrower, "altitude": -1.0}[name]  # m along the velocity's axis
    shown = (samples[:, COLUMN[name]] - samples[0, COLUMN[name]]) * scale
    expected, shown = expected - expected.mean(), shown - shown.mean()
    if expected.std() < LEAST_SPREAD:
        return False
    ratio = float(expected @ shown / (expected @ expected))
    error = float(np.linalg.norm(shown - ratio * expected) / np.linalg.norm(expected) / np.sqrt(len(shown) - 2))
    if error > SURE:
        return False
    if abs(ratio - 1.0) > TOLERANCE:
        unit = "m, upwards" if name == "altitude" else "degrees"
        rig.fail(f"{name} changes {ratio:.3g} times as much as {AXES[name]} implies: it must be in {unit}")
    return True


PATIENCE = 20.0  # s after which a call counts as hanging; a step has a timeout of 5


def watched(run: Callable[[AdapterRig], str], rig: AdapterRig) -> str:
    """Run a check in a thread and return its result; disconnect its adapters unless a call hangs."""
    results: list[str] = []
    failures: list[BaseException] = []

    def work() -> None:
        parts: tuple[Callable[[], None], ...] = (lambda: results.append(run(rig)), rig.disconnect_all)
        for part in parts:
            try:
                part()
            except BaseException as error:
                failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        before = rig.calls
        thread.join(PATIENCE)
        if thread.is_alive() and rig.calls == before:
            rig.fail(f"{rig.doing} has not returned after {PATIENCE:g} s")
    if failures:
        raise failures[0]
    return results[0]


CHECKS: dict[str, Callable[[AdapterRig], str]] = {  # the checks, in the order in which they run
    "declarations": adapter_contract.check_declarations,
    "life cycle": adapter_contract.check_life_cycle,
    "unconnected": adapter_contract.check_unconnected,
    "vehicles": adapter_contract.check_vehicles,
    "time": adapter_contract.check_time,
    "sensors": check_sensors,
    "at rest": check_at_rest,
    "capabilities": check_capabilities,
    "news": check_news,
    "commands refused": check_refused,
    "clipping": check_clipping,
    "effect": check_effect,
    "position": check_position,
    "blocks": adapter_contract.check_blocks,
    "reset": adapter_contract.check_reset,
    "determinism": adapter_contract.check_determinism,
    "threads": adapter_contract.check_threads,
}


def check_adapter(
    make: Callable[[], SimulatorAdapter] | str,
    *,
    craft: str = "rover",
    step_us: int = 20_000,
    motion: ActuatorCommands | None = None,
    rests: bool = True,
    deterministic: bool | None = None,
) -> ConformanceReport:
    """Check an adapter, given a class or function that creates one, or the name of its type.

    `craft`: of its vehicles; `step_us`: a suitable step; `motion`: commands that visibly move such a craft (None: those
    of a rover or copter; others are not tried); `rests`: an uncommanded vehicle stands on the ground; `deterministic`:
    two runs are bit-identical (None: if it supports lockstep). Raises ConformanceError at the first violation.
    """
    made: object = find_adapter(make) if isinstance(make, str) else make
    if isinstance(made, SimulatorAdapter):
        instead = f"check_adapter({type(made).__name__})"
        problem = f"give the class or a function that creates one, {instead}, not an instance"
        raise ConformanceError("declarations", f"adapter {made.adapter_type!r}", problem)
    if not callable(made):
        problem = f"give a class, a function that creates one, or a type's name, not {made!r}"
        raise ConformanceError("declarations", f"adapter {type(made).__name__!r}", problem)
    rig = AdapterRig(made, craft, step_us, motion, rests, deterministic)

    def run(name: str, check: Callable[[AdapterRig], str]) -> str:
        rig.check = name
        return watched(check, rig)

    return run_checks(rig.subject, CHECKS, run)
