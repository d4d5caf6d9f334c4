"""What ArduPilot and PX4 share: autopilots that run in processes of their own and are reached over a socket."""

import socket

from paddock.errors import PaddockError

PX4_PORT = 4560  # TCP port at which PX4 instance 0 expects its simulator
DEBUGGING = "to stop it in a debugger, use --on-timeout hold"  # hint for an autopilot that is silent on purpose


def bound_socket(owner: str, protocol: str, address: str, port: int, others: str) -> socket.socket:
    """Return a non-blocking socket (`protocol` tcp, listening, or udp) at an address and port.

    PaddockError if it is in use; it names the owner, and `others` that may use it.
    """
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM)
    try:
        if protocol == "tcp":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((address, port))
        if protocol == "tcp":
            opened.listen(4)
    except OSError as error:
        opened.close()
        raise PaddockError(
            f"{owner}: cannot bind {protocol} {address}:{port} ({error.strerror}); stop the program that uses it "
            f"({others}) or choose another instance"
        ) from None
    opened.setblocking(False)
    return opened


def tick_after(time_us: int, ticks: int, dt_us: float) -> int:
    """Return the time of the tick that comes `ticks` of `dt_us` after the one at `time_us`, to the nearest us."""
    return max(time_us + 1, round((round(time_us / dt_us) + ticks) * dt_us))
