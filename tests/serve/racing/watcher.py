"""A spectator: PORT VEHICLE. Subscribes in the name of a parked vehicle until its input closes; prints JSON."""

from __future__ import annotations

import json
import select
import socket
import sys
import time

from paddock.wire.vds1 import CarState, Subscribe, decode, encode_subscribe

port, parked = int(sys.argv[1]), int(sys.argv[2])


def main() -> None:
    """Counts states of every car, and how far the parked one got."""
    seen: dict[int, int] = {}
    times: list[float] = []
    places: set[tuple[float, ...]] = set()
    due = 0.0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind(("127.0.0.1", 0))
        while True:
            if time.monotonic() >= due:
                due = time.monotonic() + 0.5
                link.sendto(encode_subscribe(Subscribe(0, parked)), ("127.0.0.1", port))
            ready, _, _ = select.select([link, sys.stdin], [], [], 0.1)
            if sys.stdin in ready:
                break
            if link not in ready:
                continue
            state = decode(link.recv(2048))
            assert isinstance(state, CarState)
            seen[state.vehicle] = seen.get(state.vehicle, 0) + 1
            times.append(state.time)
            if state.vehicle == parked:
                places.add(state.values[:6])
    print(json.dumps({"seen": seen, "seconds": times[-1] - times[0], "places": len(places)}))


main()
