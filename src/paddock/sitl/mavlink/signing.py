"""MAVLink 2 signing: signatures of outgoing packets, and the check of incoming ones.

A signature is a link number, a time stamp (48 bits, 10 us units since 2015) and the first 48 bits of
SHA-256(key, packet, link, time stamp). Outgoing time stamps follow simulated time and never fall behind those that were
received, so that two runs without ground stations are equal. The newest received ones are stored with the key, so that
a packet from before a restart is not accepted again.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from time import time as wall_clock
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.telemetry import SIMULATED_EPOCH_US, Severity
from paddock.sitl.mavlink.packets import MARKER_2, SEQUENCE_AT, SIGNATURE, SIGNED, mav

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.mavlink.link import Sender

KEY = 32  # bytes
UNIT_US = 10
EPOCH_US = 1_420_070_400_000_000  # 1 January 2015
MINUTE = 6_000_000  # in units of 10 us: a new stream may be this much older than the newest time stamp
FLAGS_AT = 2  # index of the incompatibility flags in a MAVLink 2 packet
UNSIGNED_ALLOWED = frozenset({mav.MAVLINK_MSG_ID_RADIO_STATUS, mav.MAVLINK_MSG_ID_RADIO})
LAST = 2**48 - 1  # the largest time stamp, in the year 2104
DAY = 1440 * MINUTE  # by which a received time stamp may be ahead of the clock to count as the newest
SAVE_PERIOD_US = 30_000_000  # us of simulated time between two updates of the stored time stamps
MAX_STREAMS = 64  # remembered time stamps; the oldest is dropped
LOOPBACK = ("127.", "tcp:127.")


@dataclass
class Signing:
    """The signing of one vehicle; without a key everything is accepted and nothing is signed."""

    autopilot: "BuiltInAutopilot"
    key: bytes = b""
    sent: int = 0  # time stamp of the last packet sent
    newest: int = 0  # received
    streams: dict[tuple[int, int, int], int] = field(default_factory=dict)  # system, component, link -> last time stamp
    rejected: int = 0  # packets without a valid signature
    stored: int = 0  # the newest time stamp when the key was loaded: a stream that was not stored must be newer
    _next_us: int = 0  # simulated time of the next update of the file
    _changed: bool = False  # since then

    def __post_init__(self) -> None:
        """Load the key that was stored with the parameters."""
        path = self._path
        if path is not None and path.exists():
            with suppress(OSError, ValueError, KeyError, TypeError):
                saved = json.loads(path.read_text())
                key, newest = bytes.fromhex(saved["key"]), int(saved["timestamp"])
                streams = {(int(a), int(b), int(c)): int(time) for a, b, c, time in saved.get("streams", ())}
                if len(key) == KEY:
                    self.key, self.newest = key, min(max(newest, 0), LAST)
                    self.stored, self.streams = self.newest, dict(list(streams.items())[:MAX_STREAMS])

    @property
    def _path(self) -> Path | None:
        path = self.autopilot.parameters.path
        return None if path is None else path.with_suffix(".signing")

    def sign(self, packet: bytes, number: int, extra: int, link: int) -> bytes:
        """Return a MAVLink 2 packet with a sequence number and a signature."""
        now = (SIMULATED_EPOCH_US - EPOCH_US + max(self.autopilot.now_us, 0)) // UNIT_US
        self.sent = min(max(self.sent + 1, self.newest + 1, now), LAST)
        body = bytearray(packet[:-2])
        body[FLAGS_AT], body[SEQUENCE_AT] = packet[FLAGS_AT] | SIGNED, number
        body += int(mav.x25crc(bytes(body[1:]) + bytes((extra,))).crc).to_bytes(2, "little")
        body += bytes((link,)) + self.sent.to_bytes(6, "little")
        return bytes(body) + sha256(self.key + body).digest()[:6]

    def accepts(self, message: Any) -> bool:
        """Check the signature of a received message; count those that are rejected."""
        if not self.key or message.get_msgId() in UNSIGNED_ALLOWED:
            return True
        accepted = self._valid(bytes(message.get_msgbuf()), message.get_srcSystem(), message.get_srcComponent())
        self.rejected += not accepted
        return accepted

    def _valid(self, raw: bytes, system: int, component: int) -> bool:
        if raw[0] != MARKER_2 or not raw[FLAGS_AT] & SIGNED or len(raw) < SIGNATURE + 12:
            return False
        if not compare_digest(sha256(self.key + raw[:-6]).digest()[:6], raw[-6:]):
            return False
        stream = system, component, raw[-SIGNATURE]
        time = int.from_bytes(raw[-12:-6], "little")
        last = self.streams.pop(stream, None)
        valid = time > last if last is not None else time + MINUTE >= self.newest and time > self.stored
        self.streams[stream] = time if valid or last is None else last
        if not valid and last is None:
            del self.streams[stream]
        if len(self.streams) > MAX_STREAMS:
            del self.streams[next(iter(self.streams))]
        if valid:  # one sender with a wrong clock must not lock out the others
            limit = (round(wall_clock() * 1e6) - EPOCH_US) // UNIT_US + DAY
            self.newest, self._changed = max(self.newest, min(time, limit)), True
        return valid

    def service(self, now_us: int) -> None:
        """Update the stored time stamps, every 30 s of simulated time."""
        if not 0 <= self._next_us - now_us <= SAVE_PERIOD_US:
            self._next_us = now_us + SAVE_PERIOD_US
            self.close()

    def close(self) -> None:
        """Store the newest time stamps."""
        if self.key and self._changed:
            self._save()

    def set_up(self, message: Any, sender: "Sender") -> None:
        """SETUP_SIGNING: take a key, or none; from this machine, or signed with the key before, and not while armed."""
        local = sender.peer.address[0].startswith(LOOPBACK)
        refusal = "disarm first" if self.autopilot.armed else "" if local or self.key else "not from another machine"
        if refusal:
            self.autopilot.send_text(Severity.WARNING, f"Signing rejected: {refusal}")
            return
        key, first = bytes(message.secret_key), message.initial_timestamp
        if any(key) and first > LAST:
            self.autopilot.send_text(Severity.WARNING, "Signing rejected: time stamp exceeds 48 bits")
            return
        self.key = key if any(key) else b""
        self.newest, self.sent, self.stored = first if self.key else 0, 0, 0
        self.streams.clear()
        self.autopilot.send_text(Severity.INFO, "Signing enabled" if self.key else "Signing disabled")
        self._save()

    def _save(self) -> None:
        """Store the key beside the parameters, for this user only."""
        path, self._changed = self._path, False
        if path is None:
            return
        try:
            if not self.key:
                path.unlink(missing_ok=True)
                return
            streams = [[*stream, time] for stream, time in self.streams.items()]
            text = json.dumps({"key": self.key.hex(), "timestamp": self.newest, "streams": streams}) + "\n"
            part = path.with_suffix(".signing.part")  # a full disk must not cost the key
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(text)
            part.replace(path)
        except OSError as problem:
            self.autopilot.send_text(Severity.ERROR, f"{path}: cannot save the signing key: {problem.strerror}")
