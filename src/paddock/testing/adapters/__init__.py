"""Does a simulator adapter keep its contract? Every check is one small function in the files of this folder."""

from __future__ import annotations

from collections.abc import Callable

from paddock.errors import PaddockError
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import SimulatorAdapter
from paddock.sitl.registry import find_adapter
from paddock.testing.adapters import actuators, blocks, concurrency, life, position, sensors, time
from paddock.testing.adapters.rig import AdapterRig
from paddock.testing.adapters.watch import watched
from paddock.testing.conformance import ConformanceError, ConformanceReport

CHECKS: dict[str, Callable[[AdapterRig], str]] = {
    "declarations": life.check_declarations,
    "life cycle": life.check_life_cycle,
    "unconnected": life.check_unconnected,
    "vehicles": life.check_vehicles,
    "time": time.check_time,
    "sensors": sensors.check_sensors,
    "at rest": sensors.check_at_rest,
    "capabilities": sensors.check_capabilities,
    "news": sensors.check_news,
    "commands refused": actuators.check_refused,
    "clipping": actuators.check_clipping,
    "effect": actuators.check_effect,
    "position": position.check_position,
    "blocks": blocks.check_blocks,
    "reset": time.check_reset,
    "determinism": time.check_determinism,
    "threads": concurrency.check_threads,
    "coroutines": concurrency.check_coroutines,
}
"""The checks in the order in which they run: the first failure is the one to mend first."""


def check_adapter(
    make: Callable[[], SimulatorAdapter] | str,
    *,
    craft: str = "rover",
    step_us: int = 20_000,
    motion: ActuatorCommands | None = None,
    rests: bool = True,
    deterministic: bool | None = None,
) -> ConformanceReport:
    """Check an adapter, given what makes one (a class, a function) or its type's name.

    `craft` is what its vehicles are, `step_us` a step that suits it; `motion` are commands that visibly move such a
    craft (None: those of a rover or copter; other kinds are not tried), `rests`: a vehicle nobody commands stands on
    the ground; `deterministic`: two runs are the same, bit for bit (None: where it supports lockstep).
    Raises ConformanceError at the first thing that breaks the contract.
    """
    made = find_adapter(make) if isinstance(make, str) else make
    _check_maker(made)
    rig = AdapterRig(made, craft, step_us, motion, rests, deterministic)
    report = ConformanceReport(rig.subject)
    for check, run in CHECKS.items():
        rig.check = check
        try:
            report.details[check] = watched(run, rig)
        except ConformanceError:
            raise
        except Exception as error:  # the adapter's own code failed
            raise ConformanceError(check, rig.subject, _first_line(error)) from error
    return report


def _check_maker(make: object) -> None:
    """Every check needs new adapters: one that is made already will not do."""
    kind = type(make)
    if isinstance(make, SimulatorAdapter):
        problem = f"give the class or a function that makes one, check_adapter({kind.__name__}), not an instance"
        raise ConformanceError("declarations", f"adapter {make.adapter_type!r}", problem)
    if not callable(make):
        problem = f"give a class, a function that makes one, or a type's name, not {make!r}"
        raise ConformanceError("declarations", f"adapter {kind.__name__!r}", problem)


def _first_line(error: Exception) -> str:
    text = next(iter(str(error).splitlines()), "")
    return text if isinstance(error, PaddockError) else f"{type(error).__name__}: {text}"
