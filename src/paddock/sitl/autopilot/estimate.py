"""What the autopilot believes about itself: the estimator's result, one row of float64 with names."""

from __future__ import annotations

from typing import NamedTuple


class Estimate(NamedTuple):
    """Position from the estimator's origin (`LocalFrame`), velocity, attitude: north-east-down, front-right-down."""

    time_us: float
    north: float  # m
    east: float
    down: float
    vn: float  # m/s
    ve: float
    vd: float
    qw: float  # attitude, body to north-east-down
    qx: float
    qy: float
    qz: float
    roll: float  # rad
    pitch: float  # rad, + nose up
    yaw: float  # rad, clockwise from north, -pi to pi
    p: float  # rad/s about the body's axes, without the gyroscope's bias
    q: float
    r: float
    an: float  # m/s2, acceleration over the ground, gravity removed
    ae: float
    ad: float
    attitude_ok: float  # 1: may be relied on
    position_ok: float  # 1: horizontal position and velocity may be relied on
    height_ok: float  # 1: height and climb may be relied on
    horizontal_error: float  # m, 1 sigma
    vertical_error: float  # m, 1 sigma
    # normalised innovations (1: at the gate), as EKF_STATUS_REPORT shows them
    velocity_ratio: float
    position_ratio: float
    height_ratio: float
    compass_ratio: float


ESTIMATE_WIDTH = len(Estimate._fields)
PLACE = {name: k for k, name in enumerate(Estimate._fields)}
"""The place of each value in a row."""
