"""What ArduPilot and PX4 share: autopilots that run in processes of their own and are reached over a socket."""

import socket
from collections.abc import Callable

from paddock.autopilot.contract import Autopilot
from paddock.errors import PaddockError

PX4_PORT = 4560  # TCP port at which PX4 instance 0 expects its simulator
MOST_REASONS = 20  # of rejections that are reported in a run: others may send anything
DEBUGGING = "to stop it in a debugger, use --on-timeout hold"  # hint for an autopilot that is silent on purpose


class ExternalAutopilot(Autopilot):
    """Waits at a port for the autopilot's process, and exchanges data every few ticks of the world."""

    def __init__(self, dt: float, instance: int, address: str, port: int, ticks: int) -> None:
        """`dt`: s of a tick of the world. ticks: from one exchange to the next. port: 0 for a free one."""
        super().__init__()
        self.instance, self.port = instance, port  # the port is known after `open`
        self._address, self._dt_us, self._ticks = address, dt * 1e6, ticks
        self._socket: socket.socket | None = None
        self.on_event: list[Callable[[str, str], None]] = []  # called with kind and detail
        self._reported: set[str] = set()  # reasons of rejections that were reported

    @property
    def period_us(self) -> int:
        """The ticks between two exchanges."""
        return max(1, round(self._ticks * self._dt_us))

    def next_us(self, time_us: int) -> int:
        """Return the time of the tick of the next exchange, to the nearest us."""
        return max(time_us + 1, round((round(time_us / self._dt_us) + self._ticks) * self._dt_us))

    def _bind(self, protocol: str, others: str) -> bool:
        """Open a non-blocking socket (tcp, listening, or udp) if there is none; return whether it is new.

        PaddockError if the port is in use; it names `others` that may use it.
        """
        if self._socket is not None:
            return False
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM)
        try:
            if protocol == "tcp":
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind((self._address, self.port))
            if protocol == "tcp":
                opened.listen(4)
        except OSError as error:
            opened.close()
            owner = {"ardupilot": "ArduPilot", "px4": "PX4"}[self.kind]
            raise PaddockError(
                f"{owner}: cannot bind {protocol} {self._address}:{self.port} ({error.strerror}); stop the program "
                f"that uses it ({others}) or choose another instance"
            ) from None
        opened.setblocking(False)
        self._socket, self.port = opened, opened.getsockname()[1]
        return True

    def _reject(self, why: str) -> None:
        """Count data that cannot be used, show why, and report a new reason."""
        self.status.rejected += 1
        self.status.note = why
        if why not in self._reported and len(self._reported) < MOST_REASONS:
            self._reported.add(why)
            self._report("rejected", why)

    def _report(self, kind: str, detail: str) -> None:
        for listener in self.on_event:
            listener(kind, detail)

    def _report_restart(self) -> None:
        """Count a restart of the process, and notify listeners."""
        self.status.restarts += 1
        self._report("restarted", f"{self.kind} has restarted ({self.status.restarts} in this run)")
        for listener in self.on_restart:
            listener()
