"""Routines of the radio are compiled before the first tick: with packets, jammers and relays, in a new process."""

import json
import subprocess
import sys
from typing import Any

import pytest

SCRIPT = """
import json, sys
from numba.core import dispatcher

late, armed, compile_or_load = [], [], dispatcher.Dispatcher.compile

def compile(self, signature):
    if armed and "routine-" in self.py_func.__code__.co_filename:
        late.append(self.py_func.__name__)
    return compile_or_load(self, signature)

dispatcher.Dispatcher.compile = compile  # of what is in the cache, too
import paddock

source, seconds, sends = json.loads(sys.argv[1])
with paddock.load(source) as sim:
    sim.engine.prepare()
    steps = []
    sim.engine.prepare(lambda number, count: steps.append((number, count)))
    armed.append(True)
    for k in range(int(10 * seconds)):
        for name, to in sends:
            sim.radio.send(name, to, [float(k)], hops=3)
        sim.step(round(0.1 / sim.engine.world.clock.dt))
    armed.clear()
    print(json.dumps([late, steps, sim.radio.traffic()["transmitted"]]))
"""


def late_routines(source: Any, seconds: float, sends: Any = ()) -> tuple[list[str], list[Any], int]:
    """Return the routines that are compiled or loaded within ticks, progress when prepared again, and transmissions."""
    arguments = [sys.executable, "-c", SCRIPT, json.dumps([source, seconds, sends])]
    shown = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    late, steps, transmitted = json.loads(shown.splitlines()[-1])
    return late, steps, transmitted


def test_no_routine_is_compiled_in_a_tick() -> None:
    """A message, an acknowledgement, a relay of both, pulses that begin later, and a deceptive jammer."""
    jammers = [
        {"name": "p", "kind": "pulsed", "power": 10.0, "period": 0.02, "position": [80, 80, 40], "on": [[0.5, 1.0]]},
        {"name": "q", "kind": "deceptive", "power": 10.0, "position": [0, 80, 40], "claims": "base", "data": [1]},
    ]
    vehicles = [
        {"name": name, "model": "point", "pose": [100.0 * k, 0, 40, 0], "radio": "t"} for k, name in enumerate("abc")
    ]
    radio = {
        "types": {"t": {"bandwidth": 2e6, "power": 0.0, "sensitivity": -85.0}},
        "stations": [{"name": "base", "position": [0, 50, 5], "radio": "t"}],
        "jammers": jammers,
    }
    source = {"clock": {"rate": 100}, "radio": radio, "vehicles": vehicles}
    late, steps, transmitted = late_routines(source, 1.5, [("a", "c"), ("b", "*")])
    assert (late, steps) == ([], []) and transmitted > 30


@pytest.mark.slow
@pytest.mark.parametrize("demo", ["contested", "relay"])
def test_no_routine_of_the_radio_is_compiled_in_a_tick_of_a_demo(demo: str) -> None:
    late, _, transmitted = late_routines(demo, 4.0)
    assert late == [] and transmitted > 100
