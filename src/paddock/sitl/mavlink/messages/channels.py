"""Channels in and out: RC inputs, servo outputs, in us of PWM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

CHANNELS = 18
RAW_CHANNELS = 8
OUTPUTS = 16
NO_STRENGTH = 255  # RSSI: not known


def rc_channels(autopilot: BuiltInAutopilot) -> Any:
    """RC_CHANNELS: what the pilot's sticks say."""
    pwm = [*autopilot.sticks.pwm, *([0] * CHANNELS)][:CHANNELS]
    used = max((k + 1 for k, width in enumerate(pwm) if width), default=0)
    return mav.MAVLink_rc_channels_message(autopilot.telemetry.time_us // 1000, used, *pwm, NO_STRENGTH)


def rc_channels_raw(autopilot: BuiltInAutopilot) -> Any:
    """RC_CHANNELS_RAW: the first eight, as older stations ask for them."""
    pwm = [*autopilot.sticks.pwm, *([0] * RAW_CHANNELS)][:RAW_CHANNELS]
    return mav.MAVLink_rc_channels_raw_message(autopilot.telemetry.time_us // 1000, 0, *pwm, NO_STRENGTH)


def servo_outputs(autopilot: BuiltInAutopilot) -> Any:
    """SERVO_OUTPUT_RAW: what goes to motors and servos."""
    pwm = [*autopilot.telemetry.outputs, *([0] * OUTPUTS)][:OUTPUTS]
    return mav.MAVLink_servo_output_raw_message(autopilot.telemetry.time_us % 2**32, 0, *pwm)


ENCODERS = {
    mav.MAVLINK_MSG_ID_RC_CHANNELS: rc_channels,
    mav.MAVLINK_MSG_ID_RC_CHANNELS_RAW: rc_channels_raw,
    mav.MAVLINK_MSG_ID_SERVO_OUTPUT_RAW: servo_outputs,
}
