"""Telemetry messages: encoders that turn the autopilot's newest values into the fields of a message, and their rates.

The rates are those of the groups of REQUEST_DATA_STREAM with their SR0_ parameters; `Streams` finds what is due.
"""

from collections.abc import Callable, Mapping
from copy import copy
from heapq import heapify, heapreplace
from math import atan2, degrees, exp, hypot, isfinite, isnan, nan, pi
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.estimate import GRAVITY, Estimate
from paddock.autopilot.telemetry import SIMULATED_EPOCH_US, PictureTaken, Telemetry
from paddock.autopilot.vehicle_data import Floats, SensorColumns
from paddock.mavlink.packets import INT16, INT32, UINT16, by_id, int16, int32, known, mav, scaled, uint16

FREEZING = 273.15  # K
MIN_COURSE_SPEED = 0.3  # m/s: slower, the course over the ground is noise
BOARD_SUPPLY = 5000  # mV
UNKNOWN = 255  # as a covariance, a signal strength or a number of satellites

PILOTED = frozenset({"MANUAL", "ACRO", "STABILIZE", "STEERING", "ALT_HOLD", "FBWA", "FBWB"})
"""Modes without the GUIDED flag."""
ALWAYS = (
    mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | mav.MAV_MODE_FLAG_STABILIZE_ENABLED | mav.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED
)
VERSION = 4 << 24 | 5 << 16 | 7 << 8 | mav.FIRMWARE_VERSION_TYPE_OFFICIAL
"""The ArduPilot release whose protocol this follows, 4.5.7; ground stations adapt to it."""
CAPABILITIES = sum(
    getattr(mav, f"MAV_PROTOCOL_CAPABILITY_{name}")
    for name in (
        *("MISSION_FLOAT", "PARAM_FLOAT", "MISSION_INT", "COMMAND_INT", "SET_POSITION_TARGET_LOCAL_NED"),
        *("SET_POSITION_TARGET_GLOBAL_INT", "MAVLINK2", "MISSION_FENCE", "MISSION_RALLY", "FTP"),
    )
)

Fields = tuple[Any, ...] | None  # of a message, in order; None without data


def _heartbeat(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """Fields as an ArduPilot of this vehicle type sends them."""
    flags = ALWAYS
    if a.armed or a.motor_test is not None:
        flags |= mav.MAV_MODE_FLAG_SAFETY_ARMED
    if a.mode.name not in PILOTED:
        flags |= mav.MAV_MODE_FLAG_GUIDED_ENABLED
    if a.mode.name == "AUTO":
        flags |= mav.MAV_MODE_FLAG_AUTO_ENABLED
    return a.vehicle.mav_type, mav.MAV_AUTOPILOT_ARDUPILOTMEGA, flags, a.mode.number, t.system_status, 3


def _sys_status(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """Sensor health and battery. A disabled fence is healthy, or ground stations report a breach."""
    healthy = a.health.healthy | (0 if a.fence.breached else mav.MAV_SYS_STATUS_GEOFENCE)
    return a.health.present, a.health.enabled, healthy, 0, *_battery(a.sensors), 0, 0, 0, 0, 0, 0


def _battery_status(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """The whole pack is reported as its first cell."""
    voltage, current, remaining = _battery(a.sensors)
    kind = mav.MAV_BATTERY_FUNCTION_ALL, mav.MAV_BATTERY_TYPE_LIPO
    consumed = scaled(a.battery.consumed, 1.0, 0, INT32, -1)
    return 0, *kind, INT16, (voltage,) + (UINT16,) * 9, current, consumed, -1, remaining


def _battery(s: SensorColumns) -> tuple[int, int, int]:
    """Return mV, cA, %, or the fields' "unknown" values."""
    current, remaining = scaled(s.battery_current, 100.0, -1, INT16, -1), scaled(s.battery_remaining, 100.0, 0, 100, -1)
    return uint16(s.battery_voltage, 1000.0), current, remaining


def _fence_status(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """None while the fence is disabled, as ArduPilot does."""
    fence = a.fence
    return (int(fence.breached), min(fence.count, 65535), fence.last, fence.last_us // 1000) if fence.enabled else None


def _autopilot_version(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """The release whose protocol this follows."""
    attitude = mav.MAV_PROTOCOL_CAPABILITY_SET_ATTITUDE_TARGET if a.vehicle.kind == "copter" else 0
    return CAPABILITIES | attitude, VERSION, 0, 0, 0, (0,) * 8, (0,) * 8, (0,) * 8, 0, 0, a.sysid


def _rc_channels(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """The pilot's inputs, us."""
    pwm = _padded(a.rc.sticks.pwm, 18)
    used = max((k + 1 for k, width in enumerate(pwm) if width), default=0)
    return t.time_us // 1000, used, *pwm, UNKNOWN


def _padded(widths: list[int], count: int) -> list[int]:
    return [*widths, *([0] * count)][:count]


def _nav_controller_output(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """Target attitude and navigation errors."""
    bearings = (int16(degrees(known(bearing)), 1.0) for bearing in (t.nav_bearing, t.target_bearing))
    errors = map(known, (t.altitude_error, t.speed_error, t.crosstrack))
    attitude = degrees(known(t.nav_roll)), degrees(known(t.nav_pitch))
    return *attitude, *bearings, scaled(t.target_distance, 1.0, 0, UINT16, 0), *errors


def _home_position(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """None while home is unknown."""
    coordinates = None if a.home is None else _coordinates(*a.home)
    return (
        None
        if coordinates is None
        else (*coordinates, *a.home_position.ned(), (1.0, 0.0, 0.0, 0.0), 0.0, 0.0, 0.0, t.time_us)
    )


def _coordinates(latitude: float, longitude: float, altitude: float) -> tuple[int, int, int]:
    return int32(latitude, 1e7), int32(longitude, 1e7), int32(altitude, 1e3)


def _relay_status(a: BuiltInAutopilot, t: Telemetry) -> Fields:
    """Relays as bits: on, present."""
    on, present = (sum(1 << k for k, each in enumerate(bits) if each) for bits in (a.servos.relays, a.servos.present()))
    return t.time_us // 1000, on & present, present


STATUS: dict[int, Callable[[BuiltInAutopilot, Telemetry], Fields]] = by_id(
    HEARTBEAT=_heartbeat,
    SYS_STATUS=_sys_status,
    BATTERY_STATUS=_battery_status,
    POWER_STATUS=lambda a, t: (BOARD_SUPPLY, 0, mav.MAV_POWER_STATUS_BRICK_VALID * isfinite(a.sensors.battery_voltage)),
    EXTENDED_SYS_STATE=lambda a, t: (mav.MAV_VTOL_STATE_UNDEFINED, int(t.landed)),
    SYSTEM_TIME=lambda a, t: (SIMULATED_EPOCH_US + t.time_us, t.time_us // 1000),
    MISSION_CURRENT=lambda a, t: (a.executor.current, len(a.executor.items), int(a.executor.state)),
    FENCE_STATUS=_fence_status,
    AUTOPILOT_VERSION=_autopilot_version,
    RC_CHANNELS=_rc_channels,
    RC_CHANNELS_RAW=lambda a, t: (t.time_us // 1000, 0, *_padded(a.rc.sticks.pwm, 8), UNKNOWN),  # older ground stations
    SERVO_OUTPUT_RAW=lambda a, t: (t.time_us % 2**32, 0, *a.vehicle.outputs(a.commands)),
    RELAY_STATUS=_relay_status,
    NAV_CONTROLLER_OUTPUT=_nav_controller_output,
    HOME_POSITION=_home_position,
    GPS_GLOBAL_ORIGIN=lambda a, t: (
        None if (f := a.frame) is None else (*_coordinates(f.latitude, f.longitude, f.altitude), t.time_us)
    ),
)


def _ekf_status(a: BuiltInAutopilot, t: Telemetry, e: Estimate) -> Fields:
    """Validity and innovations of the estimate."""
    flags = mav.EKF_ATTITUDE if e.attitude_ok else 0
    if e.position_ok:
        flags |= mav.EKF_VELOCITY_HORIZ | mav.EKF_POS_HORIZ_REL | mav.EKF_POS_HORIZ_ABS
        flags |= mav.EKF_PRED_POS_HORIZ_REL | mav.EKF_PRED_POS_HORIZ_ABS
    else:
        flags |= mav.EKF_CONST_POS_MODE
    if e.height_ok:
        flags |= mav.EKF_VELOCITY_VERT | mav.EKF_POS_VERT_ABS
    return flags, *map(known, (e.velocity_ratio, e.position_ratio, e.height_ratio, e.compass_ratio)), 0.0


def _vfr_hud(a: BuiltInAutopilot, t: Telemetry, e: Estimate) -> Fields:
    """Airspeed is the ground speed without a sensor."""
    speed = hypot(e.vn, e.ve)
    heading, throttle = int32(degrees(e.yaw), 1.0) % 360, scaled(t.throttle, 100.0, 0, 100, 0)
    return known(a.sensors.airspeed, speed), speed, heading, throttle, known(t.altitude), -e.vd


def _global_position(a: BuiltInAutopilot, t: Telemetry, e: Estimate) -> Fields:
    if isnan((here := t.position)[0]):
        return None
    coordinates = *_coordinates(*here), int32(known(t.relative_altitude), 1e3)
    velocity = (int16(speed, 100.0) for speed in (e.vn, e.ve, e.vd))
    return t.time_us // 1000, *coordinates, *velocity, int32(degrees(e.yaw), 100.0) % 36000


def _altitude(a: BuiltInAutopilot, t: Telemetry, e: Estimate) -> Fields:
    """Above sea level, origin and home; above ground NaN without a rangefinder."""
    if isnan(t.altitude):
        return None
    return t.time_us, -e.down, t.altitude, -e.down, t.relative_altitude, nan, known(a.sensors.range_1, nan)


MOTION: dict[int, Callable[[BuiltInAutopilot, Telemetry, Estimate], Fields]] = by_id(
    EKF_STATUS_REPORT=_ekf_status,
    ATTITUDE=lambda a, t, e: (t.time_us // 1000, e.roll, e.pitch, e.yaw, e.p, e.q, e.r),
    ATTITUDE_QUATERNION=lambda a, t, e: (t.time_us // 1000, e.qw, e.qx, e.qy, e.qz, e.p, e.q, e.r),
    VFR_HUD=_vfr_hud,
    GLOBAL_POSITION_INT=_global_position,
    LOCAL_POSITION_NED=lambda a, t, e: (
        None if a.frame is None else (t.time_us // 1000, e.north, e.east, e.down, e.vn, e.ve, e.vd)
    ),
    ALTITUDE=_altitude,
)


def _gps_raw(t: Telemetry, s: SensorColumns) -> Fields:
    """As measured; fix type "no GPS" before the first sample."""
    if s.gnss_time_us < 0.0:
        return 0, 0, 0, 0, 0, UINT16, UINT16, UINT16, UINT16, UNKNOWN
    speed = hypot(s.gnss_vn, s.gnss_ve)
    course = degrees(atan2(s.gnss_ve, s.gnss_vn)) % 360.0 if speed >= MIN_COURSE_SPEED else nan
    return (
        int(s.gnss_time_us),
        scaled(s.gnss_fix, 1.0, 0, 8, 0),
        *_coordinates(s.latitude, s.longitude, s.altitude),
        *(uint16(value, 100.0) for value in (s.gnss_eph, s.gnss_epv, speed, course)),
        scaled(s.gnss_satellites, 1.0, 0, 254, UNKNOWN),
        0,  # height above the ellipsoid
        *(scaled(value, 1e3, 0, 2**31, 0) for value in (s.gnss_eph, s.gnss_epv)),
    )


def _raw_imu(t: Telemetry, s: SensorColumns) -> Fields:
    """In ArduPilot's units: milli-g, mrad/s and milligauss."""
    accel = (int16(value, 1000.0 / GRAVITY) for value in (s.accel_x, s.accel_y, s.accel_z))
    gyro = (int16(value, 1000.0) for value in (s.gyro_x, s.gyro_y, s.gyro_z))
    mag = (int16(value, 1e7) for value in (s.mag_x, s.mag_y, s.mag_z))
    return max(int(s.imu_time_us), 0), *accel, *gyro, *mag


def _scaled_pressure(t: Telemetry, s: SensorColumns) -> Fields:
    """In hPa; None without a barometer."""
    temperature = int16(s.temperature - FREEZING, 100.0)
    return (t.time_us // 1000, s.pressure / 100.0, 0.0, temperature) if isfinite(s.pressure) else None


def _distance_sensor(t: Telemetry, s: SensorColumns) -> Fields:
    """The downward rangefinder, 10 cm to 100 m; None without one."""
    kind = mav.MAV_DISTANCE_SENSOR_LASER, 0, mav.MAV_SENSOR_ROTATION_PITCH_270, UNKNOWN
    return (t.time_us // 1000, 10, 10000, uint16(s.range_1, 100.0), *kind) if isfinite(s.range_1) else None


def picture_messages(picture: PictureTaken, sysid: int) -> list[Any]:
    """Return CAMERA_FEEDBACK, as ArduPilot sends it, and CAMERA_IMAGE_CAPTURED, of the camera protocol."""
    latitude, longitude, altitude = map(known, picture.position)
    date, height, number = SIMULATED_EPOCH_US + picture.time_us, known(picture.height), picture.number
    coordinates = int32(latitude, 1e7), int32(longitude, 1e7)
    angles = map(degrees, picture.attitude)
    feedback = mav.MAVLink_camera_feedback_message(
        *(date, sysid, 0, number % 65536, *coordinates, altitude, height, *angles, 0.0, mav.CAMERA_FEEDBACK_PHOTO),
        number % 65536,
    )
    heights = int32(altitude, 1e3), int32(height, 1e3)
    boot, quaternion = picture.time_us // 1000, list(picture.quaternion)
    captured = mav.MAVLink_camera_image_captured_message(
        boot, date, 1, *coordinates, *heights, quaternion, number, 1, b""
    )
    return [feedback, captured]


SENSORS: dict[int, Callable[[Telemetry, SensorColumns], Fields]] = by_id(
    GPS_RAW_INT=_gps_raw, RAW_IMU=_raw_imu, SCALED_PRESSURE=_scaled_pressure, DISTANCE_SENSOR=_distance_sensor
)

VIBRATION = mav.MAVLINK_MSG_ID_VIBRATION
KNOWN = frozenset({*STATUS, *MOTION, *SENSORS, VIBRATION})
"""Every message that can be streamed or requested; VIBRATION is measured over time, by `VibrationMeter`."""


def fields_of(id: int, autopilot: BuiltInAutopilot) -> Fields:
    """Return the fields of one of the KNOWN messages but VIBRATION; None without data."""
    t, e = autopilot.telemetry, autopilot.estimate
    if id in STATUS:
        return STATUS[id](autopilot, t)
    if e.time_us < 0.0:  # no sensor data yet
        return None
    return MOTION[id](autopilot, t, e) if id in MOTION else SENSORS[id](t, autopilot.sensors)


CUTOFF = 2.0  # Hz, of the low-passes of mean and squares
CLIPPED = 16.0 * GRAVITY
LONGEST_STEP = 0.1  # s


class VibrationMeter:
    """VIBRATION from the accelerometer samples of the telemetry (50 Hz), measured once it has been requested."""

    def __init__(self) -> None:
        self.requested = False
        self.restart()

    def restart(self) -> None:
        """Discard all samples."""
        self._mean: Floats | None = None
        self._square: Floats = np.zeros(3)
        self._time_us, self._samples, self._clipped = 0, 0, 0

    def sample(self, time_us: int, s: SensorColumns) -> None:
        """Add the newest sample, once VIBRATION has been requested."""
        if time_us == self._time_us:
            return
        now = np.array((s.accel_x, s.accel_y, s.accel_z))
        if not np.isfinite(now).all():
            return
        dt = min(max(time_us - self._time_us, 0) * 1e-6, LONGEST_STEP)
        self._time_us = time_us
        share = 1.0 - exp(-2.0 * pi * CUTOFF * dt)
        mean = now if self._mean is None else self._mean
        self._mean = mean + share * (now - mean)
        self._square += share * ((now - mean) ** 2 - self._square)
        self._samples += 1
        self._clipped += bool(np.abs(now).max() >= CLIPPED)

    def fields(self) -> Fields:
        """VIBRATION in m/s2, of the samples since the first request; None without a sample."""
        self.requested = True
        if not self._samples:
            return None
        return self._time_us, *np.sqrt(self._square).tolist(), self._clipped, 0, 0


class StreamGroup(NamedTuple):
    """Messages whose rate is a share of one parameter."""

    parameter: str  # Hz
    shares: Mapping[int, float]
    also: tuple[int, ...] = ()  # sent only if the group is requested


GROUPS: dict[int, StreamGroup] = {  # about 25 messages per second in total
    mav.MAV_DATA_STREAM_RAW_SENSORS: StreamGroup("SR0_RAW_SENS", by_id(RAW_IMU=0.5, SCALED_PRESSURE=0.25)),
    mav.MAV_DATA_STREAM_EXTENDED_STATUS: StreamGroup(
        "SR0_EXT_STAT",
        by_id(SYS_STATUS=0.5, GPS_RAW_INT=1.0, MISSION_CURRENT=0.5, NAV_CONTROLLER_OUTPUT=0.5, FENCE_STATUS=0.25),
        also=(mav.MAVLINK_MSG_ID_POWER_STATUS,),
    ),
    mav.MAV_DATA_STREAM_RC_CHANNELS: StreamGroup("SR0_RC_CHAN", by_id(SERVO_OUTPUT_RAW=0.5, RC_CHANNELS=0.5)),
    mav.MAV_DATA_STREAM_POSITION: StreamGroup("SR0_POSITION", by_id(GLOBAL_POSITION_INT=1.0, LOCAL_POSITION_NED=0.5)),
    mav.MAV_DATA_STREAM_EXTRA1: StreamGroup("SR0_EXTRA1", by_id(ATTITUDE=1.0)),
    mav.MAV_DATA_STREAM_EXTRA2: StreamGroup("SR0_EXTRA2", by_id(VFR_HUD=0.5)),
    mav.MAV_DATA_STREAM_EXTRA3: StreamGroup(
        "SR0_EXTRA3",
        by_id(SYSTEM_TIME=0.25, BATTERY_STATUS=0.25, EKF_STATUS_REPORT=0.25),
        also=(mav.MAVLINK_MSG_ID_VIBRATION,),
    ),
}
UNGROUPED = by_id(HEARTBEAT=1.0, EXTENDED_SYS_STATE=1.0, HOME_POSITION=0.5)  # fixed rates, Hz
GROUP_OF = {id: group for group in GROUPS.values() for id in group.shares}
BY_PARAMETER = {group.parameter: group for group in GROUPS.values()}
EVERY = (*UNGROUPED, *GROUP_OF)  # default streams; other messages are sent on request
SECOND = 1_000_000  # us
SHORTEST_INTERVAL = 20_000  # us: telemetry is updated at 50 Hz
LONGEST_INTERVAL = 3600 * SECOND
NEVER = 1 << 62
HEARTBEAT = mav.MAVLINK_MSG_ID_HEARTBEAT


class Streams:
    """Message intervals of one vehicle: the defaults, or those of one peer."""

    _intervals: dict[int, Annotated[int, Ge(SHORTEST_INTERVAL), Le(LONGEST_INTERVAL)]]  # us, by message id
    _next: dict[int, Annotated[int, Ge(0)]]  # us: when each is due

    def __init__(self, rate: Callable[[str], float], offset: int = 0) -> None:
        """`rate(parameter)` in Hz; `offset` spreads the messages of many vehicles over the second."""
        self._rate = rate
        self._offset = offset
        self._intervals, self._next = {}, {}
        self.earliest = 0  # us: when the next message is due
        self._asked: set[int] = set()  # messages with a requested interval
        for id in EVERY:
            self._put(id, self._default(id), 0)
        self.restart(0)

    def copy(self) -> "Streams":
        """Return a copy, for a peer that requests rates of its own."""
        own = copy(self)
        own._intervals, own._next, own._asked = dict(self._intervals), dict(self._next), set(self._asked)
        own._queue = list(self._queue)
        return own

    def restart(self, now_us: int) -> None:
        """Restart at a time; requests are kept. The heartbeat is due immediately, the rest is spread."""
        for index, (id, interval) in enumerate(self._intervals.items()):
            spread = ((self._offset * 37 + index * 11) % 50) * interval // 50 if id != HEARTBEAT else 0
            self._next[id] = now_us + spread
        self._update_queue()

    def resume(self) -> None:
        """Continue with intervals and times that were loaded."""
        self._update_queue()

    def due(self, now_us: int) -> list[int]:
        """Return the messages that are due, in a fixed order."""
        if now_us < self.earliest:
            return []
        ready: list[tuple[int, int]] = []
        while self._queue and self._queue[0][0] <= now_us:
            at, index, id = self._queue[0]
            ready.append((index, id))
            self._next[id] = max(at + self._intervals[id], now_us + 1)
            heapreplace(self._queue, (self._next[id], index, id))
        self.earliest = self._queue[0][0]
        return [id for _, id in sorted(ready)]

    def interval(self, id: int) -> int:
        """Return us between two messages, as in MESSAGE_INTERVAL: -1 not streamed, 0 unknown message."""
        return self._intervals.get(id, -1) if id in KNOWN else 0

    def set_interval(self, id: int, interval_us: float, now_us: int) -> bool:
        """SET_MESSAGE_INTERVAL: -1 stops, 0 is the default; False for unknown messages and for stopping HEARTBEAT."""
        if id not in KNOWN or (id == HEARTBEAT and interval_us < 0):
            return False
        (self._asked.add if interval_us else self._asked.discard)(id)
        self._put(id, self._default(id) if interval_us == 0 else interval_us, now_us)
        self._update_queue()
        return True

    def set_group(self, group: int, rate: float, now_us: int) -> None:
        """REQUEST_DATA_STREAM in Hz, 0 stops; an unknown group is ignored."""
        for number, messages in GROUPS.items():
            for id in (*messages.shares, *messages.also) if group in (number, mav.MAV_DATA_STREAM_ALL) else ():
                self._asked.add(id)
                self._put(id, SECOND / rate if rate > 0 else -1.0, now_us)
        self._update_queue()

    def use_parameter(self, name: str, now_us: int, newest: bool) -> None:
        """Apply a changed SR0_ parameter; `newest`: also to messages with a requested interval."""
        for id in BY_PARAMETER[name].shares if name in BY_PARAMETER else ():
            if newest or id not in self._asked:
                self._asked.discard(id)
                self._put(id, self._default(id), now_us)
        self._update_queue()

    def _default(self, id: int) -> float:
        """Return the default interval, us; -1: not streamed."""
        group = GROUP_OF.get(id)
        rate = UNGROUPED.get(id, 0.0) if group is None else self._rate(group.parameter) * group.shares[id]
        return SECOND / rate if rate > 0 else -1.0

    def _put(self, id: int, interval_us: float, now_us: int) -> None:
        if interval_us < 0:
            self._intervals.pop(id, None)
            self._next.pop(id, None)
            return
        self._intervals[id] = round(min(max(interval_us, SHORTEST_INTERVAL), LONGEST_INTERVAL))
        self._next[id] = now_us

    def _update_queue(self) -> None:
        self._queue = [(at, index, id) for index, (id, at) in enumerate(self._next.items())]
        heapify(self._queue)
        self.earliest = self._queue[0][0] if self._queue else NEVER
