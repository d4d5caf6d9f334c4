"""A renderer client of the stream: `python 06_renderer.py HOST:PORT`; without an address it serves its own flock."""

import json
import socket
import sys
import time

from paddock.wire.stream.frames import FrameType, Splitter, StreamFrame, decode_tick
from paddock.wire.stream.positions import decode_positions


def watch(host: str, port: int, groups: int) -> None:
    """Subscribe, and print the next groups of frames."""
    with socket.create_connection((host, port)) as server:
        call = {"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": {"rate": 30, "frame": "unreal"}}
        server.sendall(json.dumps(call).encode() + b"\n")
        splitter = Splitter(limit_frame=1 << 28, limit_json=1 << 24)
        while groups > 0 and (piece := server.recv(1 << 16)):
            for message in splitter.feed(piece):
                if not isinstance(message, StreamFrame):  # an answer, or a notification such as `roster`
                    print(message.line[:100].decode())
                elif message.type == FrameType.TICK:
                    moment = decode_tick(message.payload)
                elif message.type == FrameType.POSITIONS:
                    robots = decode_positions(message.payload)
                    age = 1e3 * (time.time() - moment.wall_time)
                    x, y, z = robots["position"].mean(axis=0)  # (n, 3), in cm
                    print(f"tick {moment.tick:4}: {len(robots)} around {x:.0f} {y:.0f} {z:.0f} cm, {age:.1f} ms old")
                    groups -= 1


if len(sys.argv) > 1:
    host, _, port = sys.argv[1].rpartition(":")
    watch(host, int(port), groups=1 << 62)
else:
    import paddock

    flock = {"name": "flock", "count": 100, "model": "point", "behaviour": {"flock": {}}}
    spawn = {"random": {"low": [-20, -20, 20], "high": [20, 20, 40]}}
    scenario = {"clock": {"rate": 60}, "vehicles": [{**flock, "spawn": spawn, "speed": 3}]}
    with paddock.load(scenario) as sim, paddock.share(sim, stream={"port": 0}) as host, sim.clock.running():
        watch("127.0.0.1", host.addresses["stream"]["port"], groups=20)
