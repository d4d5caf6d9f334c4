"""A racing driver: PORT VEHICLE. Drives one lap of a circle of 15 m about the origin by STATE alone; prints JSON."""

from __future__ import annotations

import json
import math
import socket
import sys
import time

from paddock.wire.vds1 import CarCommand, CarState, decode, encode_command

RADIUS, SPEED, WHEELBASE = 15.0, 9.5, 2.55  # m, m/s, m
port, vehicle = int(sys.argv[1]), int(sys.argv[2])


def controls(state: dict[str, float]) -> tuple[float, float, float]:
    """Steer, throttle and brake: along the tangent, back to the circle, at the wanted speed."""
    along = math.atan2(state["y"], state["x"]) + math.pi / 2
    heading = math.remainder(along - state["yaw"], 2 * math.pi)
    outside = math.hypot(state["x"], state["y"]) - RADIUS
    steer = math.atan(WHEELBASE / RADIUS) + 1.2 * heading + 0.15 * outside
    faster = SPEED - state["vx"]
    return max(-0.5, min(0.5, steer)), max(0.0, min(0.6, 0.4 * faster)), max(0.0, min(0.5, -0.2 * faster))


def main() -> None:
    """Until the lap is done, or 20 s have passed."""
    seen: dict[int, int] = {}
    times, radii = [], []
    winding, angle, sequence = 0.0, None, 0
    end = time.monotonic() + 20.0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(0.1)
        command = (0.0, 0.0, 0.0)
        while winding < 2 * math.pi and time.monotonic() < end:
            sequence += 1
            link.sendto(encode_command(CarCommand(sequence, vehicle, 0.0, *command)), ("127.0.0.1", port))
            for _ in range(8):  # every second publish or so is answered
                try:
                    state = decode(link.recv(2048))
                except TimeoutError:
                    break
                assert isinstance(state, CarState)
                seen[state.vehicle] = seen.get(state.vehicle, 0) + 1
                if state.vehicle != vehicle:
                    continue
                values = state.named()
                command = controls(values)
                times.append(state.time)
                radii.append(math.hypot(values["x"], values["y"]))
                now = math.atan2(values["y"], values["x"])
                winding += math.remainder(now - (now if angle is None else angle), 2 * math.pi)
                angle = now
    lap = {"winding": winding, "radius": [min(radii), max(radii)], "seconds": times[-1] - times[0], "seen": seen}
    print(json.dumps(lap))


main()
