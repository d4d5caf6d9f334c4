"""Stand-ins for ArduPilots that send the next servo packet as soon as they have a state: `python -m ... PORT...`.

One process plays them all. It polls without sleeping, so that little of the measured time is its own: the operating
system takes longer to wake a process than a stand-in takes to answer.
"""

import socket
import struct
import sys
from contextlib import suppress
from time import monotonic

PATIENCE = 0.1  # s without an answer after which all packets are sent again
SERVOS = struct.Struct("<HHI16H")
FRAME = struct.Struct("<I")


class StandIn:
    """One connected socket and its packet; only the number of the frame changes."""

    def __init__(self, port: int) -> None:
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.connect(("127.0.0.1", port))
        self.link.setblocking(False)
        self.packet = bytearray(SERVOS.pack(18458, 1200, 0, *[1000] * 16))
        self.frame = 0
        self.buffer = bytearray(4096)

    def send(self) -> None:
        """Send the present frame, again if it was sent before."""
        with suppress(OSError):  # no peer yet
            self.link.send(self.packet)

    def answer(self) -> bool:
        """Send the next frame if a state has arrived; return whether one has."""
        try:
            self.link.recv_into(self.buffer)
        except OSError:  # none, or no peer yet
            return False
        self.frame += 1
        FRAME.pack_into(self.packet, 4, self.frame)
        self.send()
        return True


def run(ports: list[int]) -> None:
    """Run until killed."""
    peers = [StandIn(port) for port in ports]
    answered = -PATIENCE
    while True:
        for peer in peers:
            if peer.answer():
                answered = monotonic()
        if monotonic() - answered > PATIENCE:
            answered = monotonic()
            for peer in peers:
                peer.send()


if __name__ == "__main__":
    run(list(map(int, sys.argv[1:])))
