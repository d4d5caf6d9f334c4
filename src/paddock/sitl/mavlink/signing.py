"""MAVLink 2 signing: signatures of outgoing packets, and the check of incoming ones.

A signature is a link number, a time stamp (48 bits, 10 us units since 2015) and the first 48 bits of
SHA-256(key, packet, link, time stamp). Outgoing time stamps follow simulated time and never fall behind those that were
received, so that two runs without ground stations are equal.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
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

    def __post_init__(self) -> None:
        """Load the key that was stored with the parameters."""
        path = self._path
        if path is not None and path.exists():
            with suppress(OSError, ValueError, KeyError, TypeError):
                saved = json.loads(path.read_text())
                key = bytes.fromhex(saved["key"])
                self.key, self.newest = key if len(key) == KEY else b"", int(saved["timestamp"])

    @property
    def _path(self) -> Path | None:
        path = self.autopilot.parameters.path
        return None if path is None else path.with_suffix(".signing")

    def sign(self, packet: bytes, number: int, extra: int, link: int) -> bytes:
        """Return a MAVLink 2 packet with a sequence number and a signature."""
        now = (SIMULATED_EPOCH_US - EPOCH_US + max(self.autopilot.now_us, 0)) // UNIT_US
        self.sent = max(self.sent + 1, self.newest + 1, now)
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
        valid = time > last if last is not None else time + MINUTE >= self.newest
        self.streams[stream] = time if valid or last is None else last
        if not valid and last is None:
            del self.streams[stream]
        if len(self.streams) > MAX_STREAMS:
            del self.streams[next(iter(self.streams))]
        if valid:
            self.newest = max(self.newest, time)
        return valid

    def set_up(self, message: Any, sender: "Sender") -> None:
        """SETUP_SIGNING: take a key, or none; from this machine, or signed with the key before, and not while armed."""
        local = sender.peer.address[0].startswith(LOOPBACK)
        refusal = "disarm first" if self.autopilot.armed else "" if local or self.key else "not from another machine"
        if refusal:
            self.autopilot.send_text(Severity.WARNING, f"Signing rejected: {refusal}")
            return
        key = bytes(message.secret_key)
        self.key = key if any(key) else b""
        self.newest, self.sent = message.initial_timestamp if self.key else 0, 0
        self.streams.clear()
        self.autopilot.send_text(Severity.INFO, "Signing enabled" if self.key else "Signing disabled")
        self._save()

    def _save(self) -> None:
        """Store the key beside the parameters, for this user only."""
        path = self._path
        if path is None:
            return
        try:
            if not self.key:
                path.unlink(missing_ok=True)
                return
            text = json.dumps({"key": self.key.hex(), "timestamp": self.newest}) + "\n"
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(text)
        except OSError as problem:
            self.autopilot.send_text(Severity.ERROR, f"{path}: cannot save the signing key: {problem.strerror}")
