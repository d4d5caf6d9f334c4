"""A first drive: create a world with two cars, command them, and print their positions."""

import paddock

scenario = {
    "name": "first_drive",
    "clock": {"rate": 1000},  # ticks per simulated second
    "vehicles": [
        {"name": "red", "model": "car.bicycle", "preset": "sports", "pose": [0, 0, 0]},  # x, y in m, yaw in rad
        {"name": "blue", "model": "car.bicycle", "preset": "sedan", "pose": [0, 5, 0]},
    ],
}

with paddock.load(scenario) as sim:
    sim.command("red", throttle=0.8)
    sim.command("blue", throttle=0.8)
    for _ in range(4):
        sim.step(1000)  # exactly one second
        snap = sim.snapshot()
        for car in (snap["red"], snap["blue"]):
            print(f"{snap.time:.0f} s: {car.name:4} at x = {car.position[0]:4.1f} m with {car.speed:4.1f} m/s")

    sim.command("red", steer=0.3, throttle=0.2)  # steer left; other inputs keep their values
    sim.command("blue", throttle=0, brake=1)
    sim.step(2000)

    snap = sim.snapshot()
    print(f"red has turned to {snap['red'].yaw:+.2f} rad, blue stands at x = {snap['blue'].position[0]:.1f} m")
    print("columns of a car:", ", ".join(snap["red"].columns[13:]))
    print("inputs of a car:", ", ".join(sim.vehicles.inspect("red")["command"]))
