"""HIL messages of PX4: sensor rows to messages in their units, and actuator controls back to a row."""

from math import atan2, degrees, hypot, isfinite, sqrt
from typing import Any

from paddock.compute.quaternion import unrotate
from paddock.sensing.site import altitude_of
from paddock.sitl.mavlink.packets import int16, int32, mav, scaled
from paddock.sitl.sensor_data import Floats, SensorColumns
from paddock.world.geodesy import Origin

Triple = tuple[float, float, float]


def _turning(before: SensorColumns, v: SensorColumns, seconds: float) -> tuple[Triple, Triple]:
    """Return the means over `seconds`, during which the vehicle turns by less than half a turn."""
    aw, ax, ay, az = before.true_qw, before.true_qx, before.true_qy, before.true_qz
    w, x, y, z = v.true_qw, v.true_qx, v.true_qy, v.true_qz
    cosine = aw * w + ax * x + ay * y + az * z  # of half the angle, and the axis in body axes times its sine
    turn = aw * x - ax * w - ay * z + az * y, aw * y + ax * z - ay * w - az * x, aw * z - ax * y + ay * x - az * w
    sign = 1.0 if cosine >= 0.0 else -1.0
    sine = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    scale = sign * (2.0 if sine < 1e-12 else 2.0 * atan2(sine, sign * cosine) / sine) / seconds
    n, e, d = v.true_vn - before.true_vn, v.true_ve - before.true_ve, v.true_vd - before.true_vd
    rate = turn[0] * scale, turn[1] * scale, turn[2] * scale
    return rate, unrotate(x, y, z, w, n / seconds, e / seconds, d / seconds)


ACCEL, GYRO, MAG, BARO, DIFFERENTIAL = 0x7, 0x38, 0x1C0, 0x1A00, 0x400  # bits of HIL_SENSOR.fields_updated
ARMED = 128  # bit of HIL_ACTUATOR_CONTROLS.mode
LOCKSTEP = 1  # bit of HIL_ACTUATOR_CONTROLS.flags

GAUSS = 1e4  # per T
ICE = 273.15  # K
AIR = 1.225  # kg/m3
MILLI_G = 1e3 / 9.80665  # per m/s2


class HilMessages:
    """Builds the messages of one vehicle; a reading is marked as new once."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self.forget()

    def forget(self) -> None:
        """Mark all readings as new and forget the last truth, for a new peer or after a reset."""
        self._shown: dict[str, float] = {}
        self._before: SensorColumns | None = None
        self.turning: tuple[Triple, Triple] | None = None
        """Angular rate (rad/s) and acceleration over ground (m/s2), forward-right-down; means since the last truth."""

    def note_truth(self, v: SensorColumns) -> None:
        """Derive the true rates, free of sensor noise, from the truth of a row and the last one; None without both."""
        before, self._before = self._before, v if isfinite(v.true_qw + v.true_vn) else None
        if self._before is None:
            self.turning = None
        elif before is not None and v.time_us > before.time_us:
            self.turning = _turning(before, v, (v.time_us - before.time_us) * 1e-6)

    def _new(self, sensor: str, time_us: float) -> bool:
        news = time_us >= 0.0 and time_us != self._shown.get(sensor)
        self._shown[sensor] = time_us
        return news

    def sensor(self, v: SensorColumns, clock_us: int) -> Any | None:
        """Return HIL_SENSOR, which also sets PX4's clock; None without an IMU."""
        if not all(map(isfinite, (v.gyro_x, v.gyro_y, v.gyro_z, v.accel_x, v.accel_y, v.accel_z))):
            return None
        mag = self._new("compass", v.compass_time_us) and isfinite(v.mag_x + v.mag_y + v.mag_z)
        baro = self._new("baro", v.baro_time_us) and isfinite(v.pressure + v.temperature)
        air = isfinite(v.airspeed)
        mx, my, mz = (v.mag_x * GAUSS, v.mag_y * GAUSS, v.mag_z * GAUSS) if mag else (0.0, 0.0, 0.0)
        pressure, temperature = (v.pressure, v.temperature) if baro else (0.0, ICE)
        return mav.MAVLink_hil_sensor_message(
            clock_us,
            v.accel_x, v.accel_y, v.accel_z,
            v.gyro_x, v.gyro_y, v.gyro_z,
            mx, my, mz,
            pressure * 0.01,  # hPa
            0.005 * AIR * v.airspeed * v.airspeed if air else 0.0,  # hPa
            altitude_of(pressure) if baro else 0.0,
            temperature - ICE,
            ACCEL | GYRO | (MAG if mag else 0) | (BARO if baro else 0) | (DIFFERENTIAL if air else 0),
        )  # fmt: skip

    def gps(self, v: SensorColumns, clock_us: int) -> Any | None:
        """Return HIL_GPS of a new fix; None without one."""
        if not self._new("gnss", v.gnss_time_us) or not isfinite(v.latitude + v.longitude + v.altitude):
            return None
        course = degrees(atan2(v.gnss_ve, v.gnss_vn)) % 360.0
        return mav.MAVLink_hil_gps_message(
            clock_us,
            int(v.gnss_fix),
            int32(v.latitude, 1e7), int32(v.longitude, 1e7), int32(v.altitude, 1e3),
            int16(v.gnss_eph, 100.0), int16(v.gnss_epv, 100.0),
            int16(hypot(v.gnss_vn, v.gnss_ve), 100.0),
            int16(v.gnss_vn, 100.0), int16(v.gnss_ve, 100.0), int16(v.gnss_vd, 100.0),
            int(course * 100.0) % 36000,
            scaled(v.gnss_satellites, 1.0, 0, 127, 0),
        )  # fmt: skip

    def truth(self, v: SensorColumns, clock_us: int) -> Any | None:
        """Return HIL_STATE_QUATERNION; None without two consecutive truths."""
        turning = self.turning
        if turning is None or not isfinite(v.true_north + v.true_east + v.true_down):
            return None
        latitude, longitude, height = self._origin.to_geodetic((v.true_east, v.true_north, -v.true_down))
        speed = int16(v.airspeed, 100.0)
        return mav.MAVLink_hil_state_quaternion_message(
            clock_us,
            [v.true_qw, v.true_qx, v.true_qy, v.true_qz],
            *turning[0],
            int32(float(latitude), 1e7), int32(float(longitude), 1e7), int32(float(height), 1e3),
            int16(v.true_vn, 100.0), int16(v.true_ve, 100.0), int16(v.true_vd, 100.0),
            speed, speed,
            *(int16(part, MILLI_G) for part in turning[1]),
        )  # fmt: skip


def apply_controls(message: Any, row: Floats) -> None:
    """Apply HIL_ACTUATOR_CONTROLS of a quadrotor X: motors in our order, 0 to 1; NaN is an output that is off."""
    row[0] = bool(message.mode & ARMED)
    for k, control in enumerate(message.controls[:4]):
        row[1 + k] = min(max(control, 0.0), 1.0) if control == control else 0.0
