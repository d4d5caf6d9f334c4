"""The state estimator: an extended Kalman filter, compiled; `estimator.py` is its interface."""
