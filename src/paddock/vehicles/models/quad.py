"""Quadrotor: rigid body, four motors with lag, battery, drag, ground contact, and a full flight controller.

The level top speed follows from drag and the largest tilt, manoeuvres from thrust, inertia and the controller. Parts:
`parts/quad.py` (state, commands, parameters, physics) and `parts/quad_control.py` (flight controller).
"""

from paddock.compute.math import maximum, select, sqrt
from paddock.compute.quaternion import rotate, yaw_quaternion
from paddock.vehicles.model import FRAME, Body, Desire, Placement, VehicleModel
from paddock.vehicles.parts.battery import FULL_CELL
from paddock.vehicles.parts.quad import VELOCITY, Command, Parameters, State, body, compressed, motors
from paddock.vehicles.parts.quad_control import control
from paddock.vehicles.parts.rigid_body import rigid_bumped, rigid_energy, rigid_pose
from paddock.world.columns import Environment
from paddock.world.ground import is_sloped, slope_attitude, surface

FLAT = 0.1  # half the height of its box, share of the radius
ROLLING = 0.3  # arm of the rolling resistance, share of the radius: arms and propellers hardly roll


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance flight controller, motors and battery, rigid body and ground contact by one tick."""
    c, g, (trim_x, trim_y, trim_z) = control(s, u, p, w, dt)
    n = motors(s, u, p, c.mix, dt)
    b = body(s, p, w, n, dt)
    return State(
        *(b.x, b.y, b.z, b.vx, b.vy, b.vz, b.qx, b.qy, b.qz, b.qw, b.wx, b.wy, b.wz),
        *(n.motor_1, n.motor_2, n.motor_3, n.motor_4),
        *(c.integral_x, c.integral_y, c.integral_z, c.gyro_x, c.gyro_y, c.gyro_z, c.rate_x, c.rate_y, c.rate_z),
        *(trim_x, trim_y, trim_z, g.hold_x, g.hold_y, g.hold_z, n.charge, n.voltage),
    )


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start hovering with the motors at speed, or on the ground with stopped motors."""
    qx, qy, qz, qw = yaw_quaternion(at.yaw)
    ground, zero = surface(at.x, at.y, w), 0.0 * at.x
    vx, vy, vz = rotate(qx, qy, qz, qw, at.speed, zero, zero)
    hover = sqrt(p.mass * w.gravity / (4.0 * p.thrust_max))
    flies = at.z > ground.height + 0.01
    speed = select(flies, hover, zero)
    sx, sy, sz, sw = slope_attitude(ground, at.yaw)
    leans = is_sloped(ground) & (at.z <= ground.height + 0.01)
    qx, qy, qz, qw = select(leans, sx, qx), select(leans, sy, qy), select(leans, sz, qz), select(leans, sw, qw)
    return State(
        *(at.x, at.y, at.z, vx, vy, vz, qx, qy, qz, qw, zero, zero, zero),
        *(speed, speed, speed, speed),
        *(zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero),
        *(at.x, at.y, at.z, 1.0, p.cells * FULL_CELL),
    )


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Command the wanted velocity in velocity mode, armed; the sticks stay unchanged.

    The velocity loop turns an error into an acceleration: that of a bend is added as an equivalent error.
    """
    bends = d.turn != 0.0
    inwards = d.turn / maximum(p.velocity_p, 0.1)
    vx, vy = select(bends, d.vx - inwards * d.vy, d.vx), select(bends, d.vy + inwards * d.vx, d.vy)
    return Command(
        *(1.0, VELOCITY, u.roll, u.pitch, u.yaw, u.throttle, u.x, u.y, u.z, u.heading, vx, vy, d.vz),
        *(u.motor_1, u.motor_2, u.motor_3, u.motor_4),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic (linear and rotational) and potential energy (height, compressed legs), J."""
    over = s.z - surface(s.x, s.y, w).height
    squared = compressed(over, p) * compressed(over, p)
    return rigid_energy(s, p, w.gravity * (over + 0.25 * p.leg_travel * squared * squared))


def solid(p: Parameters) -> Body:
    """Return the sphere around its propellers, and the flat box on which it stands."""
    radius = p.arm + p.prop_radius
    wide, high = 0.7071067811865476 * p.arm + p.prop_radius, FLAT * radius
    return Body(
        *(p.mass, p.inertia_x, p.inertia_y, p.inertia_z, radius, wide, high, 0.0 * radius, FRAME),
        rolling=ROLLING * radius,
    )


MODEL = VehicleModel(
    kind="quad",
    summary="Quadrotor with motors, battery, drag, ground and a full flight controller",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=rigid_pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=1.0 / 240.0,
    crash_sink=2.5,
    crash_gap="leg_travel",
    telemetry=("charge", "voltage"),
    steady=("armed", "mode"),
    body=solid,
    bumped=rigid_bumped,  # the controller does not know about it
)
