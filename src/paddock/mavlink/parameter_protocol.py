"""The parameter protocol: list, read, set. Ground stations try file transfer first (`file_transfer`)."""

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

from paddock.autopilot.telemetry import Severity
from paddock.mavlink.packets import mav

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.link import Address, Sender

BATCH = 20  # parameters per batch, SR0_PARAMS times a second: receivers lose packets of a faster list
MAX_LISTS = 16  # receivers at the same time
RATE = "SR0_PARAMS"
PAUSE_US = 100_000  # us between batches if that is 0
NOT_INDEXED = 65535  # index of a PARAM_VALUE that was not requested by index
UNKNOWN = 1  # MAV_PARAM_ERROR_DOES_NOT_EXIST
OUT_OF_RANGE = 2


class ParameterProtocol:
    """The parameter protocol of one vehicle."""

    def __init__(self, vehicle: "MavlinkVehicle") -> None:
        self.vehicle = vehicle
        self.parameters = vehicle.autopilot.parameters
        self._lists: dict[tuple[Address, int, int], tuple[Sender, int]] = {}  # receivers of the list, next index
        self._next_us, self._next_wall = 0, 0.0
        self.handlers: dict[str, Callable[[Any, Sender], None]] = {
            "PARAM_REQUEST_LIST": self._list,
            "PARAM_REQUEST_READ": self._read,
            "PARAM_SET": self._set,
        }

    def restart(self) -> None:
        """Restart simulated time; lists in progress continue."""
        self._next_us = 0

    def service(self, now_us: int, wall: float, paused: bool) -> None:
        """Send the next batch of requested lists; `paused`: only wall time advances."""
        early = wall < self._next_wall if paused else now_us < self._next_us
        if not self._lists or early:
            return
        rate = self.parameters.value(RATE)
        pause_us = round(1e6 / rate if rate > 0 else PAUSE_US)
        self._next_us, self._next_wall = now_us + pause_us, wall + pause_us * 1e-6
        names = self.parameters.names()
        for key, (sender, sent) in list(self._lists.items()):
            for index in range(sent, min(sent + BATCH, len(names))):
                self.vehicle.reply(self._value(names[index], index, len(names)), sender)
            self._lists[key] = (sender, sent + BATCH)
            if sent + BATCH >= len(names):
                del self._lists[key]

    def _list(self, message: Any, sender: "Sender") -> None:
        """Start a list; the one that was requested first gives way if there are too many."""
        self._lists[sender.key] = sender, 0
        if len(self._lists) > MAX_LISTS:
            del self._lists[next(iter(self._lists))]

    def _read(self, message: Any, sender: "Sender") -> None:
        names, index = self.parameters.names(), message.param_index  # -1: by name
        name = message.param_id if index < 0 else names[index] if index < len(names) else ""
        if name in names:
            self.vehicle.reply(self._value(name, names.index(name), len(names)), sender)
        else:
            self._error(message, sender, UNKNOWN)

    def _set(self, message: Any, sender: "Sender") -> None:
        """Reply with the current value, to all peers."""
        name, value = message.param_id, message.param_value
        if name not in self.parameters:
            self._error(message, sender, UNKNOWN)
            self.vehicle.autopilot.send_text(Severity.WARNING, f"Unknown parameter {name}")
            return
        if not (isfinite(value) and self.parameters.set(name, value)):
            self._error(message, sender, OUT_OF_RANGE)
            self.vehicle.autopilot.send_text(Severity.WARNING, f"Parameter {name}: invalid value {value:g}")
        self.vehicle.use_parameter(name, sender.peer)
        self.vehicle.send(self._value(name, NOT_INDEXED, len(self.parameters.names())))

    def _value(self, name: str, index: int, count: int) -> Any:
        value, kind = self.parameters.value(name), int(self.parameters.known(name).kind)
        return mav.MAVLink_param_value_message(name.encode("ascii"), value, kind, count, index)

    def _error(self, message: Any, sender: "Sender", error: int) -> None:
        name = message.param_id.encode("ascii", "replace")
        index = getattr(message, "param_index", -1)
        self.vehicle.reply(mav.MAVLink_param_error_message(sender.system, sender.component, name, index, error), sender)
