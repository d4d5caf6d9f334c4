"""A vandal: VDS1_PORT STREAM_PORT. Sends garbage to both, as fast as is fair on a small machine, until killed."""

from __future__ import annotations

import random
import socket
import struct
import sys
import time
import zlib
from contextlib import suppress

from paddock.wire.vds1 import CarCommand, encode_command

vds1, stream = (("127.0.0.1", int(port)) for port in sys.argv[1:3])
noise = random.Random(5)
good = encode_command(CarCommand(1, 1, 0.0, 0.4, 1.0, 0.0))


def garbage() -> bytes:
    """Noise, a valid command cut, lengthened or with a bit flipped, or one for a vehicle that is not there."""
    kind = noise.randrange(5)
    if kind == 0:
        return noise.randbytes(noise.randrange(1500))
    if kind == 1:
        return good[: noise.randrange(len(good))]
    if kind == 2:
        return good + noise.randbytes(noise.randrange(1, 100))
    if kind == 3:
        flipped = bytearray(good)
        flipped[noise.randrange(len(good))] ^= 1 << noise.randrange(8)
        return bytes(flipped)
    body = good[:12] + struct.pack("<I", noise.randrange(50, 1 << 32)) + good[16:-4]
    return body + struct.pack("<I", zlib.crc32(body))


def vandalise() -> None:
    """A burst to each."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        for _ in range(20):
            link.sendto(garbage(), vds1)
    with suppress(OSError), socket.create_connection(stream, 1.0) as connection:
        connection.sendall(noise.choice([b"{", b"[", b"\x20", b""]) + garbage() + b"\n")


while True:
    vandalise()
    time.sleep(0.01)
