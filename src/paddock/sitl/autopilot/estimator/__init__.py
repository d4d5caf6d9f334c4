"""What the autopilot believes: a Kalman filter, one file per kind of measurement; `filter.update` is what runs."""

from paddock.sitl.autopilot.estimator.estimator import Estimator, SensorHealth

__all__ = ["Estimator", "SensorHealth"]
