"""A stand-in for ArduPilot that sends the next servo packet as soon as it has a state: `python -m ... PORT`."""

import socket
import struct
import sys


def run(port: int) -> None:
    """Run until killed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(0.1)
        frame = 0
        while True:
            link.sendto(struct.pack("<HHI16H", 18458, 1200, frame, *([1000] * 16)), ("127.0.0.1", port))
            try:
                link.recv(4096)
                frame += 1
            except OSError:  # no peer yet, or no answer: send the same packet again
                continue


if __name__ == "__main__":
    run(int(sys.argv[1]))
