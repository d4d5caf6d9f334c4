"""The socket to one ardupilot_gazebo plugin, in the role of its ArduPilot: servo packets out, states in."""

from __future__ import annotations

import socket
from time import monotonic

from paddock.wire.ardupilot_json import ServoPacket, State, decode_state, encode_servos
from paddock.wire.error import WireError

RESEND_AFTER = 1.0
"""s of wall time, as ArduPilot does it."""
REFUSED_AFTER = 0.1
"""s, when nobody was there to take the packet: the plugin may still be starting."""
LARGEST = 65535


class PluginLink:
    """One plugin. A frame is sent once and repeated while it is unanswered.

    The plugin takes a repeated frame for a duplicate, which some versions never answer: the second repetition is
    therefore a new frame.
    """

    def __init__(self, host: str, port: int, frame_rate: int) -> None:
        self.host, self.port = host, port
        self.frame_rate = frame_rate
        self.frame_count = -1
        self.rejected = 0
        self.note = f"waiting for the Gazebo plugin at udp {host}:{port}"
        self.waiting = False  # for the answer to a frame
        self._pwm: tuple[int, ...] = ()
        self._repeated = 0
        self._again_at = 0.0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.connect((host, port))  # so that a missing plugin is noticed
        except OSError:
            self._socket.close()
            raise
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def restart(self) -> None:
        """Count frames from 0, by which the plugin knows that its controller has begun anew; old answers are lost."""
        self.answer()
        self.frame_count = -1
        self.waiting = False

    def ask(self, pwm: tuple[int, ...]) -> None:
        """Send the next frame, unless one is still unanswered."""
        if not self.waiting:
            self.frame_count += 1
            self._repeated = 0
            self._pwm = pwm
            self.waiting = True
            self._send()

    def _send(self) -> None:
        self._again_at = monotonic() + RESEND_AFTER
        packet = ServoPacket(self.frame_rate, self.frame_count & 0xFFFFFFFF, self._pwm)
        try:
            self._socket.send(encode_servos(packet))
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._again_at = monotonic() + REFUSED_AFTER
        self.note = f"no Gazebo plugin at udp {self.host}:{self.port} ({error.strerror}): is the world running?"

    def repeat(self) -> float:
        """Repeat the frame when it is time; how long (s) until the next time."""
        if self.waiting and monotonic() >= self._again_at:
            self._repeated += 1
            self.frame_count += self._repeated > 1
            self._send()
        return max(self._again_at - monotonic(), 0.0)

    def answer(self) -> State | None:
        """The newest state that has come in."""
        newest: State | None = None
        while (data := self._receive()) is not None:
            try:
                newest = decode_state(data)
            except WireError as error:
                self.rejected += 1
                self.note = f"from the Gazebo plugin at udp {self.host}:{self.port}: {error}"
        if newest is not None:
            self.waiting = False
            self.note = ""
        return newest

    def _receive(self) -> bytes | None:
        try:
            return self._socket.recv(LARGEST)
        except BlockingIOError:
            return None
        except OSError as error:  # refused: the packet before found nobody
            self._fail(error)
            return None

    def diagnosis(self) -> str:
        """Why there is no answer, as far as known."""
        return self.note or f"the Gazebo plugin at udp {self.host}:{self.port} stopped answering: is the world paused?"
