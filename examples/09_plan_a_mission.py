"""A mission: planned by two methods, then flown to its end with events and replanning."""

from paddock.planning import plan, simulate
from paddock.planning.metrics import measure

mission = {
    "method": "greedy",
    "objective": "makespan",  # all back as early as possible
    "tasks": [
        {"name": "gate", "point": {"at": [500, 200]}},  # any heading
        {"name": "road", "line": {"at": [-700, 300], "heading": 0.5, "length": 200}},
        {"name": "mast", "circle": {"at": [300, -700], "heading": 0, "radius": 150}},
        {"name": "field", "area": {"at": [600, 500], "heading": 0, "length": 400, "spacing": 250, "passes": 3}},
        {"name": "far", "point": {"at": [30_000, 0]}},  # beyond every vehicle's range of 20 km
    ],
    "zones": [{"name": "village", "circle": {"at": [-300, 150], "radius": 120}}],
    "events": [
        {"at": 30, "task": {"name": "smoke", "point": {"at": [-400, -400]}}},
        {"at": 45, "damage": "uav[0]"},
    ],
}
scenario = {"name": "example", "seed": 3, "mission": mission}  # no vehicles: four aircraft by default

for method in ("greedy", "auction"):
    result = plan(scenario, method)
    print(f"{method}: {result.done} tasks, {result.total / 1000:.1f} km, all back after {result.makespan:.0f} s")
for undone in result.undone:
    print(f"  {undone.task}: {undone.reason}")

flown = measure(simulate(scenario).mission)
print(f"flown, replanned {flown.replans} times: {flown.done} of {len(flown.tasks)} tasks after {flown.makespan:.0f} s")
for vehicle in flown.vehicles:
    print(f"  {vehicle.name} is {vehicle.status}: {vehicle.tasks} tasks, {vehicle.distance / 1000:.1f} km")
