"""The pilot's inputs: RC channels overridden by a ground station, its joystick, and the mode switch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paddock.autopilot.contract import PWM_MID, PWM_MIN, drives
from paddock.autopilot.parameter_tables import switch_prefix
from paddock.autopilot.telemetry import Landed, ModeReason, Severity

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

CHANNELS = 18
THROTTLE = 2  # channel index
RELEASED, UNCHANGED = 0, 65535
AXIS_UNUSED = 32767  # of MANUAL_CONTROL
SWITCH_EDGES = (1230, 1360, 1490, 1620, 1749)  # us: upper end of positions 1 to 5
SWITCH_SETTLE_US = 200_000


@dataclass
class Sticks:
    """A pilot's inputs, from RC override or manual control."""

    roll: float = 0.0  # -1 to 1, + right; steering of a rover
    pitch: float = 0.0  # -1 to 1, + nose up (stick back)
    throttle: float = 0.0  # 0 to 1; -1 to 1 for rovers
    yaw: float = 0.0  # -1 to 1, + clockwise
    time_us: int = -1  # of the last input; -1 never
    pwm: list[int] = field(default_factory=lambda: [0] * CHANNELS)  # as in RC_CHANNELS, 0: unused

    def check_saved(self) -> bool:
        """Return whether restored inputs are possible."""
        return len(self.pwm) == CHANNELS and all(0 <= width <= UNCHANGED for width in self.pwm)


@dataclass(eq=False)
class RcInput:
    """RC as the vehicle receives it. `sticks` keep their last values until the input counts as lost.

    Only a change of position of the mode switch sets the mode, so that others may set it in between.
    """

    autopilot: "BuiltInAutopilot"
    sticks: Sticks = field(default_factory=Sticks)
    _switch: int = 0  # position of the mode switch; 0: none
    _switch_applied: int = 0  # position applied last
    _switch_us: int = 0  # time of its last change

    @property
    def seen(self) -> bool:
        """Whether RC has been received and not been released."""
        return self.sticks.time_us >= 0

    @property
    def lost(self) -> bool:
        """Whether RC was received but has timed out (RC_OVERRIDE_TIME)."""
        limit = self.autopilot.parameters.value("RC_OVERRIDE_TIME")
        return self.seen and limit >= 0.0 and self.autopilot.now_us - self.sticks.time_us > limit * 1e6

    @property
    def fresh(self) -> bool:
        """Whether the sticks are current."""
        return self.seen and not self.lost

    def throttle_low(self, limit: float) -> bool:
        """Return whether the throttle signal is below a limit (us), as receivers send it without a transmitter."""
        return 0 < self.sticks.pwm[THROTTLE] < limit

    def update(self) -> None:
        """Centre the sticks when RC is lost: a rover must not continue on its last throttle."""
        if not self.seen and not self._switch:
            return
        if self.lost and any(self.sticks.pwm):
            self.sticks = Sticks(time_us=self.sticks.time_us)
        if self.seen and not self.sticks.pwm[THROTTLE]:
            self.sticks.throttle = self._neutral_throttle
        self._update_switch()

    def reset_switch(self) -> None:
        """Apply the position of the mode switch again."""
        self._switch_applied = 0

    def _update_switch(self) -> None:
        """Apply a new position of the mode switch once it is stable."""
        now, whole = self.autopilot.now_us, self.autopilot.parameters.whole
        prefix = switch_prefix(self.autopilot.vehicle.kind)
        channel = whole(f"{prefix}_CH")
        width = self.sticks.pwm[channel - 1] if channel else 0
        position = 1 + sum(width > edge for edge in SWITCH_EDGES) if width else 0
        if position != self._switch:
            self._switch, self._switch_us = position, now
        if position in (0, self._switch_applied) or now - self._switch_us < SWITCH_SETTLE_US:
            return
        self._switch_applied = position
        ack = self.autopilot.set_mode(whole(f"{prefix}{position}"), "mode switch", ModeReason.RC_COMMAND)
        if not ack.accepted:
            self.autopilot.send_text(Severity.WARNING, f"Mode switch: {ack.text}")

    @property
    def _reverses(self) -> bool:
        return drives(self.autopilot.vehicle.kind)

    @property
    def _overrides_accepted(self) -> bool:
        return self.autopilot.parameters.value("RC_OVERRIDE_TIME") != 0.0

    @property
    def _neutral_throttle(self) -> float:
        """Throttle without input: mid stick holds the altitude of a copter in the air."""
        hovers = self.autopilot.vehicle.kind == "copter" and self.autopilot.telemetry.landed != Landed.ON_GROUND
        return 0.5 if hovers else 0.0

    def override(self, pwm: Sequence[int]) -> None:
        """Set channels in us: 0 releases one, 65535 leaves it. Releasing all ends RC input."""
        self.autopilot.vehicle.end_steady()
        if not self._overrides_accepted:
            return
        channels = self.sticks.pwm
        for k, value in enumerate(pwm[:CHANNELS]):
            if value != UNCHANGED:
                channels[k] = 0 if value == RELEASED else int(_clip(value, 800, 2200))
        if not any(channels):
            self.sticks = Sticks()
            return
        sticks, throttle = self.sticks, channels[THROTTLE]
        sticks.time_us = self.autopilot.now_us
        sticks.roll, sticks.pitch, sticks.yaw = (_centred(channels[k]) for k in (0, 1, 3))
        if not throttle:
            sticks.throttle = self._neutral_throttle
        else:
            sticks.throttle = _centred(throttle) if self._reverses else _clip((throttle - PWM_MIN) / 1000.0, 0.0, 1.0)

    def manual(self, sticks: Sticks) -> None:
        """Set the sticks from a joystick; RC_CHANNELS shows them."""
        self.autopilot.vehicle.end_steady()
        if not self._overrides_accepted:
            return
        sticks.time_us = self.autopilot.now_us
        throttle = _pwm(sticks.throttle) if self._reverses else int(PWM_MIN + 1000 * sticks.throttle)
        sticks.pwm[:4] = [_pwm(sticks.roll), _pwm(sticks.pitch), throttle, _pwm(sticks.yaw)]
        self.sticks = sticks

    def manual_control(self, x: int, y: int, z: int, r: int) -> None:
        """Set the sticks from MANUAL_CONTROL: x forward, y right, z throttle (0 to 1000, rovers from -1000), r yaw."""
        roll, pitch, yaw = _axis(y), -_axis(x), _axis(r)
        throttle = self._neutral_throttle if z == AXIS_UNUSED else _axis(z) if self._reverses else max(_axis(z), 0.0)
        self.manual(Sticks(roll=roll, pitch=pitch, throttle=throttle, yaw=yaw))


def _clip(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


def _axis(value: int) -> float:
    return 0.0 if value == AXIS_UNUSED else _clip(value / 1000.0, -1.0, 1.0)


def _centred(pwm: int) -> float:
    return _clip((pwm - PWM_MID) / 500.0, -1.0, 1.0) if pwm else 0.0


def _pwm(share: float) -> int:
    return int(PWM_MID + 500 * share)
