"""Stand-ins for ArduPilots that send the next servo packet as soon as they have a state: `python -m ... PORT...`.

One process plays them all. As ArduPilot does, a stand-in sleeps until its state arrives, and its motor outputs change
with every frame. When terminated, the process prints the processor time that it took per frame, in us.
"""

import signal
import socket
import struct
import sys
from contextlib import suppress
from time import process_time

PATIENCE = struct.pack("@ll", 0, 100_000)  # s and us without a state after which a packet is sent again
SERVOS = struct.Struct("<HHI16H")
CHANGING = struct.Struct("<I4H")
FIRST = 4  # offset of the frame count and the motors
IDLE, HOVER, SPREAD = 1000, 1480, 64  # us of PWM


class StandIn:
    """One connected socket and its packet; the number of the frame and the motors change."""

    def __init__(self, port: int) -> None:
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.connect(("127.0.0.1", port))
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, PATIENCE)
        self.packet = bytearray(SERVOS.pack(18458, 1200, 0, *[IDLE] * 16))
        self.frame = 0
        self.buffer = bytearray(4096)

    def send(self) -> None:
        """Send the present frame, again if it was sent before."""
        with suppress(OSError):  # no peer yet
            self.link.send(self.packet)

    def answer(self) -> None:
        """Wait for a state and send the next frame; the present one again after a while without a state."""
        try:
            self.link.recv_into(self.buffer)
        except OSError:
            self.send()
            return
        self.frame += 1
        pwm = HOVER + self.frame * 7 % SPREAD
        CHANGING.pack_into(self.packet, FIRST, self.frame, pwm, pwm, pwm, pwm)
        self.send()


def run(ports: list[int]) -> None:
    """Run until terminated."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    peers = [StandIn(port) for port in ports]
    for peer in peers:
        peer.send()
    for peer in peers:
        peer.answer()
    started, first = process_time(), peers[0].frame
    try:
        while True:
            for peer in peers:
                peer.answer()
    finally:
        frames = (peers[0].frame - first) * len(peers)
        print(1e6 * (process_time() - started) / max(frames, 1), flush=True)


if __name__ == "__main__":
    run(list(map(int, sys.argv[1:])))
