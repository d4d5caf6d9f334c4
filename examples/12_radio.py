"""Radio: a ground station sends messages to a drone, over another drone while a jammer disturbs the direct link."""

import paddock

scenario = {
    "name": "radio",
    "clock": {"rate": 20},
    "radio": {
        "types": {"mesh": {"bandwidth": 2e6, "bit_rate": 1e6, "power": 20}},
        "stations": [{"name": "base", "position": [0, 0, 10], "radio": "mesh"}],
        "jammers": [{"name": "red", "kind": "barrage", "position": [1500, 0, 5], "power": 30, "on": [[10, 20]]}],
    },
    "vehicles": [
        {
            "name": "drone",
            "count": 2,
            "model": "point",
            "spawn": {"line": {"start": [200, 0, 40], "end": [900, 0, 40]}},
            "radio": "mesh",
        }
    ],
}

with paddock.load(scenario) as sim:
    for second in (5, 15, 25):
        sim.run(until=second, pace=0)
        sim.radio.send("base", "drone[1]", {"report": second})
        link = sim.radio.link("base", "drone[1]")
        way, _ = sim.radio.network().path("base", "drone[1]")
        state = "up" if link.up else "down"
        print(f"{second:2} s: {link.distance:.0f} m, SINR {link.sinr:5.1f} dB, {state}; route {way}")
    sim.run(until=30, pace=0)
    for message in sim.radio.received("drone[1]"):
        print(f"{message.data} from {message.source} took {1000 * (message.arrived - message.sent):.1f} ms")
    print({name: count for name, count in sim.radio.traffic().items() if count})
