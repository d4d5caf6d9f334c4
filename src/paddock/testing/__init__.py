"""Public conformance checks for your own vehicle models and simulator adapters."""

import warnings

from paddock.testing.adapters import check_adapter
from paddock.testing.conformance import ConformanceError, ConformanceReport
from paddock.testing.vehicles import check_vehicle_model

__all__ = ["ConformanceError", "ConformanceReport", "check_adapter", "check_vehicle_model"]


def __getattr__(name: str) -> type[ConformanceReport]:
    if name == "Report":
        warnings.warn("paddock.testing.Report is now ConformanceReport", DeprecationWarning, stacklevel=2)
        return ConformanceReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
