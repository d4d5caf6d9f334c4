"""The on-board log of a vehicle: a DataFlash file for each flight (`wire.dataflash`), written while armed.

Ten times a second one call packs all periodic records (LOG_BITMASK selects them); modes, texts, events, mission items
and pictures follow as they happen. Times are simulated, so the same run writes the same bytes. Bytes are collected and
written in blocks.
"""

from collections.abc import Callable
from math import atan2, degrees, hypot, isfinite, nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from paddock.autopilot.control.plane import FIRST_SERVO, PlaneMemory, TecsMemory
from paddock.autopilot.telemetry import SIMULATED_EPOCH_US, Landed, PictureTaken, Severity
from paddock.errors import PaddockError
from paddock.files import open_file
from paddock.wire.dataflash import RecordGroup, header, record, start_time

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

BLOCK = 1 << 15  # bytes collected before they are written
FIRST = 1 << 12  # bytes that hold the formats and the first time of a log
LARGEST = 1 << 28  # bytes of one log; then it ends
MAX_LOGS = 500  # kept in a folder; then logging stops until they are erased
GPS_EPOCH_US = 315_964_800_000_000  # 6 January 1980
LEAP_US = 18_000_000  # GPS time is ahead of UTC
WEEK_US = 604_800_000_000
ARMED, DISARMED, NOT_LANDED, LAND_COMPLETE, SET_HOME = 10, 11, 28, 18, 25  # ids of EV
FENCE_ERROR = 9  # subsystem of ERR
GAUSS = 1e4  # per T
SEA_LEVEL, GAS = 1.225, 287.05  # kg/m3 of the indicated airspeed, J/kg/K of air
PLANE_WIDTH, RUDDER = len(PlaneMemory._fields), FIRST_SERVO + 2
FIRMWARE = {"copter": "Copter", "rover": "Rover", "rover_ackermann": "Rover", "plane": "Plane"}


def gps_time(time_us: int) -> tuple[int, int]:
    """Return week and ms of the week of GPS time."""
    since = SIMULATED_EPOCH_US + time_us - GPS_EPOCH_US + LEAP_US
    return since // WEEK_US, since % WEEK_US // 1000


def whole(value: float, scale: float, low: int = -(2**31), high: int = 2**31 - 1) -> int:
    """Return a value times `scale` as an integer from `low` to `high`; 0 if it is not finite."""
    return min(max(round(value * scale), low), high) if isfinite(value) else 0


def cents(angle: float) -> int:
    """Return rad as signed hundredths of a degree."""
    return whole(degrees(angle), 100.0, -32768, 32767)


def compass_cents(angle: float) -> int:
    """Return rad as hundredths of a degree, 0 to 36000."""
    return whole(degrees(angle) % 360.0, 100.0, 0, 36000)


class OnboardLog:
    """The logs of one vehicle in a folder; `00000001.BIN` is the first."""

    def __init__(self, autopilot: "BuiltInAutopilot", folder: Path) -> None:
        self.autopilot, self.folder = autopilot, folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PaddockError(f"cannot write on-board logs to {folder}: {error.strerror or error}") from error
        self.path: Path | None = None  # the log being written
        self._file: BinaryIO | None = None
        self._waiting = bytearray()
        self._written = 0
        self._group = RecordGroup(())
        self._names: tuple[str, ...] = ()
        self._seen: tuple[Any, ...] = ()  # mode, item, failsafes, fence and landing at the last update
        autopilot.on_text.append(self._text)

    def files(self) -> list[Path]:
        """Return the logs, oldest first."""
        return sorted(path for path in self.folder.glob("*.BIN") if path.stem.isdecimal())

    def dates(self) -> list[int]:
        """Return when each log starts, s since 1970; one second more for another start in the same second."""
        by_date: dict[int, Path] = {}
        for path in self.files():
            with open_file(path) as file:
                date = (SIMULATED_EPOCH_US + start_time(file.read(FIRST))) // 1_000_000
            while date in by_date:
                date += 1
            by_date[date] = path
        return list(by_date)

    def update(self) -> None:
        """Start or end a log, and write the records that are due (10 Hz)."""
        autopilot = self.autopilot
        value = autopilot.parameters.value
        logging = (autopilot.armed or value("LOG_DISARMED") > 0.0) and value("LOG_BITMASK") > 0.0
        if logging and self._file is None and self._written >= 0:
            self._begin()
        if self._file is None:
            return
        self._changes()
        records: list[tuple[Any, ...]] = [PERIODIC[name][1](autopilot) for name in self._names]
        self._write(self._group.pack(records))
        if not logging:
            self.close()
        elif self._written + len(self._waiting) > LARGEST:
            self._fail("log is full")

    def _begin(self) -> None:
        autopilot, now = self.autopilot, self.autopilot.now_us
        files = self.files()
        number = int(files[-1].stem) + 1 if files else 1
        if len(files) >= MAX_LOGS:
            self._fail(f"{MAX_LOGS} logs in {self.folder.name}: erase them")
            return
        try:
            self.path = self.folder / f"{number:08d}.BIN"
            self._file = self.path.open("xb")
        except OSError as error:
            self._fail(error.strerror or str(error))
            return
        mask = autopilot.parameters.whole("LOG_BITMASK")
        self._names = tuple(name for name, (bits, _) in PERIODIC.items() if bits & mask and self._has(name))
        self._group, self._seen, self._written = RecordGroup(self._names), (), 0
        self._write(header(now))
        for name in autopilot.parameters.names():
            known = autopilot.parameters.known(name)
            self._write(record("PARM", now, name.encode(), autopilot.parameters.value(name), known.default))
        self._write(record("MSG", now, f"Paddock {FIRMWARE[autopilot.vehicle.kind]}".encode()))
        for number, item in enumerate(autopilot.executor.items):
            self._item(number, item)

    def _has(self, name: str) -> bool:
        """Return whether the vehicle has a periodic record: ARSP needs a pitot tube, CTUN the control of a plane."""
        if name == "ARSP":
            return isfinite(self.autopilot.sensors.airspeed)
        return name != "CTUN" or self.autopilot.vehicle.kind == "plane"

    def _changes(self) -> None:
        """Write what has changed since the last update."""
        autopilot, now = self.autopilot, self.autopilot.now_us
        failsafes = tuple(each.acted for each in autopilot.failsafes.all)
        landed = autopilot.telemetry.landed == Landed.ON_GROUND
        mode, item = autopilot.mode.number, autopilot.executor.current
        seen = (mode, item, autopilot.home, landed, autopilot.armed, failsafes, autopilot.fence.breaches)
        before = self._seen or (None, 0, None, True, False, (False,) * len(failsafes), 0)
        self._seen = seen
        if seen == before:
            return
        if seen[0] != before[0]:
            self._write(record("MODE", now, autopilot.mode.number, autopilot.mode.number, autopilot.mode_reason))
        if seen[1] != before[1] and 0 < autopilot.executor.current < len(autopilot.executor.items):
            self._item(autopilot.executor.current, autopilot.executor.items[autopilot.executor.current])
        if seen[2] != before[2] and autopilot.home is not None:
            self._write(record("EV", now, SET_HOME))
            latitude, longitude, altitude = autopilot.home
            self._write(record("ORGN", now, 1, whole(latitude, 1e7), whole(longitude, 1e7), whole(altitude, 100.0)))
        if seen[3] != before[3]:
            self._write(record("EV", now, LAND_COMPLETE if landed else NOT_LANDED))
        if seen[4] != before[4]:
            self._write(record("EV", now, ARMED if autopilot.armed else DISARMED))
        for failsafe, acts, was in zip(autopilot.failsafes.all, seen[5], before[5], strict=True):
            if acts != was:
                self._write(record("ERR", now, failsafe.subsystem, int(acts)))
        if seen[6] != before[6]:
            self._write(record("ERR", now, FENCE_ERROR, seen[6]))

    def _item(self, number: int, item: Any) -> None:
        total, now = len(self.autopilot.executor.items), self.autopilot.now_us
        numbers = (item.p1, item.p2, item.p3, item.p4)
        position = whole(item.x, 1e7), whole(item.y, 1e7), item.z, int(item.frame) & 255
        self._write(record("CMD", now, total, number, item.command, *numbers, *position))

    def _text(self, severity: Severity, text: str) -> None:
        if self._file is not None:
            self._write(record("MSG", self.autopilot.now_us, text.encode("ascii", "replace")[:64]))

    def picture(self, picture: PictureTaken) -> None:
        """Write a picture."""
        if self._file is None:
            return
        week, ms = gps_time(picture.time_us)
        latitude, longitude, altitude = picture.position
        position = whole(latitude, 1e7), whole(longitude, 1e7), whole(altitude, 100.0), whole(picture.height, 100.0)
        roll, pitch, yaw = picture.attitude
        angles = cents(roll), cents(pitch), compass_cents(yaw)
        self._write(record("CAM", picture.time_us, picture.number % 65536, ms, week, *position, *angles))

    def _write(self, data: bytes) -> None:
        self._waiting += data
        if len(self._waiting) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self._file is None or not self._waiting:
            return
        try:
            self._file.write(self._waiting)
            self._file.flush()
        except OSError as error:
            self._fail(error.strerror or str(error))
            return
        self._written += len(self._waiting)
        self._waiting.clear()

    def _fail(self, reason: str) -> None:
        """End logging until the next boot."""
        file, self._file, self._written = self._file, None, -1
        self._waiting.clear()
        if file is not None:
            file.close()
        self.autopilot.send_text(Severity.ERROR, f"Logging stopped: {reason}")

    def close(self) -> None:
        """End the log."""
        self.flush()
        if self._file is not None:
            self._file.close()
        self._file, self.path = None, None
        self._waiting.clear()

    def reset(self) -> None:
        """End the log at a reboot; a failure before it is forgotten."""
        self.close()
        self._written = 0

    def erase(self) -> None:
        """Delete all logs but the one being written."""
        for path in self.files():
            if path != self.path:
                path.unlink(missing_ok=True)


# periodic records ----------------------------------------------------------------------------------------------------


def _attitude(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    e, t = a.estimate, a.telemetry
    off = hypot(e.roll - t.nav_roll, e.pitch - t.nav_pitch)
    leans = cents(t.nav_roll), cents(e.roll), cents(t.nav_pitch), cents(e.pitch)
    return (
        a.now_us,
        *leans,
        compass_cents(t.nav_bearing),
        compass_cents(e.yaw),
        whole(degrees(off), 100.0, 0, 65535),
        0,
        3,
    )


def _position(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    latitude, longitude, altitude = a.telemetry.position
    return (
        *(a.now_us, whole(latitude, 1e7), whole(longitude, 1e7), altitude),
        *(a.telemetry.relative_altitude, -a.estimate.down),
    )


def _gps(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    s = a.sensors
    week, ms = gps_time(a.now_us)
    position = whole(s.latitude, 1e7), whole(s.longitude, 1e7), whole(s.altitude, 100.0)
    course = degrees(atan2(s.gnss_ve, s.gnss_vn)) % 360.0 if isfinite(s.gnss_ve + s.gnss_vn) else 0.0
    speed = hypot(s.gnss_vn, s.gnss_ve)
    counts = whole(s.gnss_fix, 1.0, 0, 8), ms, week, whole(s.gnss_satellites, 1.0, 0, 255)
    return a.now_us, 0, *counts, whole(s.gnss_eph, 100.0, 0, 32767), *position, speed, course, s.gnss_vd, 0.0, 1


def _imu(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    s = a.sensors
    return a.now_us, 0, s.gyro_x, s.gyro_y, s.gyro_z, s.accel_x, s.accel_y, s.accel_z


def _compass(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    s = a.sensors
    return a.now_us, 0, *(whole(value, GAUSS * 1e3, -32768, 32767) for value in (s.mag_x, s.mag_y, s.mag_z))


def _barometer(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    s = a.sensors
    temperature = whole(s.temperature - 273.15, 100.0, -32768, 32767)
    return a.now_us, 0, a.estimator.baro_altitude, s.pressure, temperature


def _battery(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    s = a.sensors
    remaining = whole(s.battery_remaining, 100.0, 0, 100)
    return a.now_us, 0, s.battery_voltage, s.battery_current, a.battery.consumed, remaining


def _outputs(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    return a.now_us, *a.vehicle.outputs(a.commands)[:14]


def _inputs(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    return a.now_us, *a.rc.sticks.pwm[:14]


def _airspeed(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    """The indicated airspeed, and the pressure that it stands for."""
    speed, measured = a.sensors.airspeed, isfinite(a.sensors.airspeed)
    pressure, temperature = 0.5 * SEA_LEVEL * speed * speed, whole(a.sensors.temperature - 273.15, 100.0, -32768, 32767)
    return a.now_us, 0, speed, pressure, temperature, pressure, 0.0, measured, measured, float(measured), 0.0, 1


def _control(a: "BuiltInAutopilot") -> tuple[Any, ...]:
    """Attitude and targets of a plane, throttle and its demand (%), rudder (4500 is full), airspeed."""
    row, s = a.vehicle.memory_row.tolist(), a.sensors
    memory, tecs = PlaneMemory._make(row[:PLANE_WIDTH]), TecsMemory._make(row[PLANE_WIDTH:])
    leans = cents(memory.roll), cents(a.estimate.roll), cents(memory.pitch), cents(a.estimate.pitch)
    outputs = 100.0 * a.commands[1], 4500.0 * a.commands[RUDDER], 100.0 * tecs.throttle
    true_ratio = sqrt(SEA_LEVEL * GAS * s.temperature / s.pressure) if s.pressure > 0.0 else 1.0
    return a.now_us, *leans, *outputs, memory.speed, int(isfinite(s.airspeed)), nan, true_ratio, 0


PERIODIC: dict[str, tuple[int, Callable[["BuiltInAutopilot"], tuple[Any, ...]]]] = {
    "ATT": (1 | 2, _attitude),
    "POS": (1 | 2 | 4, _position),
    "GPS": (4, _gps),
    "IMU": (128, _imu),
    "MAG": (8192, _compass),
    "BARO": (16, _barometer),
    "BAT": (512, _battery),
    "ARSP": (128, _airspeed),
    "CTUN": (16, _control),
    "RCOU": (1024, _outputs),
    "RCIN": (64, _inputs),
}
"""Periodic records: bits of LOG_BITMASK that select each, and its fields."""
