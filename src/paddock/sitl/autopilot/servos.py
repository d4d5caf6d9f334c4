"""Servo outputs and relays that no control uses: DO_SET_SERVO, DO_REPEAT_SERVO, DO_SET_RELAY, DO_REPEAT_RELAY.

A channel whose SERVOn_FUNCTION is not 0 belongs to a motor or a control surface and is refused. As in ArduPilot, a
repetition alternates every half period between the value and the channel's trim, or switches a relay over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.ack import Ack, CommandResult, denied, require
from paddock.sitl.autopilot.parameter_tables import RELAYS, SERVOS
from paddock.sitl.autopilot.vehicle import PWM_MID

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

SHORTEST, LONGEST = 500, 2500  # us: what a servo output can produce
MAX_COUNT, MAX_PERIOD = 32767, 3600.0  # of a repetition; s
SERVO, RELAY = 0, 1


@dataclass
class Repetition:
    """A servo or relay that is switched back and forth."""

    kind: int  # SERVO or RELAY
    number: int
    width: int  # us, of a servo
    left: int  # changes still to make
    period_us: int  # between two changes
    next_us: int

    def check_saved(self) -> bool:
        """Return whether a restored repetition is one that a command can start."""
        numbers = range(1, SERVOS + 1) if self.kind == SERVO else range(RELAYS if self.kind == RELAY else 0)
        widths = 0 <= self.width <= LONGEST
        return self.number in numbers and widths and self.left <= 2 * MAX_COUNT and self.period_us > 0


@dataclass
class ServoOutputs:
    """The outputs of one vehicle that commands and missions set."""

    autopilot: BuiltInAutopilot
    widths: list[int] = field(default_factory=lambda: [0] * SERVOS)  # us, by channel from 1; 0: never set
    relays: list[bool] = field(default_factory=list)
    repetitions: list[Repetition] = field(default_factory=list)

    def __post_init__(self) -> None:
        value = self.autopilot.parameters.value
        self.relays = [value(f"RELAY{k}_DEFAULT") > 0.0 for k in range(1, RELAYS + 1)]

    def check_saved(self) -> bool:
        """Return whether restored outputs are possible."""
        numbers = len(self.widths) == SERVOS and len(self.relays) == RELAYS
        return numbers and all(0 <= width <= LONGEST for width in self.widths)

    def present(self) -> list[bool]:
        """Return which relays exist (RELAYn_FUNCTION)."""
        value = self.autopilot.parameters.value
        return [value(f"RELAY{k}_FUNCTION") > 0.0 for k in range(1, RELAYS + 1)]

    def repeat(self, repetition: Repetition) -> None:
        """Start a repetition with its first change; a running one of the same output ends."""
        same = repetition.kind, repetition.number
        self.repetitions = [each for each in self.repetitions if (each.kind, each.number) != same]
        self.repetitions.append(repetition)
        self.update()

    def stop(self, kind: int, number: int) -> None:
        """End the repetition of an output."""
        self.repetitions = [each for each in self.repetitions if (each.kind, each.number) != (kind, number)]

    def update(self) -> None:
        """Make the changes that are due."""
        now = self.autopilot.now_us
        for each in self.repetitions:
            while each.left > 0 and now >= each.next_us:
                if each.kind == RELAY:
                    self.relays[each.number] = not self.relays[each.number]
                else:
                    self.widths[each.number - 1] = each.width if each.left % 2 == 0 else PWM_MID
                each.left -= 1
                each.next_us += each.period_us
        self.repetitions = [each for each in self.repetitions if each.left > 0]


def require_channel(autopilot: BuiltInAutopilot, value: float) -> int:
    """Return the number of a servo channel that nothing else uses."""
    whole = value == value and value == int(value) and 1 <= value <= SERVOS
    require(whole, denied(f"Servo: channel {value:g} is not in 1 to {SERVOS}"))
    channel = int(value)
    function = autopilot.parameters.whole(f"SERVO{channel}_FUNCTION")
    in_use = f"Servo: channel {channel} is already in use (SERVO{channel}_FUNCTION {function})"
    require(function == 0, Ack(CommandResult.DENIED, in_use))
    return channel


def require_width(value: float) -> int:
    """Return a pulse width, us."""
    require(SHORTEST <= value <= LONGEST, denied(f"Servo: {value:g} us is not in {SHORTEST} to {LONGEST}"))
    return round(value)


def require_relay(autopilot: BuiltInAutopilot, value: float) -> int:
    """Return the number of a relay, from 0."""
    present = [k for k, exists in enumerate(autopilot.servos.present()) if exists]
    require(value in present, denied(f"Relay {value:g} does not exist; there are {', '.join(map(str, present))}"))
    return int(value)


def repetition(autopilot: BuiltInAutopilot, kind: int, number: int, width: int, count: float, period: float) -> None:
    """Start `count` cycles of `period` s."""
    require(1 <= count <= MAX_COUNT, denied(f"Repeat: count {count:g} is not in 1 to {MAX_COUNT}"))
    require(0.0 < period <= MAX_PERIOD, denied(f"Repeat: period {period:g} s is not in 0 to {MAX_PERIOD:g}"))
    half = max(round(period * 5e5), 1)
    autopilot.servos.repeat(Repetition(kind, number, width, 2 * int(count), half, autopilot.now_us))


def set_servo(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_SERVO: p1 channel, p2 us."""
    channel, width = require_channel(autopilot, p[0]), require_width(p[1])
    autopilot.servos.stop(SERVO, channel)
    autopilot.servos.widths[channel - 1] = width


def repeat_servo(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_REPEAT_SERVO: p1 channel, p2 us, p3 cycles, p4 s of a cycle."""
    repetition(autopilot, SERVO, require_channel(autopilot, p[0]), require_width(p[1]), p[2], p[3])


def set_relay(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_RELAY: p1 relay from 0, p2 1 on, 0 off."""
    relay = require_relay(autopilot, p[0])
    require(p[1] in (0.0, 1.0), denied(f"Relay: {p[1]:g} is neither 1 (on) nor 0 (off)"))
    autopilot.servos.stop(RELAY, relay)
    autopilot.servos.relays[relay] = p[1] == 1.0


def repeat_relay(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_REPEAT_RELAY: p1 relay from 0, p2 cycles, p3 s of a cycle."""
    repetition(autopilot, RELAY, require_relay(autopilot, p[0]), 0, p[1], p[2])
