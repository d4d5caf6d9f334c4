"""FMUs that other tools have built drive as vehicles: PythonFMU (FMI 2.0) and PythonFMU3 (FMI 3.0)."""

import subprocess
import sys
from importlib.util import find_spec
from math import cos, sin
from pathlib import Path

import pytest

import paddock

pytest.importorskip("fmpy")

RATE = 100
SOURCE = """
from math import cos, sin
from {tool} import {fmi}Causality, {fmi}Slave, {fmi}Variability, {real}


class Unicycle({fmi}Slave):
    def __init__(self, **given):
        super().__init__(**given)
        self.x, self.y, self.yaw, self.v, self.w, self.time = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        kinds, steady = {fmi}Causality, {fmi}Variability.continuous
        if {version} == 3:
            self.register_variable({real}("time", causality=kinds.independent, variability=steady))
        for name in ("x", "y", "yaw"):
            self.register_variable({real}(name, causality=kinds.output))
        for name in ("v", "w"):
            self.register_variable({real}(name, causality=kinds.input, variability=steady, start=0.0))

    def do_step(self, now, step):
        self.x += self.v * cos(self.yaw) * step
        self.y += self.v * sin(self.yaw) * step
        self.yaw += self.w * step
        return True
"""


@pytest.mark.parametrize(("tool", "version", "real"), [("pythonfmu", 2, "Real"), ("pythonfmu3", 3, "Float64")])
def test_a_unicycle_of_another_tool(tmp_path: Path, tool: str, version: int, real: str) -> None:
    if find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    source = tmp_path / f"{tool}_unicycle.py"  # a module of its own in this process
    source.write_text(SOURCE.format(tool=tool, fmi=f"Fmi{version}", version=version, real=real))
    command = [sys.executable, "-m", tool, "build", "-f", source.name, "-d", "."]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    x, y, yaw = 0.0, 0.0, 0.0
    for _ in range(500):
        x, y, yaw = x + 2.0 * cos(yaw) / RATE, y + 2.0 * sin(yaw) / RATE, yaw + 0.3 / RATE
    fmu = {"file": str(tmp_path / "Unicycle.fmu"), "kind": "rover"}
    entry = {"name": "guest", "model": "fmu", "fmu": fmu, "pose": [3.0, 4.0, 0.5]}
    with paddock.load({"clock": {"rate": RATE}, "vehicles": [entry]}) as sim:
        sim.command("guest", v=2.0, w=0.3)
        sim.step(500)
        guest = sim.snapshot().fleet("guest")
    # relative to the start pose, as the FMU has no variables for it
    assert guest["x"][0] == pytest.approx(3.0 + cos(0.5) * x - sin(0.5) * y, abs=1e-9)
    assert guest["y"][0] == pytest.approx(4.0 + sin(0.5) * x + cos(0.5) * y, abs=1e-9)
    assert guest["qz"][0] == pytest.approx(sin(0.5 * (0.5 + yaw)), abs=1e-9)
