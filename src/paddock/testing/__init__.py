"""Public conformance checks for your own vehicle models, behaviours and simulator adapters."""

from paddock.testing.adapters import check_adapter
from paddock.testing.behaviours import check_behaviour
from paddock.testing.conformance import ConformanceError, ConformanceReport
from paddock.testing.vehicles import check_vehicle_model

__all__ = ["ConformanceError", "ConformanceReport", "check_adapter", "check_behaviour", "check_vehicle_model"]
