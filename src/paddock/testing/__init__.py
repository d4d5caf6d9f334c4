"""Public conformance checks: does a vehicle model or a simulator adapter of your own keep the contract?"""

from paddock.testing.adapters import check_adapter
from paddock.testing.report import ConformanceError, Report
from paddock.testing.vehicles import check_vehicle_model

__all__ = ["ConformanceError", "Report", "check_adapter", "check_vehicle_model"]
