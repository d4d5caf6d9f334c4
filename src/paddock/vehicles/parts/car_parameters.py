"""The measures of a car, shared by all its fidelity levels so that one preset serves each of them."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from paddock.world.columns import Column


class Parameters(NamedTuple):
    """A car; the defaults are a mid-size rear-driven saloon."""

    mass: Annotated[float, Column("kg", "mass", low=0.1, high=1e5)] = 1500.0
    inertia_z: Annotated[float, Column("kg m2", "moment of inertia about the up axis", low=1e-4, high=1e7)] = 2500.0
    cg_to_front: Annotated[float, Column("m", "centre of gravity to front axle", low=0.01, high=20.0)] = 1.2
    cg_to_rear: Annotated[float, Column("m", "centre of gravity to rear axle", low=0.01, high=20.0)] = 1.5
    track_front: Annotated[float, Column("m", "distance between the front wheels", low=0.01, high=10.0)] = 1.55
    track_rear: Annotated[float, Column("m", "distance between the rear wheels", low=0.01, high=10.0)] = 1.55
    cg_height: Annotated[float, Column("m", "height of the centre of gravity", low=0.0, high=5.0)] = 0.55
    wheel_radius: Annotated[float, Column("m", "rolling radius", low=0.01, high=5.0)] = 0.32
    engine_torque: Annotated[float, Column("N m", "largest engine torque", low=0.0, high=1e5)] = 300.0
    final_drive: Annotated[float, Column("", "turns of the engine per turn of the wheel", low=0.0, high=100.0)] = 5.0
    power_max: Annotated[float, Column("W", "largest engine power", low=0.0, high=1e7)] = 110e3
    brake_torque: Annotated[
        float, Column("N m", "full-pedal torque of one front and one rear wheel together", low=0.0, high=1e6)
    ] = 2000.0
    brake_bias: Annotated[float, Column("", "share of the brake torque in front", low=0.0, high=1.0)] = 0.62
    steer_max: Annotated[float, Column("rad", "largest road-wheel angle", low=0.0, high=1.4)] = 0.5
    steer_rate_max: Annotated[float, Column("rad/s", "fastest turn of the road wheels", low=0.0, high=1e3)] = 8.0
    drag_coefficient: Annotated[float, Column("", "air drag coefficient", low=0.0, high=10.0)] = 0.30
    frontal_area: Annotated[float, Column("m2", "area that the air coefficients refer to", low=0.0, high=100.0)] = 2.2
    lift_front: Annotated[float, Column("", "front down-force coefficient, + down", low=-5.0, high=10.0)] = 0.05
    lift_rear: Annotated[float, Column("", "rear down-force coefficient, + down", low=-5.0, high=10.0)] = 0.05
    drive_front: Annotated[float, Column("", "share of the drive force in front", low=0.0, high=1.0)] = 0.0
    tyre_b_lat: Annotated[float, Column("", "magic formula, lateral stiffness factor", low=0.1, high=100.0)] = 8.0
    tyre_c_lat: Annotated[float, Column("", "magic formula, lateral shape factor", low=0.1, high=2.0)] = 1.3
    tyre_d_lat: Annotated[float, Column("", "magic formula, lateral peak factor", low=0.1, high=5.0)] = 1.0
    tyre_e_lat: Annotated[float, Column("", "magic formula, lateral curvature factor", low=-20.0, high=1.0)] = -1.0
    tyre_mu: Annotated[float, Column("", "friction coefficient at the nominal load", low=0.0, high=5.0)] = 1.0
    tyre_load: Annotated[float, Column("N", "nominal load of one tyre", low=0.1, high=1e6)] = 4000.0
    tyre_load_sensitivity: Annotated[
        float, Column("", "relative loss of friction per nominal load more", low=0.0, high=1.0)
    ] = 0.15
    relaxation_lateral: Annotated[
        float, Column("m", "rolling distance in which the side force builds up", low=0.05, high=10.0)
    ] = 0.6
    rolling_resistance: Annotated[float, Column("", "rolling resistance per load", low=0.0, high=1.0)] = 0.015
