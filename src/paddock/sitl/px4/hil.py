"""From a row of sensor data to the HIL messages that PX4 reads, in their units; and what PX4 answers, to a row."""

from __future__ import annotations

from math import atan2, degrees, hypot, isfinite
from typing import Any

from paddock.sensing.site import altitude_of
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.px4.true_motion import TrueMotion
from paddock.sitl.sensor_data import Columns, Floats
from paddock.world.geodesy import Origin

ACCEL, GYRO, MAG, BARO, DIFFERENTIAL = 0x7, 0x38, 0x1C0, 0x1A00, 0x400
"""Bits of HIL_SENSOR.fields_updated."""
ARMED = 128
"""Bit of HIL_ACTUATOR_CONTROLS.mode."""
LOCKSTEP = 1
"""Bit of HIL_ACTUATOR_CONTROLS.flags."""

GAUSS = 1e4  # per T
ICE = 273.15  # K
AIR = 1.225  # kg/m3
MILLI_G = 1e3 / 9.80665  # per m/s2


class HilMessages:
    """Makes the messages of one vehicle; a reading is marked as new once."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._shown: dict[str, float] = {}
        self.motion = TrueMotion()  # to be kept up to date by whoever has the rows

    def forget(self) -> None:
        """Everything is new again: the peer is, or the world."""
        self._shown.clear()
        self.motion.forget()

    def _new(self, sensor: str, time_us: float) -> bool:
        news = time_us >= 0.0 and time_us != self._shown.get(sensor)
        self._shown[sensor] = time_us
        return news

    def sensor(self, v: Columns, clock_us: int) -> Any | None:
        """HIL_SENSOR, which also sets PX4's clock; None without an IMU."""
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

    def gps(self, v: Columns, clock_us: int) -> Any | None:
        """HIL_GPS of a new fix; None without one."""
        if not self._new("gnss", v.gnss_time_us) or not isfinite(v.latitude + v.longitude + v.altitude):
            return None
        course = degrees(atan2(v.gnss_ve, v.gnss_vn)) % 360.0
        return mav.MAVLink_hil_gps_message(
            clock_us,
            int(v.gnss_fix),
            _whole(v.latitude * 1e7, 31), _whole(v.longitude * 1e7, 31), _whole(v.altitude * 1e3, 31),
            _whole(v.gnss_eph * 100.0, 15), _whole(v.gnss_epv * 100.0, 15),
            _whole(hypot(v.gnss_vn, v.gnss_ve) * 100.0, 15),
            _whole(v.gnss_vn * 100.0, 15), _whole(v.gnss_ve * 100.0, 15), _whole(v.gnss_vd * 100.0, 15),
            int(course * 100.0) % 36000,
            _whole(v.gnss_satellites, 7),
        )  # fmt: skip

    def truth(self, v: Columns, clock_us: int) -> Any | None:
        """HIL_STATE_QUATERNION; None where the truth is not known, or has only just become known."""
        turning = self.motion.turning
        if turning is None or not isfinite(v.true_north + v.true_east + v.true_down):
            return None
        latitude, longitude, height = self._origin.to_geodetic((v.true_east, v.true_north, -v.true_down))
        speed = _whole((v.airspeed if isfinite(v.airspeed) else 0.0) * 100.0, 15)
        return mav.MAVLink_hil_state_quaternion_message(
            clock_us,
            [v.true_qw, v.true_qx, v.true_qy, v.true_qz],
            *turning.rate,
            _whole(float(latitude) * 1e7, 31), _whole(float(longitude) * 1e7, 31), _whole(float(height) * 1e3, 31),
            _whole(v.true_vn * 100.0, 15), _whole(v.true_ve * 100.0, 15), _whole(v.true_vd * 100.0, 15),
            speed, speed,
            *(_whole(part * MILLI_G, 15) for part in turning.acceleration),
        )  # fmt: skip


def _whole(value: float, bits: int) -> int:
    """The nearest whole number that fits; a value that is not known is 0."""
    largest = (1 << bits) - 1
    return round(min(max(value, -largest), largest)) if isfinite(value) else 0


def apply_controls(message: Any, row: Floats) -> None:
    """HIL_ACTUATOR_CONTROLS of a quadrotor X: its motors stand in our order, 0 to 1; NaN is an output that is off."""
    row[0] = bool(message.mode & ARMED)
    for k, control in enumerate(message.controls[:4]):
        row[1 + k] = min(max(control, 0.0), 1.0) if control == control else 0.0
