"""Functions of single numbers for plain Python, and what the state of a run must not depend on."""

from __future__ import annotations

import ast
import math
import pathlib

import pytest

import paddock
from paddock.compute import math as plain
from paddock.compute import scalars

NUMBERS = [0.0, 1e-9, 0.125, 0.3, 0.9999, 1.0, 2.0, 27.0, 1234.5]
LIBM = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "log10", "log2", "pow", "cbrt"}
"""Functions of `math` whose last bits depend on libm; Python computes hypot and dist itself."""
NUMPY = {"sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot", "exp", "log", "power", "cbrt"}
ROOMS = ("autopilot", "behaviour", "contact", "engine", "mavlink", "planning", "sensing", "sitl", "vehicles", "world")
OUTPUT = {
    "sitl/adapters/jsbsim.py": "beside JSBSim, which uses libm itself",
    "autopilot/log.py": "on-board logs",
    "mavlink/messages.py": "telemetry",
    "sitl/px4.py": "messages to PX4",
    "world/geodesy.py": "places on Earth, for files and other programs",
    "world/markers.py": "shapes of markers, which a client sends as numbers",
    "world/frames.py": "Euler angles for interfaces, and interpolation between frames",
}
"""Modules that may use them, and for what."""


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "asin", "atan", "exp"])
def test_they_have_the_bits_of_compute_math(name: str) -> None:
    for x in NUMBERS if name not in ("asin", "exp") else NUMBERS[:6]:
        for signed in (x, -x):
            value = getattr(scalars, name)(signed)
            assert value == getattr(plain, name)(signed)
            assert value == pytest.approx(getattr(math, name)(signed), rel=4e-16, abs=1e-16)


def test_angles_and_roots() -> None:
    assert scalars.atan2(0.0, -1.0) == math.pi and scalars.atan2(-3.0, 0.0) == -0.5 * math.pi
    assert scalars.atan2(1.0, 1.0) == 0.25 * math.pi and scalars.atan2(0.0, 0.0) == 0.0
    for x in NUMBERS:
        assert scalars.cbrt(x) == pytest.approx(math.cbrt(x), rel=5e-16)


def test_the_state_uses_no_functions_that_differ_between_processors() -> None:
    folder, reached = pathlib.Path(paddock.__file__).parent, set[str]()
    for file in sorted(file for room in ROOMS for file in (folder / room).rglob("*.py")):
        module = file.relative_to(folder).as_posix()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "math" and LIBM & {n.name for n in node.names}:
                reached.add(module)
            owner = node.value if isinstance(node, ast.Attribute) else None
            if isinstance(owner, ast.Name) and node.attr in {"np": NUMPY, "math": LIBM}.get(owner.id, ()):  # type: ignore[attr-defined]
                reached.add(module)
    assert reached == set(OUTPUT)
