"""Does a vehicle model keep its contract? Every check is one small function in the files of this folder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddock.errors import PaddockError
from paddock.testing.report import ConformanceError, Report
from paddock.testing.vehicles import declarations, motion, reports, source, twins
from paddock.testing.vehicles.rig import Rig
from paddock.vehicles.model import VehicleModel
from paddock.vehicles.registry import find_model

CHECKS: dict[str, Callable[[Rig], str]] = {
    "declarations": declarations.check_declarations,
    "branch-free": source.check_branch_free,
    "standstill": motion.check_standstill,
    "random commands": motion.check_random_commands,
    "returns": declarations.check_returns,
    "python twin": twins.check_python,
    "numpy twin": twins.check_numpy,
    "float32 twin": twins.check_float32,
    "report": reports.check_report,
    "threads": twins.check_threads,
    "independence": twins.check_independence,
    "substeps": twins.check_substeps,
    "convergence": motion.check_convergence,
    "energy": motion.check_energy,
    "place": motion.check_place,
    "guide": motion.check_guide,
}
"""The checks in the order in which they run: the first failure is the one to mend first."""


def check_vehicle_model(model: VehicleModel | str, *, seed: int = 0) -> Report:
    """Check a model, given itself or by name; raises ConformanceError at the first thing that breaks the contract."""
    found = find_model(model) if isinstance(model, str) else model
    name = found.name or found.step.__module__
    rig = Rig(found.named(name), seed)
    report = Report(f"model {name!r}")
    for check, run in CHECKS.items():
        rig.begin(check)
        try:
            with np.errstate(all="ignore"):
                report.details[check] = run(rig)
        except ConformanceError:
            raise
        except Exception as error:  # the model's own code failed, or no twin can be made of it
            raise ConformanceError(check, report.subject, _first_line(error)) from error
    return report


def _first_line(error: Exception) -> str:
    text = next(iter(str(error).splitlines()), "")
    return text if isinstance(error, PaddockError) else f"{type(error).__name__}: {text}"
