"""The columns of a quadrotor: what its body, motors, controller and battery remember, obey and are made of."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from paddock.vehicles.parts.flight_control import MODES, VELOCITY
from paddock.world.columns import Column


class State(NamedTuple):
    """Rigid body, motors, controller memory and battery."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "position up")]
    vx: Annotated[float, Column("m/s", "velocity east")]
    vy: Annotated[float, Column("m/s", "velocity north")]
    vz: Annotated[float, Column("m/s", "velocity up")]
    qx: Annotated[float, Column("", "attitude quaternion x, body to world")]
    qy: Annotated[float, Column("", "attitude quaternion y")]
    qz: Annotated[float, Column("", "attitude quaternion z")]
    qw: Annotated[float, Column("", "attitude quaternion w")]
    wx: Annotated[float, Column("rad/s", "roll rate")]
    wy: Annotated[float, Column("rad/s", "pitch rate")]
    wz: Annotated[float, Column("rad/s", "yaw rate")]
    motor_1: Annotated[float, Column("", "speed of the front right motor, share of its maximum")]
    motor_2: Annotated[float, Column("", "speed of the rear left motor")]
    motor_3: Annotated[float, Column("", "speed of the front left motor")]
    motor_4: Annotated[float, Column("", "speed of the rear right motor")]
    integral_x: Annotated[float, Column("rad/s2", "I term of the roll rate loop")]
    integral_y: Annotated[float, Column("rad/s2", "I term of the pitch rate loop")]
    integral_z: Annotated[float, Column("rad/s2", "I term of the yaw rate loop")]
    gyro_x: Annotated[float, Column("rad/s", "low-passed roll rate of the D term")]
    gyro_y: Annotated[float, Column("rad/s", "low-passed pitch rate")]
    gyro_z: Annotated[float, Column("rad/s", "low-passed yaw rate")]
    rate_x: Annotated[float, Column("rad/s", "smoothed roll rate setpoint")]
    rate_y: Annotated[float, Column("rad/s", "smoothed pitch rate setpoint")]
    rate_z: Annotated[float, Column("rad/s", "smoothed yaw rate setpoint")]
    trim_x: Annotated[float, Column("m/s2", "I term of the velocity loop, east")]
    trim_y: Annotated[float, Column("m/s2", "I term of the velocity loop, north")]
    trim_z: Annotated[float, Column("m/s2", "I term of the velocity loop, up")]
    hold_x: Annotated[float, Column("m", "position held, east")]
    hold_y: Annotated[float, Column("m", "position held, north")]
    hold_z: Annotated[float, Column("m", "position held, up")]
    charge: Annotated[float, Column("", "battery charge, 1 full, 0 empty")]
    voltage: Annotated[float, Column("V", "battery voltage under load")]


class Command(NamedTuple):
    """Sticks for pilots, setpoints for programs, motors for autopilots outside; the mode says which are read."""

    armed: Annotated[float, Column("0/1", "motors may turn", 0.0, 1.0)] = 1.0
    mode: Annotated[float, Column("", "flight mode", 0.0, 8.0, failsafe=VELOCITY, brake=VELOCITY, choices=MODES)] = 5.0
    roll: Annotated[float, Column("", "roll stick, + right", -1.0, 1.0, failsafe=0.0)] = 0.0
    pitch: Annotated[float, Column("", "pitch stick, + forward", -1.0, 1.0, failsafe=0.0)] = 0.0
    yaw: Annotated[float, Column("", "yaw stick, + left", -1.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0
    throttle: Annotated[
        float, Column("", "throttle stick, 0.5 holds height where there is a height hold", 0.0, 1.0)
    ] = 0.0
    x: Annotated[float, Column("m", "goto and track: position east")] = 0.0
    y: Annotated[float, Column("m", "goto and track: position north")] = 0.0
    z: Annotated[float, Column("m", "goto and track: position up")] = 0.0
    heading: Annotated[float, Column("rad", "goto and track: heading")] = 0.0
    vx: Annotated[float, Column("m/s", "velocity and track: velocity east", failsafe=0.0, brake=0.0)] = 0.0
    vy: Annotated[float, Column("m/s", "velocity and track: velocity north", failsafe=0.0, brake=0.0)] = 0.0
    vz: Annotated[float, Column("m/s", "velocity and track: velocity up", failsafe=-0.7, brake=0.0)] = 0.0
    motor_1: Annotated[float, Column("", "motors: share of full thrust, front right", 0.0, 1.0, failsafe=0.0)] = 0.0
    motor_2: Annotated[float, Column("", "motors: share of full thrust, rear left", 0.0, 1.0, failsafe=0.0)] = 0.0
    motor_3: Annotated[float, Column("", "motors: share of full thrust, front left", 0.0, 1.0, failsafe=0.0)] = 0.0
    motor_4: Annotated[float, Column("", "motors: share of full thrust, rear right", 0.0, 1.0, failsafe=0.0)] = 0.0


class Parameters(NamedTuple):
    """Airframe, battery, controller gains and limits; the defaults are the 5 inch race quad."""

    mass: Annotated[float, Column("kg", "take-off mass", 1e-3, 1e3)] = 0.65
    thrust_max: Annotated[float, Column("N", "largest thrust of one motor", 1e-3, 1e4)] = 11.77
    inertia_x: Annotated[float, Column("kg m2", "moment of inertia in roll", 1e-6, 1e3)] = 0.003
    inertia_y: Annotated[float, Column("kg m2", "moment of inertia in pitch", 1e-6, 1e3)] = 0.003
    inertia_z: Annotated[float, Column("kg m2", "moment of inertia in yaw", 1e-6, 1e3)] = 0.005
    arm: Annotated[float, Column("m", "centre to motor", 1e-3, 10.0)] = 0.11
    drag: Annotated[float, Column("N s2/m2", "drag force over speed squared", 0.0, 100.0)] = 0.012
    motor_lag: Annotated[float, Column("s", "time constant of the motors", 1e-3, 1.0)] = 0.03
    motor_idle: Annotated[float, Column("", "slowest speed of an armed motor, share of its maximum", 0.0, 0.5)] = 0.05
    torque_ratio: Annotated[float, Column("m", "motor torque over thrust", 1e-4, 1.0)] = 0.016
    prop_radius: Annotated[float, Column("m", "radius of a propeller", 1e-3, 5.0)] = 0.064
    ground_effect: Annotated[float, Column("", "strength of the ground effect, 1 as for a free rotor", 0.0, 2.0)] = 0.0
    cells: Annotated[float, Column("", "battery cells in series", 1.0, 24.0)] = 6.0
    capacity: Annotated[float, Column("mAh", "battery capacity", 1.0, 1e6)] = 1300.0
    cell_resistance: Annotated[float, Column("ohm", "internal resistance of one cell", 0.0, 1.0)] = 0.004
    power_ratio: Annotated[float, Column("W/N", "electrical power over thrust at full throttle", 0.1, 1e3)] = 34.0
    angle_max: Annotated[float, Column("rad", "largest tilt outside acro", 0.01, 1.5)] = 0.96
    rate_center: Annotated[float, Column("rad/s", "rate per stick around the middle", 0.0, 50.0)] = 3.49
    rate_max: Annotated[float, Column("rad/s", "rate at full stick", 0.1, 50.0)] = 12.2
    rate_expo: Annotated[float, Column("", "bend of the rate curve", 0.0, 1.0)] = 0.3
    rate_p: Annotated[float, Column("1/s", "rate loop P", 0.0, 1e4)] = 80.0
    rate_i: Annotated[float, Column("1/s2", "rate loop I", 0.0, 1e5)] = 40.0
    rate_d: Annotated[float, Column("", "rate loop D", 0.0, 100.0)] = 1.6
    rate_f: Annotated[float, Column("", "rate loop feed-forward", 0.0, 100.0)] = 1.0
    filter_time: Annotated[float, Column("s", "low-pass of the D term", 1e-4, 0.1)] = 0.004
    smoothing_time: Annotated[float, Column("s", "smoothing of rate setpoints", 1e-4, 0.2)] = 0.02
    angle_p: Annotated[float, Column("1/s", "attitude loop P", 0.0, 100.0)] = 10.0
    yaw_p: Annotated[float, Column("1/s", "heading loop P", 0.0, 100.0)] = 3.0
    velocity_p: Annotated[float, Column("1/s", "velocity loop P", 0.0, 100.0)] = 3.0
    velocity_i: Annotated[float, Column("1/s2", "velocity loop I", 0.0, 100.0)] = 1.0
    position_p: Annotated[float, Column("1/s", "position loop P", 0.0, 100.0)] = 1.2
    speed_max: Annotated[float, Column("m/s", "largest horizontal speed setpoint", 0.1, 200.0)] = 15.0
    climb_max: Annotated[float, Column("m/s", "largest vertical speed setpoint", 0.1, 100.0)] = 5.0
    acceleration_max: Annotated[float, Column("m/s2", "deceleration planned for approaches", 0.1, 100.0)] = 5.0
