"""The pilot's inputs: RC channels that a ground station overrides, or its joystick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.mode_switch import ModeSwitch
from paddock.sitl.autopilot.targets import Sticks
from paddock.sitl.autopilot.telemetry import Landed

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

CHANNELS = 18
THROTTLE = 2  # its channel, from 0
RELEASED, UNCHANGED = 0, 65535
LEAST, CENTRE, MOST = 1000, 1500, 2000  # us
NOT_GIVEN = 32767  # of an axis of MANUAL_CONTROL


def clip(value: float, low: float, high: float) -> float:
    """`value`, or the end of the range that it exceeds."""
    return low if value < low else high if value > high else value


class RcInput:
    """RC as the vehicle receives it. `sticks` keep their last values when nothing comes any more; `lost` tells."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.sticks = Sticks()
        self.switch = ModeSwitch(autopilot)

    @property
    def seen(self) -> bool:
        """Whether there is a pilot: RC has been heard and not been given back."""
        return self.sticks.time_us >= 0

    @property
    def lost(self) -> bool:
        """Whether there was a pilot who is not heard any more."""
        limit = self.autopilot.parameters.value("RC_OVERRIDE_TIME")
        return self.seen and limit >= 0.0 and self.autopilot.now_us - self.sticks.time_us > limit * 1e6

    @property
    def fresh(self) -> bool:
        """Whether the sticks are somebody's will now."""
        return self.seen and not self.lost

    def update(self) -> None:
        """Rest the sticks of a pilot who is gone: a rover must not go on driving on its last throttle."""
        if self.lost and any(self.sticks.pwm):
            self.sticks = Sticks(time_us=self.sticks.time_us)
        if self.seen and not self.sticks.pwm[THROTTLE]:
            self.sticks.throttle = self._resting
        self.switch.update(self.sticks.pwm)

    @property
    def _reverses(self) -> bool:
        """Whether the throttle has its rest in the middle of the stick's way."""
        return drives(self.autopilot.craft.kind)

    @property
    def _accepted(self) -> bool:
        return self.autopilot.parameters.value("RC_OVERRIDE_TIME") != 0.0

    @property
    def _resting(self) -> float:
        """The throttle that nobody moves: in the air a copter holds its height in the middle of the stick's way."""
        hovers = self.autopilot.craft.kind == "copter" and self.autopilot.telemetry.landed != Landed.ON_GROUND
        return 0.5 if hovers else 0.0

    def override(self, pwm: Sequence[int]) -> None:
        """Channels in us: 0 releases one, 65535 leaves it. When all are released there is no pilot any more."""
        if not self._accepted:
            return
        channels = self.sticks.pwm
        for k, value in enumerate(pwm[:CHANNELS]):
            if value != UNCHANGED:
                channels[k] = 0 if value == RELEASED else int(clip(value, 800, 2200))
        if not any(channels):
            self.sticks = Sticks()
            return
        self.sticks.time_us = self.autopilot.now_us
        self._read(channels)

    def _read(self, channels: Sequence[int]) -> None:
        sticks = self.sticks
        sticks.roll, sticks.pitch, sticks.yaw = (
            _about_centre(channels[0]),
            _about_centre(channels[1]),
            _about_centre(channels[3]),
        )
        throttle = channels[THROTTLE]
        if not throttle:
            sticks.throttle = self._resting
        else:
            sticks.throttle = _about_centre(throttle) if self._reverses else _from_least(throttle)

    def manual(self, sticks: Sticks) -> None:
        """A joystick's word; the channels show it as RC."""
        if not self._accepted:
            return
        sticks.time_us = self.autopilot.now_us
        throttle = _pwm(sticks.throttle) if self._reverses else int(LEAST + 1000 * sticks.throttle)
        sticks.pwm[:4] = [_pwm(sticks.roll), _pwm(sticks.pitch), throttle, _pwm(sticks.yaw)]
        self.sticks = sticks

    def manual_control(self, x: int, y: int, z: int, r: int) -> None:
        """MANUAL_CONTROL: x forward, y right, z throttle (0 to 1000, rovers from -1000), r clockwise."""
        roll, pitch, yaw = _axis(y), -_axis(x), _axis(r)
        throttle = self._resting if z == NOT_GIVEN else _axis(z) if self._reverses else max(_axis(z), 0.0)
        self.manual(Sticks(roll=roll, pitch=pitch, throttle=throttle, yaw=yaw))


def _axis(value: int) -> float:
    return 0.0 if value == NOT_GIVEN else clip(value / 1000.0, -1.0, 1.0)


def _about_centre(pwm: int) -> float:
    return clip((pwm - CENTRE) / 500.0, -1.0, 1.0) if pwm else 0.0


def _from_least(pwm: int) -> float:
    return clip((pwm - LEAST) / 1000.0, 0.0, 1.0)


def _pwm(share: float) -> int:
    return int(CENTRE + 500 * share)
