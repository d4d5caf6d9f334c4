"""A driver with plain sockets: receives STATE, sends CMD over UDP. `python 08_udp_driver.py [HOST:PORT [VEHICLE]]`."""

import math
import socket
import sys

import paddock
from paddock.wire.vds1 import CarCommand, CarState, Cookie, decode, encode_command, encode_subscribe

RADIUS, SPEED = 20.0, 8.0  # m, m/s


def driven(car: dict[str, float]) -> tuple[float, float]:
    """Return steering (rad) and throttle that keep a car on a circle around the origin."""
    outside = math.hypot(car["x"], car["y"]) - RADIUS
    tangent = math.atan2(car["y"], car["x"]) + math.pi / 2
    turned = math.remainder(tangent - car["yaw"], 2 * math.pi)
    return 2.7 / RADIUS + 1.2 * turned + 0.1 * outside, min(max(0.3 * (SPEED - car["vx"]), 0.0), 1.0)


def drive(address: tuple[str, int], vehicle: int, commands: int) -> None:
    """Answer every state of a car with a command."""
    steer, throttle = 0.0, 0.0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(10.0)  # the first time, the server may compile its kernels
        for number in range(1, commands + 1):
            link.sendto(encode_command(CarCommand(number, vehicle, 0.0, steer, throttle, brake=0.0)), address)
            state = decode(link.recv(2048))
            while not (isinstance(state, CarState) and state.vehicle == vehicle):  # skip states of other cars
                if isinstance(state, Cookie):  # a server that others can reach asks whether this program receives
                    link.sendto(encode_subscribe(state.echo), address)
                state = decode(link.recv(2048))
            car = state.named()
            steer, throttle = driven(car)
            if number % 100 == 0:
                print(f"{state.time:5.2f} s: ({car['x']:6.2f}, {car['y']:6.2f}) m, {car['vx']:.2f} m/s")


if len(sys.argv) > 1:
    host, _, port = sys.argv[1].rpartition(":")
    drive((host, int(port)), int(sys.argv[2]) if len(sys.argv) > 2 else 1, 1_000_000)
else:  # no server running: serve one here and drive it
    red = {"id": 1, "name": "red", "model": "car.bicycle", "pose": [RADIUS, 0, math.pi / 2], "speed": SPEED}
    options = {"port": 0, "state": None}
    with paddock.load({"vehicles": [red]}) as sim, paddock.share(sim, vds1=options) as served, sim.clock.running():
        drive(("127.0.0.1", served.addresses["vds1"]["port"]), vehicle=1, commands=600)
