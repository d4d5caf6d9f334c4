"""The body of a car above its wheels: vertical motion, roll and pitch, and a body that touches the ground.

Springs, dampers, bump stops and tyres act linearly implicitly on the body and the four wheels together, so that the
step is stable for every stiffness and damping. A car that has rolled over stands and slides on its roof and sills.
"""

from typing import NamedTuple

from paddock.compute.math import absolute, hypot, maximum, select
from paddock.vehicles.parts.car import Parameters, car_body
from paddock.vehicles.parts.car_subsystems import Wheels

REST_SPEED = 1e-9  # m/s, rad/s
BODY_FREQUENCY = 40.0  # rad/s: of a car on four points of its body, which yield 6 mm
BODY_DAMPING = 0.7  # damping ratio of that: sheet metal hardly rebounds
BODY_FRICTION = 0.45  # of sheet metal on dry road: cars slide on their roofs at 0.4 to 0.5 g
NEAR = 0.04  # m2: contacts closer together than this say less about slopes than the ground at their places
BODY_STICK = 0.05  # m/s: below this speed friction falls, so that the body comes to rest


class BodyMotion(NamedTuple):
    """The car's attitude and velocities in its horizontal axes during a step."""

    x: float
    y: float
    z: float  # m: height of the centre of gravity
    sine: float  # of the heading
    cosine: float
    roll: tuple[float, float]  # sine and cosine
    pitch: tuple[float, float]
    velocity: tuple[float, float, float]
    rates: tuple[float, float, float]


class Corner(NamedTuple):
    """A wheel and the body above it: lever arms, ground, load, suspension."""

    x: float  # m from the centre of gravity to the contact, in the car's horizontal axes
    y: float
    z: float
    vx: float  # m/s: velocity of the contact
    vy: float
    forward: float  # slopes of the ground in the car's axes
    left: float
    flat: float  # cosine of the ground's slope
    load: float  # N, normal to the ground
    mu: float
    travel: float  # m and m/s: compression of the suspension
    speed: float


Corners = tuple[Corner, Corner, Corner, Corner]
"""Front left, front right, rear left, rear right."""


class Pull(NamedTuple):
    """Force (N) and moment (N m) on the body in its horizontal axes, and the force on the wheel, upwards."""

    x: float
    y: float
    z: float
    roll: float
    pitch: float
    yaw: float
    wheel: float


class Stiffness(NamedTuple):
    """How heave, roll and pitch of the body resist a change of their speeds: a symmetric matrix, kg, kg m, kg m2."""

    heave: float
    heave_roll: float
    heave_pitch: float
    roll: float
    roll_pitch: float
    pitch: float


class Skids(NamedTuple):
    """The ground's force on the points of the body that touch it, and its reaction to their speeds."""

    pull: Pull
    stiffness: Stiffness


class GroundUnderCar(NamedTuple):
    """The ground under the car: its height relative to the centre of gravity, slopes in its axes, friction."""

    height: float
    forward: float
    left: float
    mu: float


def added(a: Pull, b: Pull) -> Pull:
    """Return the sum of two pulls."""
    return Pull(a.x + b.x, a.y + b.y, a.z + b.z, a.roll + b.roll, a.pitch + b.pitch, a.yaw + b.yaw, a.wheel + b.wheel)


def pull_at(x: float, y: float, z: float, force: tuple[float, float, float], wheel: float) -> Pull:
    """Return the pull of a force (N) at a point (m from the centre of gravity)."""
    fx, fy, fz = force
    return Pull(fx, fy, fz, y * fz - z * fy, z * fx - x * fz, x * fy - y * fx, wheel)


def _resisting(x: float, y: float, gain: float) -> Stiffness:
    """Return the resistance of a point at (x, y) to a change of its vertical speed, kg."""
    return Stiffness(gain, gain * y, 0.0 - gain * x, gain * y * y, 0.0 - gain * x * y, gain * x * x)


def _both(a: Stiffness, b: Stiffness) -> Stiffness:
    return Stiffness(
        *(a.heave + b.heave, a.heave_roll + b.heave_roll, a.heave_pitch + b.heave_pitch),
        *(a.roll + b.roll, a.roll_pitch + b.roll_pitch, a.pitch + b.pitch),
    )


# a body on the ground


def plane_under(fl: Corner, fr: Corner, rl: Corner, rr: Corner) -> GroundUnderCar:
    """Return the plane through the ground under the wheels.

    Its slopes fit the heights of the contacts: slopes at single points of rough ground say little about the ground
    under a car. They count only as far as the contacts are close together, as those of a car on its side are.
    """
    x, y = 0.25 * ((fl.x + fr.x) + (rl.x + rr.x)), 0.25 * ((fl.y + fr.y) + (rl.y + rr.y))
    height = 0.25 * ((fl.z + fr.z) + (rl.z + rr.z))
    mu = 0.25 * ((fl.mu + fr.mu) + (rl.mu + rr.mu))
    forward = 0.25 * ((fl.forward + fr.forward) + (rl.forward + rr.forward))
    left = 0.25 * ((fl.left + fr.left) + (rl.left + rr.left))
    # least squares of the difference to the mean slopes, which is 0 on a plane
    front = _over(fl, x, y, height, forward, left), _over(fr, x, y, height, forward, left)
    back = _over(rl, x, y, height, forward, left), _over(rr, x, y, height, forward, left)
    xx = (
        NEAR + ((fl.x - x) * (fl.x - x) + (fr.x - x) * (fr.x - x)) + ((rl.x - x) * (rl.x - x) + (rr.x - x) * (rr.x - x))
    )
    yy = (
        NEAR + ((fl.y - y) * (fl.y - y) + (fr.y - y) * (fr.y - y)) + ((rl.y - y) * (rl.y - y) + (rr.y - y) * (rr.y - y))
    )
    xy = ((fl.x - x) * (fl.y - y) + (fr.x - x) * (fr.y - y)) + ((rl.x - x) * (rl.y - y) + (rr.x - x) * (rr.y - y))
    xz = ((fl.x - x) * front[0] + (fr.x - x) * front[1]) + ((rl.x - x) * back[0] + (rr.x - x) * back[1])
    yz = ((fl.y - y) * front[0] + (fr.y - y) * front[1]) + ((rl.y - y) * back[0] + (rr.y - y) * back[1])
    per = 1.0 / (xx * yy - xy * xy)
    forward, left = forward + per * (yy * xz - xy * yz), left + per * (xx * yz - xy * xz)
    return GroundUnderCar(height - (forward * x + left * y), forward, left, mu)


def _over(c: Corner, x: float, y: float, height: float, forward: float, left: float) -> float:
    """Return the height (m) of a contact over the plane of given slopes through (x, y, height)."""
    return (c.z - height) - (forward * (c.x - x) + left * (c.y - y))


def skids(b: BodyMotion, ground: GroundUnderCar, p: Parameters, dt: float) -> Skids:
    """Return the forces on the corners of the roof, and on the lower sill, at the height of the hubs."""
    box = car_body(p)
    front, rear, side = box.centre_x + box.half_length, box.centre_x - box.half_length, box.half_width
    roof, sill = box.centre_z + box.half_height - p.cg_height, p.wheel_radius - p.cg_height
    low = select(b.roll[0] > 0.0, -side, side)
    above = _joined(_skid(b, front, side, roof, ground, p, dt), _skid(b, front, -side, roof, ground, p, dt))
    behind = _joined(_skid(b, rear, side, roof, ground, p, dt), _skid(b, rear, -side, roof, ground, p, dt))
    below = _joined(_skid(b, front, low, sill, ground, p, dt), _skid(b, rear, low, sill, ground, p, dt))
    return _joined(_joined(above, behind), below)


def _joined(a: Skids, b: Skids) -> Skids:
    return Skids(added(a.pull, b.pull), _both(a.stiffness, b.stiffness))


def _skid(
    b: BodyMotion, ahead: float, side: float, up: float, ground: GroundUnderCar, p: Parameters, dt: float
) -> Skids:
    """Return the force on a point of the body: a spring and a damper while it is in the ground, and friction."""
    (sr, cr), (sp, cp) = b.roll, b.pitch
    x, y = cp * ahead + sp * (sr * side + cr * up), cr * side - sr * up
    z = cp * (sr * side + cr * up) - sp * ahead
    roll_rate, pitch_rate, yaw_rate = b.rates
    vx = b.velocity[0] + (pitch_rate * z - yaw_rate * y)
    vy = b.velocity[1] + (yaw_rate * x - roll_rate * z)
    vz = b.velocity[2] + (roll_rate * y - pitch_rate * x)
    depth = ground.height + (ground.forward * x + ground.left * y) - z
    closing = ground.forward * vx + ground.left * vy - vz
    share = 0.25 * p.mass
    spring, damper = share * BODY_FREQUENCY * BODY_FREQUENCY, 2.0 * BODY_DAMPING * BODY_FREQUENCY * share
    touches = depth > 0.0
    force = select(touches, maximum(spring * depth + damper * closing, 0.0), 0.0)
    grip = BODY_FRICTION * ground.mu * force
    per_speed = grip / maximum(hypot(vx, vy), maximum(BODY_STICK, grip * dt / share))
    along, across = 0.0 - per_speed * vx - force * ground.forward, 0.0 - per_speed * vy - force * ground.left
    gain = select(touches, dt * (damper + dt * spring), 0.0)
    return Skids(pull_at(x, y, z, (along, across, force), 0.0 * force), _resisting(x, y, gain))


# vertical motion


class Raised(NamedTuple):
    """Speeds after a step: of the body upwards (m/s), in roll and pitch (rad/s), and of the wheels upwards (m/s)."""

    vz: float
    roll_rate: float
    pitch_rate: float
    wheels: Wheels


class Mount(NamedTuple):
    """A corner in the implicit step: what its wheel does to the body, and the body to its wheel."""

    give: float  # N s/m: change of the suspension's force per change of its speed
    per_force: float  # s/kg: change of the wheel's speed per force
    passed: float  # N: force on the wheel that the suspension passes to the body
    pushed: float  # N: force on the wheel, upwards
    stiffness: Stiffness


Sprung = tuple[float, float, float]
"""Spring (N/m), damper (N s/m) and anti-roll bar (N/m per difference of both compressions) of a wheel."""


def mount(c: Corner, pushed: float, sprung: Sprung, mass: float, p: Parameters, dt: float) -> Mount:
    """Return a corner whose wheel, of that mass (kg), is pushed up by a force (N)."""
    spring, damper, bar = sprung
    stops = absolute(c.travel) + dt * absolute(c.speed) > p.suspension_travel
    give = damper + dt * (spring + bar + select(stops, p.bump_stop, 0.0))
    own = mass + select(c.load > 0.0, dt * (p.tyre_damper + dt * p.tyre_spring), 0.0)
    per_force = dt / (own + dt * give)
    return Mount(give, per_force, give * per_force * pushed, pushed, _resisting(c.x, c.y, give * per_force * own))


def raised(
    speeds: tuple[float, float, float],
    wheels: Wheels,
    push: tuple[float, float, float],
    corners: Corners,
    mounts: tuple[Mount, Mount, Mount, Mount],
    other: Stiffness,
    p: Parameters,
    dt: float,
) -> Raised:
    """Return the speeds after dt under forces on the body (upwards, roll, pitch); `other` resists beside the wheels.

    The wheels are eliminated, which leaves a symmetric system for heave, roll and pitch.
    """
    fl, fr, rl, rr = corners
    a, b, c, d = mounts
    sprung = maximum(p.mass - 2.0 * (p.unsprung_front + p.unsprung_rear), 0.1 * p.mass)
    s = _both(_both(_both(a.stiffness, b.stiffness), _both(c.stiffness, d.stiffness)), other)
    lift = push[0] + ((a.passed + b.passed) + (c.passed + d.passed))
    roll = push[1] + ((a.passed * fl.y + b.passed * fr.y) + (c.passed * rl.y + d.passed * rr.y))
    pitch = push[2] - ((a.passed * fl.x + b.passed * fr.x) + (c.passed * rl.x + d.passed * rr.x))
    per_heave = 1.0 / (sprung + s.heave)
    share_roll, share_pitch = s.heave_roll * per_heave, s.heave_pitch * per_heave
    per_roll = 1.0 / (p.inertia_x + s.roll - share_roll * s.heave_roll)
    cross = s.roll_pitch - share_roll * s.heave_pitch
    roll, pitch = roll - share_roll * lift, pitch - share_pitch * lift
    share_cross = cross * per_roll
    own = p.inertia_y + s.pitch - share_pitch * s.heave_pitch - share_cross * cross
    pitching = dt * (pitch - share_cross * roll) / own
    rolling = dt * roll * per_roll - share_cross * pitching
    rising = dt * lift * per_heave - share_roll * rolling - share_pitch * pitching
    return Raised(
        snapped(speeds[0] + rising),
        snapped(speeds[1] + rolling),
        snapped(speeds[2] + pitching),
        Wheels(
            _wheel(wheels.fl, a, rising + fl.y * rolling - fl.x * pitching),
            _wheel(wheels.fr, b, rising + fr.y * rolling - fr.x * pitching),
            _wheel(wheels.rl, c, rising + rl.y * rolling - rl.x * pitching),
            _wheel(wheels.rr, d, rising + rr.y * rolling - rr.x * pitching),
        ),
    )


def _wheel(speed: float, m: Mount, rising: float) -> float:
    """Return the speed of a wheel upwards after the body above it has changed its own by `rising`."""
    return snapped(speed + m.per_force * (m.pushed + m.give * rising))


def snapped(speed: float) -> float:
    """Return a vertical or tilting speed, 0 where it is only rounding: a standing car is exactly at rest."""
    return select(absolute(speed) < REST_SPEED, 0.0, speed)
