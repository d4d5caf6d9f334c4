"""The parameter protocol: list, read, set; and the prompt refusal of file transfer, which stations try first."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.mavlink.dialect import mav

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Origin
    from paddock.sitl.mavlink.peers import Address
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

BATCH = 20  # parameters sent at one go, SR0_PARAMS times a second: stations lose packets of a faster list
RATE = "SR0_PARAMS"
PAUSE_US = 100_000  # us between batches where that parameter does not exist
NOT_INDEXED = 65535  # the index of a PARAM_VALUE that nobody asked for by its number
UNKNOWN = 1  # MAV_PARAM_ERROR_DOES_NOT_EXIST
OUT_OF_RANGE = 2

FTP_ACK, FTP_NAK = 128, 129
FTP_TERMINATE, FTP_RESET = 1, 2
FTP_UNKNOWN_COMMAND, FTP_NOT_FOUND = 7, 10
FTP_LOOKUPS = (3, 4, 11, 14)  # list, open, open, checksum
FTP_LENGTH = 251


class ParameterProtocol:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.parameters = vehicle.autopilot.parameters
        self._lists: dict[tuple[Address, int, int], tuple[Origin, int]] = {}  # who is told the list, and how far
        self._next_us, self._next_wall = 0, 0.0
        self.handlers = {
            "PARAM_REQUEST_LIST": self._list,
            "PARAM_REQUEST_READ": self._read,
            "PARAM_SET": self._set,
            "FILE_TRANSFER_PROTOCOL": self._refuse_ftp,
        }

    def restart(self) -> None:
        """Time begins anew; whoever was being told the list is told the rest."""
        self._next_us = 0

    # list ------------------------------------------------------------------------------------------------------------

    def _list(self, message: Any, origin: Origin) -> None:
        self._lists[origin.key] = (origin, 0)

    def service(self, now_us: int, wall: float, standing: bool) -> None:
        """Tell the next parameters to those who asked for all; `standing`: only the clock on the wall advances."""
        early = wall < self._next_wall if standing else now_us < self._next_us
        if not self._lists or early:
            return
        rate = self.vehicle.rate(RATE, 1e6 / PAUSE_US)
        pause_us = round(1e6 / rate if rate > 0 else PAUSE_US)
        self._next_us, self._next_wall = now_us + pause_us, wall + pause_us * 1e-6
        names = self.parameters.names()
        for key, (origin, told) in list(self._lists.items()):
            for index in range(told, min(told + BATCH, len(names))):
                self.vehicle.reply(self._value(names[index], index, len(names)), origin)
            self._lists[key] = (origin, told + BATCH)
            if told + BATCH >= len(names):
                del self._lists[key]

    # read and set ----------------------------------------------------------------------------------------------------

    def _read(self, message: Any, origin: Origin) -> None:
        names = self.parameters.names()
        index = message.param_index
        if index >= 0:
            name = names[index] if index < len(names) else ""
        else:
            name = message.param_id
            index = names.index(name) if name in names else 0
        if name not in names:
            self._unknown(message, origin, UNKNOWN)
            return
        self.vehicle.reply(self._value(name, index, len(names)), origin)

    def _set(self, message: Any, origin: Origin) -> None:
        """Always answered: with the value that counts now, to every station."""
        name, value = message.param_id, message.param_value
        if name not in self.parameters:
            self._unknown(message, origin, UNKNOWN)
            self.vehicle.autopilot.say(Severity.WARNING, f"Parameter {name}: there is none")
            return
        if not (isfinite(value) and self.parameters.set(name, value)):
            self._unknown(message, origin, OUT_OF_RANGE)
            self.vehicle.autopilot.say(Severity.WARNING, f"Parameter {name}: {value:g} refused")
        self.vehicle.streaming.use_parameter(name, self.vehicle.now_us, origin.peer)
        self.vehicle.send(self._value(name, NOT_INDEXED, len(self.parameters.names())))

    def _value(self, name: str, index: int, count: int) -> Any:
        value, kind = self.parameters.value(name), int(self.parameters.kind(name))
        return mav.MAVLink_param_value_message(name.encode("ascii"), value, kind, count, index)

    def _unknown(self, message: Any, origin: Origin, error: int) -> None:
        name = message.param_id.encode("ascii", "replace")
        index = getattr(message, "param_index", -1)
        self.vehicle.reply(mav.MAVLink_param_error_message(origin.system, origin.component, name, index, error), origin)

    # file transfer ---------------------------------------------------------------------------------------------------

    def _refuse_ftp(self, message: Any, origin: Origin) -> None:
        """There are no files: closing sessions succeeds, everything else fails at once."""
        request = bytes(message.payload)
        number, opcode = int.from_bytes(request[:2], "little"), request[3]
        if opcode in (FTP_ACK, FTP_NAK):
            return
        closing = opcode in (FTP_TERMINATE, FTP_RESET)
        error = FTP_NOT_FOUND if opcode in FTP_LOOKUPS else FTP_UNKNOWN_COMMAND
        answer = bytearray(FTP_LENGTH)
        answer[:2] = ((number + 1) % 65536).to_bytes(2, "little")
        answer[2], answer[3], answer[5] = request[2], FTP_ACK if closing else FTP_NAK, opcode
        if not closing:
            answer[4], answer[12] = 1, error
        self.vehicle.reply(
            mav.MAVLink_file_transfer_protocol_message(0, origin.system, origin.component, list(answer)), origin
        )
