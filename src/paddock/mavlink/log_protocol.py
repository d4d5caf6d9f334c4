"""The log protocol: list, download and erase the on-board logs of a vehicle."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.autopilot.telemetry import Severity
from paddock.mavlink.packets import mav

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.link import Address, Sender

CHUNK = 90  # bytes of a LOG_DATA
BATCH = 40  # packets per poll, shared by all downloads: a receiver's socket buffer must hold them
MAX_DOWNLOADS = 8  # at the same time


@dataclass
class LogDownload:
    """A part of a log on its way to one receiver."""

    sender: "Sender"
    number: int
    path: Path
    at: int
    end: int


class LogProtocol:
    """The log protocol of one vehicle. Log 1 is the oldest."""

    def __init__(self, vehicle: "MavlinkVehicle") -> None:
        self.vehicle = vehicle
        self.autopilot = vehicle.autopilot
        self.downloads: dict[tuple[Address, int, int], LogDownload] = {}
        self.handlers: dict[str, Callable[[Any, Sender], None]] = {
            "LOG_REQUEST_LIST": self._list,
            "LOG_REQUEST_DATA": self._request,
            "LOG_REQUEST_END": self._end,
            "LOG_ERASE": self._erase,
        }

    def files(self) -> list[Path]:
        """Return the logs, oldest first."""
        return [] if self.autopilot.log is None else self.autopilot.log.files()

    def _list(self, message: Any, sender: "Sender") -> None:
        """Reply with the logs from `start` to `end`; beyond the last as ArduPilot: one of that number, empty."""
        log = self.autopilot.log
        if log is None or not (files := log.files()):
            self.vehicle.reply(mav.MAVLink_log_entry_message(0, 0, 0, 0, 0), sender)
            return
        log.flush()
        last, dates = len(files), log.dates()
        if message.start > last:
            self.vehicle.reply(mav.MAVLink_log_entry_message(message.start, last, last, 0, 0), sender)
        for number in range(max(message.start, 1), min(message.end, last) + 1):
            size = files[number - 1].stat().st_size
            entry = mav.MAVLink_log_entry_message(number, last, last, dates[number - 1], size)
            self.vehicle.reply(entry, sender)

    def _request(self, message: Any, sender: "Sender") -> None:
        """Start a download; another one of the same receiver ends."""
        files = self.files()
        self.downloads.pop(sender.key, None)
        if not 1 <= message.id <= len(files) or len(self.downloads) >= MAX_DOWNLOADS:
            return
        if self.autopilot.log is not None:
            self.autopilot.log.flush()
        path = files[message.id - 1]
        size = path.stat().st_size
        end = min(message.ofs + message.count, size)
        self.downloads[sender.key] = LogDownload(sender, message.id, path, min(message.ofs, size), end)

    def _end(self, message: Any, sender: "Sender") -> None:
        self.downloads.pop(sender.key, None)

    def service(self) -> None:
        """Send the next packets of the downloads."""
        batch = BATCH // max(len(self.downloads), 1)
        for key, download in list(self.downloads.items()):
            try:
                with download.path.open("rb") as file:
                    file.seek(download.at)
                    data = file.read(min(batch * CHUNK, download.end - download.at))
            except OSError:  # erased meanwhile
                data = b""
            for at in range(0, len(data) or 1, CHUNK):
                part = data[at : at + CHUNK]
                fields = download.number, download.at + at, len(part), list(part.ljust(CHUNK, b"\0"))
                self.vehicle.reply(mav.MAVLink_log_data_message(*fields), download.sender)
            download.at += len(data)
            if download.at >= download.end or not data:
                del self.downloads[key]

    def _erase(self, message: Any, sender: "Sender") -> None:
        if self.autopilot.armed:
            self.autopilot.send_text(Severity.WARNING, "Logs not erased: disarm first")
        elif self.autopilot.log is not None:
            self.downloads.clear()
            self.autopilot.log.erase()
