"""The mode switch of a remote control: a channel whose pulse chooses one of six modes, as ArduPilot reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.parameters import Parameter, ParamKind

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

EDGES = (1230, 1360, 1490, 1620, 1749)  # us: the last of each position but the sixth
SETTLED_US = 200_000  # a position counts when it has been held for so long
POSITIONS = {
    "copter": (5, (7, 9, 6, 3, 5, 0)),  # CIRCLE, LAND, RTL, AUTO, LOITER, STABILIZE
    "plane": (8, (10, 11, 12, 7, 5, 0)),  # AUTO, RTL, LOITER, CRUISE, FBWA, MANUAL
    "rover": (8, (10, 11, 12, 15, 4, 0)),  # AUTO, RTL, SMARTRTL, GUIDED, HOLD, MANUAL
}
"""The channel and the modes of the six positions, before anybody changes them."""


def prefix(kind: str) -> str:
    """How ArduPilot calls the parameters of that kind of craft."""
    return "MODE" if drives(kind) else "FLTMODE"


def switch_parameters(kind: str) -> tuple[Parameter, ...]:
    """The channel and the modes of that kind of craft."""
    channel, modes = POSITIONS["rover" if drives(kind) else kind]
    name = prefix(kind)
    return (
        Parameter(f"{name}_CH", channel, 0, 16, ParamKind.INT8, "RC channel that chooses the mode; 0: none"),
        *(
            Parameter(f"{name}{k}", mode, 0, 127, ParamKind.INT8, f"number of the mode in position {k} of the switch")
            for k, mode in enumerate(modes, start=1)
        ),
    )


class ModeSwitch:
    """Of one vehicle. Only a change of its position is an order: in between others may choose the mode."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self._position = self._seen = 0  # the one that was obeyed, and the one now; 0: none
        self._since_us = 0

    def update(self, pwm: Sequence[int]) -> None:
        """Obey a new position once it has settled; `pwm`: the channels in us, 0 for one that is not heard."""
        now, position = self.autopilot.now_us, self._read(pwm)
        if position != self._seen:
            self._seen, self._since_us = position, now
        if position in (0, self._position) or now - self._since_us < SETTLED_US:
            return
        self._position = position
        answer = self.autopilot.set_mode(self.autopilot.parameters.whole(f"{self._name}{position}"), "mode switch")
        if not answer.accepted:
            self.autopilot.say(Severity.WARNING, f"Mode switch: {answer.text}")

    @property
    def _name(self) -> str:
        return prefix(self.autopilot.craft.kind)

    def _read(self, pwm: Sequence[int]) -> int:
        channel = self.autopilot.parameters.whole(f"{self._name}_CH")
        width = pwm[channel - 1] if channel else 0
        return 1 + sum(width > edge for edge in EDGES) if width else 0
