"""Public conformance checks: does a vehicle model of your own keep the contract?"""

from paddock.testing.report import ConformanceError, Report
from paddock.testing.vehicles import check_vehicle_model

__all__ = ["ConformanceError", "Report", "check_vehicle_model"]
