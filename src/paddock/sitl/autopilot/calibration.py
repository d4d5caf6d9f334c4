"""PREFLIGHT_CALIBRATION: gyroscopes, accelerometers (level, one position) and ground pressure, from measured samples.

A calibration averages a second of samples of a vehicle that stands still, sets the estimator's biases from the mean and
shows it as parameters. Everything else that the command can ask for is refused: it would not be done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot, isfinite, isnan, sqrt
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.ack import ACCEPTED, Ack, CommandResult, denied, rejected, require
from paddock.sitl.autopilot.telemetry import CommandDone, Landed, Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

COMMAND = 241  # MAV_CMD_PREFLIGHT_CALIBRATION
SAMPLES = 50  # at 50 Hz
GRAVITY = 9.80665
MAX_GYRO_BIAS = 0.1  # rad/s: a larger mean is a rotation
MAX_GYRO_SPREAD, MAX_ACCEL_SPREAD = 0.05, 0.4  # rad/s, m/s2: standard deviation of a vehicle that stands
MAX_PRESSURE_SPREAD = 30.0  # Pa
MAX_TILT = 0.5  # m/s2 of gravity along the horizontal axes: about 3 degrees
MAX_SPEED = 0.5  # m/s
GYRO, ACCEL, BARO = "gyro", "accel", "baro"
UNSUPPORTED = {  # by the index of the parameter
    1: "compass (use a calibrated sensor of the scenario)",
    3: "RC trim",
    5: "compass with motors, airspeed",
    6: "ESC, barometer temperature",
}
SIMPLE_ACCEL = 4.0  # p5; 1 is the one with six positions, 2 the level of the board


@dataclass
class Calibration:
    """The calibration in progress of one vehicle."""

    autopilot: BuiltInAutopilot
    wanted: tuple[str, ...] = ()  # GYRO, ACCEL, BARO; empty: none in progress
    count: int = 0
    sums: list[float] = field(default_factory=lambda: [0.0] * 7)  # gyro 3, accel 3, pressure less the first
    squares: list[float] = field(default_factory=lambda: [0.0] * 7)
    first: float = 0.0  # Pa
    baro_altitude: float = 0.0  # m, sum of the estimator's

    def check_saved(self) -> bool:
        """Return whether a restored calibration is one that a command can start."""
        return len(self.sums) == len(self.squares) == 7 and self.count >= 0

    def start(self, wanted: tuple[str, ...]) -> None:
        """Begin to collect samples."""
        self.wanted, self.count, self.sums, self.squares = wanted, 0, [0.0] * 7, [0.0] * 7
        self.first, self.baro_altitude = self.autopilot.sensors.pressure, 0.0

    def update(self) -> None:
        """Add a sample; after the last, set the biases and answer."""
        autopilot, s = self.autopilot, self.autopilot.sensors
        if autopilot.armed:
            self._finish("armed meanwhile")
            return
        sample = (s.gyro_x, s.gyro_y, s.gyro_z, s.accel_x, s.accel_y, s.accel_z, s.pressure - self.first)
        for k, value in enumerate(sample):
            self.sums[k] += value
            self.squares[k] += value * value
        self.baro_altitude += autopilot.estimator.baro_altitude
        self.count += 1
        if self.count >= SAMPLES:
            self._finish(self._problem())

    def _problem(self) -> str:
        """Return why the samples cannot be used, or an empty string."""
        means, spreads = self._means(), self._spreads()
        estimate = self.autopilot.estimate
        if estimate.position_ok and hypot(estimate.vn, estimate.ve, estimate.vd) > MAX_SPEED:
            return "vehicle moves"
        if GYRO in self.wanted or ACCEL in self.wanted:
            if not all(map(isfinite, means[:6])):
                return "IMU has no data"
            if max(spreads[:3]) > MAX_GYRO_SPREAD or max(map(abs, means[:3])) > MAX_GYRO_BIAS:
                return "vehicle rotates"
            if max(spreads[3:6]) > MAX_ACCEL_SPREAD:
                return "vehicle shakes"
        if ACCEL in self.wanted and (hypot(*means[3:5]) > MAX_TILT or abs(means[5] + GRAVITY) > MAX_TILT):
            return "vehicle is not level"
        if BARO in self.wanted and not (isfinite(means[6]) and spreads[6] <= MAX_PRESSURE_SPREAD):
            return "pressure is not steady"
        return ""

    def _means(self) -> list[float]:
        return [total / self.count for total in self.sums]

    def _spreads(self) -> list[float]:
        pairs = zip(self.squares, self._means(), strict=True)
        return [sqrt(max(square / self.count - mean * mean, 0.0)) for square, mean in pairs]

    def _finish(self, problem: str) -> None:
        """Apply, and send the final answer."""
        autopilot, names, means = self.autopilot, self.wanted, self._means() if self.count else [0.0] * 7
        self.wanted = ()
        if problem:
            ack = Ack(CommandResult.FAILED, f"Calibration failed: {problem}")
            autopilot.send_text(Severity.WARNING, ack.text)
            autopilot.outbox.append(CommandDone(COMMAND, ack))
            return
        show, parts = autopilot.parameters.show, []
        if GYRO in names:
            autopilot.estimator.set_gyro_bias(means[:3])
            for axis, value in zip("XYZ", means[:3], strict=True):
                show(f"INS_GYROFFS_{axis}", value)
            parts.append("gyro {:.4f} {:.4f} {:.4f} rad/s".format(*means[:3]))
        if ACCEL in names:
            bias = [means[3], means[4], means[5] + GRAVITY]
            autopilot.estimator.set_accel_bias(bias)
            for axis, value in zip("XYZ", bias, strict=True):
                show(f"INS_ACCOFFS_{axis}", value)
            parts.append("accel {:.3f} {:.3f} {:.3f} m/s2".format(*bias))
        if BARO in names:
            autopilot.estimator.set_baro_offset(self.baro_altitude / self.count)
            show("BARO1_GND_PRESS", self.first + means[6])
            parts.append(f"ground pressure {self.first + means[6]:.0f} Pa")
        autopilot.send_text(Severity.INFO, f"Calibrated: {', '.join(parts)}")
        autopilot.outbox.append(CommandDone(COMMAND, ACCEPTED))


def calibrate(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """PREFLIGHT_CALIBRATION: p1 1 gyroscopes, p3 1 ground pressure, p5 4 accelerometers of a level vehicle."""
    values = [0.0 if isnan(value) else value for value in p]
    require(any(values), denied("Calibration: no sensor selected"))
    problems = [name for k, name in UNSUPPORTED.items() if values[k]]
    problems += ["gyro temperature"] if values[0] not in (0.0, 1.0) else []
    if values[4] not in (0.0, SIMPLE_ACCEL):
        problems.append("accelerometers in six positions or board level (only p5 = 4, one level position)")
    if problems:
        text = f"Calibration not supported: {'; '.join(problems)}"
        autopilot.send_text(Severity.WARNING, text)
        return Ack(CommandResult.UNSUPPORTED, text)
    require(not autopilot.armed, rejected("Calibration: disarm first"))
    require(autopilot.motor_test is None, rejected("Calibration: motor test running"))
    require(autopilot.telemetry.landed == Landed.ON_GROUND, rejected("Calibration: not on the ground"))
    require(not autopilot.calibration.wanted, rejected("Calibration: another one is in progress"))
    no_filter = Ack(CommandResult.FAILED, "Calibration: the estimator is replaced by the truth")
    require(not autopilot.estimator.use_truth, no_filter)
    wanted = [name for name, value in ((GYRO, values[0]), (ACCEL, values[4]), (BARO, values[2])) if value]
    autopilot.calibration.start(tuple(wanted))
    return Ack(CommandResult.IN_PROGRESS)
