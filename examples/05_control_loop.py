"""A synchronous controller with noisy sensors; then a replay of the run from its log."""

from threading import Thread

import paddock
from paddock.engine.barrier import Claim

rover = {"name": "rover", "model": "rover", "preset": "outdoor", "pose": [0, 0, 1.0], "sensors": ["gnss", "compass"]}
scenario = {"seed": 3, "clock": {"rate": 100, "sync": {"every": 10, "timeout": 5}}, "vehicles": [rover]}


def controller(source: Claim) -> None:
    """Drive along y = 5 m using the sensors, until the simulation ends."""
    while request := source.wait():  # None when the source is released
        gnss, compass = request.sensors["rover"].values()
        turn = 0.3 * (5 - gnss["y"]) - compass["heading"]
        source.reply(request.tick, {"rover": {"speed": 1.0, "turn_rate": turn}})


with paddock.load(scenario) as sim:
    source = sim.control.claim("rover")
    thread = Thread(target=controller, args=[source])
    thread.start()
    sim.step(1000)
    middle = sim.save()
    sim.step(2000)
    source.release()
    thread.join()
    x, y, _ = sim.snapshot()["rover"].position
    print(f"after {sim.time:.0f} s at ({x:.2f}, {y:.2f}) m, {len(sim.control.log.entries)} commands")

    print("state    ", end := sim.state_hash())
    again = paddock.replayed(sim.scenario, sim.control.log.complete(), ticks=3000)
    print("replayed ", again.state_hash(), "the same" if again.state_hash() == end else "DIFFERENT")
    sim.restore(middle)
    print(f"restored to {sim.time:.0f} s: {sim.snapshot()['rover']}")
