"""Your own vehicle: check the model in `my_boat.py`, next to this file, then drive it with a built-in behaviour."""

import my_boat

import paddock
from paddock.testing import check_vehicle_model

print(check_vehicle_model(my_boat.MODEL))  # compiled equals Python bit for bit, converges, never NaN, ...

buoys = [[80, 0], [80, 60], [0, 60], [0, 0]]
scenario = {
    "clock": {"rate": 50},
    "vehicles": [
        {
            "name": "boat",
            "model": "my_boat",  # a module that Python can import
            "parameters": {"thrust_max": 1500},
            "behaviour": {"waypoints": {"path": buoys, "speed": 4, "tolerance": 3}},
        },
        {"name": "fleet", "count": 10_000, "model": "my_boat", "spawn": {"grid": {"spacing": 10}}},
    ],
}

with paddock.load(scenario) as sim:
    sim.command("fleet", thrust=1)
    for _ in range(8):
        sim.step(500)
        boat = sim.snapshot()["boat"]
        print(f"{sim.time:3.0f} s: ({boat.position[0]:5.1f}, {boat.position[1]:5.1f}) m, {boat['speed']:.1f} m/s")
    print(f"the other 10,000 run at {sim.snapshot().fleet('fleet')['speed'].mean():.2f} m/s: sqrt(thrust / drag) = 5")
