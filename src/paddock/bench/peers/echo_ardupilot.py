"""Stand-ins for ArduPilots that send the next servo packet as soon as they have a state: `python -m ... PORT...`.

One process plays them all, with one receive and one send per frame, so that little of the measured time is theirs.
"""

import select
import socket
import struct
import sys
from contextlib import suppress

PATIENCE = 0.1  # s without an answer after which a packet is sent again
SERVOS = struct.Struct("<HHI16H")
FRAME = struct.Struct("<I")


class StandIn:
    """One connected socket and its packet; only the number of the frame changes."""

    def __init__(self, port: int, waits: bool) -> None:
        """`waits`: receiving blocks for at most `PATIENCE` s; otherwise not at all."""
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.connect(("127.0.0.1", port))
        if waits:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, int(PATIENCE * 1e6)))
        else:
            self.link.setblocking(False)
        self.packet = bytearray(SERVOS.pack(18458, 1200, 0, *[1000] * 16))
        self.frame = 0
        self.buffer = bytearray(4096)

    def send(self) -> None:
        """Send the present frame, again if it was sent before."""
        with suppress(OSError):  # no peer yet
            self.link.send(self.packet)

    def answer(self) -> None:
        """Take a state and send the next frame; without one send the present frame again."""
        try:
            self.link.recv_into(self.buffer)
        except OSError:  # no peer yet, or no answer
            pass
        else:
            self.frame += 1
            FRAME.pack_into(self.packet, 4, self.frame)
        self.send()


def run(ports: list[int]) -> None:
    """Run until killed."""
    peers = [StandIn(port, waits=len(ports) == 1) for port in ports]
    for peer in peers:
        peer.send()
    if len(peers) == 1:
        while True:
            peers[0].answer()
    poll, by_number = select.poll(), {peer.link.fileno(): peer for peer in peers}
    for number in by_number:
        poll.register(number, select.POLLIN)
    while True:
        for number, _ in poll.poll(PATIENCE * 1e3) or [(number, 0) for number in by_number]:
            by_number[number].answer()


if __name__ == "__main__":
    run(list(map(int, sys.argv[1:])))
