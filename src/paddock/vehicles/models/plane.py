"""Fixed-wing aircraft with aerodynamics: six degrees of freedom, lift, drag, stall, surfaces, propeller, wheels.

An external autopilot flies it by its surfaces; for behaviours and missions `guide` inverts the model. Parts:
`parts/plane.py` (state, commands, parameters, physics). `fixed_wing` is the stabilised model for large fleets.
"""

from paddock.compute.math import asin, atan, clamp, exp, maximum, minimum, select, sincos, sqrt, wrap_angle
from paddock.compute.quaternion import course, euler_quaternion, heading, rotate, turned
from paddock.vehicles.model import CAPSULE, Body, Desire, Placement, VehicleModel
from paddock.vehicles.parts.battery import discharged
from paddock.vehicles.parts.plane import (
    DEEPEST,
    PI,
    AirframeMotion,
    Command,
    Parameters,
    State,
    air_flow,
    attitude,
    full_voltage,
    lift_and_drag,
    loads,
    on_ground,
    power_drawn,
    spun,
    turns_for,
)
from paddock.vehicles.parts.rigid_body import rigid_bumped, rigid_energy, rigid_pose
from paddock.world.columns import Environment
from paddock.world.ground import is_sloped, normal, slope_along, surface

LOITER_BANK = 0.35  # rad, flown instead of stopping
BANK_GAIN = 1.2  # rad of bank per rad of heading error, when guided
PATH_GAIN = 0.8  # 1/s: rate of the path's angle per error, when guided
PITCH_DAMPING = 0.3  # rad of elevator per rad/s off the wanted pitch rate
STEER_GAIN = 0.5  # rudder per rad of heading error on the ground
SPEED_GAIN = 0.6  # m/s2 per m/s of missing airspeed
GRAVITY, DENSITY = 9.80665, 1.225  # m/s2, kg/m3: assumed by guidance


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance servos, motor and battery by their lags and the body by semi-implicit Euler: rates, then attitude."""
    a = air_flow(s, w)
    m = loads(s, p, w, a)
    roll, pitch, yaw = spun(s, p, m, dt)
    per = dt / p.mass
    ax, ay, az = rotate(s.qx, s.qy, s.qz, s.qw, m.fx, -m.fy, -m.fz)
    free = AirframeMotion(s.vx + per * ax, s.vy + per * ay, s.vz + per * az - dt * w.gravity, roll, pitch, yaw)
    n = on_ground(s, u, p, w, free, dt)
    wx, wy, wz = n.roll, -n.pitch, -n.yaw
    qx, qy, qz, qw = turned(s.qx, s.qy, s.qz, s.qw, wx, wy, wz, dt)
    moved = 1.0 - exp(-dt / p.servo_lag)
    elevator = p.elevator_trim - p.elevator_max * u.elevator
    battery = discharged(s.charge, power_drawn(s, p, w, a.u), p.cells, p.cell_resistance, p.capacity, dt)
    turns = p.prop_speed * u.throttle * battery.voltage / full_voltage(p)
    x, y = s.x + dt * n.vx, s.y + dt * n.vy
    lowest = surface(x, y, w).height - DEEPEST * p.gear_sag
    return State(
        x=x,
        y=y,
        z=maximum(s.z + dt * n.vz, lowest),
        vx=n.vx,
        vy=n.vy,
        vz=n.vz,
        qx=qx,
        qy=qy,
        qz=qz,
        qw=qw,
        wx=wx,
        wy=wy,
        wz=wz,
        aileron=s.aileron + moved * (p.aileron_max * u.aileron - s.aileron),
        elevator=s.elevator + moved * (elevator - s.elevator),
        rudder=s.rudder + moved * (-p.rudder_max * u.rudder - s.rudder),
        rotor=s.rotor + (1.0 - exp(-dt / p.prop_lag)) * (turns - s.rotor),
        airspeed=maximum(a.u, 0.0),
        charge=battery.charge,
        voltage=battery.voltage,
        current=battery.current,
    )


def trim(speed: float, load: float, p: Parameters, density: float) -> tuple[float, float]:
    """Return angle of attack and elevator (rad) of balanced flight with a lift of `load` N, short of the stall."""
    lift_demand = 2.0 * load / maximum(density * p.area * speed * speed, 1e-6)
    # lift and pitching moment are linear in both
    share = p.cl_elevator / p.cm_elevator
    alpha = (lift_demand - p.cl_0 + share * p.cm_0) / maximum(p.cl_alpha - share * p.cm_alpha, 0.01)
    alpha = clamp(alpha, -0.5 * p.stall_angle, 0.85 * p.stall_angle)
    return alpha, -(p.cm_0 + p.cm_alpha * sincos(alpha)[0]) / p.cm_elevator


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start trimmed in level flight (speed 0: cruise); on the ground, standing or rolling with the motor off."""
    ground = surface(at.x, at.y, w)
    flies = at.z > ground.height + 0.01
    speed = select(flies & (at.speed <= 0.0), p.speed, at.speed)
    alpha, elevator = trim(maximum(speed, 0.5 * p.speed_min), p.mass * w.gravity, p, w.air_density)
    rise = select(flies, alpha, p.ground_pitch)
    sine, cosine = sincos(at.yaw)
    ahead, beside = slope_along(ground, sine, cosine)
    leans = is_sloped(ground) & (at.z <= ground.height + 0.01)
    bank, level = select(leans, asin(beside * normal(ground)[2]), 0.0 * at.x), -rise
    qx, qy, qz, qw = euler_quaternion(bank, select(leans, level - atan(ahead), level), at.yaw)
    air = select(flies, 1.0, 0.0)
    _, cd = lift_and_drag(alpha, elevator, p)
    drag = 0.5 * w.air_density * speed * speed * p.area * cd
    none = 0.0 * at.x
    along = speed + (1.0 - air) * -(w.wind_x * cosine + w.wind_y * sine)
    return State(
        x=at.x,
        y=at.y,
        z=maximum(at.z, ground.height),
        vx=speed * cosine + air * w.wind_x,
        vy=speed * sine + air * w.wind_y,
        vz=air * w.wind_z,
        qx=qx,
        qy=qy,
        qz=qz,
        qw=qw,
        wx=none,
        wy=none,
        wz=none,
        aileron=none,
        elevator=select(flies, elevator, p.elevator_trim),
        rudder=none,
        rotor=air * minimum(turns_for(drag, speed, p, w.air_density), p.prop_speed),
        airspeed=maximum(along, 0.0),
        charge=none + 1.0,
        voltage=none + full_voltage(p),
        current=none,
    )


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Return the surfaces and throttle, by the inverse of the model, for the wanted track, climb and speed.

    Circle if the wanted speed is near 0.
    """
    wanted = sqrt(d.vx * d.vx + d.vy * d.vy)
    hold = wanted < 0.1 * p.speed_min
    yaw = heading(s.qx, s.qy, s.qz, s.qw)
    bank, _ = attitude(s)
    sine, cosine = sincos(yaw)
    level = sqrt(maximum(s.airspeed * s.airspeed - s.vz * s.vz, 0.0))
    wind_x, wind_y = s.vx - level * cosine, s.vy - level * sine
    east, north = d.vx / maximum(wanted, 1e-9), d.vy / maximum(wanted, 1e-9)
    drift = (wind_y * east - wind_x * north) / maximum(level, p.speed_min)
    error = wrap_angle(course(d.vx, d.vy, yaw) - asin(drift) - yaw)
    turn = d.turn * wanted / maximum(level, p.speed_min)
    wanted_bank = -BANK_GAIN * error - atan(level * turn / GRAVITY)
    # wings level until it flies
    limit = p.bank_max * clamp((s.airspeed - 0.6 * p.speed_min) / (0.3 * p.speed_min), 0.0, 1.0)
    wanted_bank = clamp(select(hold, LOITER_BANK, wanted_bank), -limit, limit)
    speed = maximum(s.airspeed, 0.5 * p.speed_min)
    rolling = (wanted_bank - bank) / p.roll_time
    aileron = -p.cr_p / p.cr_aileron * 0.5 * p.span / speed * rolling

    air_x, air_y = d.vx - wind_x, d.vy - wind_y
    wanted_speed = select(hold, p.speed, clamp(sqrt(air_x * air_x + air_y * air_y), p.speed_min, p.speed_max))
    slow = clamp((s.airspeed - 0.8 * p.speed_min) / (0.2 * p.speed_min), -1.0, 1.0)  # too slow: no climb
    most = minimum(p.climb_max, 0.5 * speed)
    climb = minimum(clamp(d.vz, -most, most), most * slow)
    path = asin(climb / speed)
    path_now = asin(clamp(s.vz / speed, -0.9, 0.9))
    rate = clamp(PATH_GAIN * (path - path_now), -0.3, 0.3)
    upright = maximum(sincos(bank + 0.5 * PI)[0], 0.5)  # cosine
    load = p.mass * (GRAVITY + speed * rate) / upright
    alpha, elevator = trim(speed, load, p, DENSITY)
    pull = rate * upright + GRAVITY / speed * (1.0 / upright - upright)
    # the pitch rate of a turn is damped, too
    elevator = elevator - 0.5 * p.cm_q / p.cm_elevator * p.chord / speed * pull + PITCH_DAMPING * (-s.wy - pull)

    _, cd = lift_and_drag(alpha, elevator, p)
    drag = 0.5 * DENSITY * speed * speed * p.area * cd
    thrust = drag + p.mass * (GRAVITY * sincos(path)[0] + SPEED_GAIN * (wanted_speed - s.airspeed))
    sag = full_voltage(p) / maximum(s.voltage, 0.1)
    return Command(
        aileron=clamp(aileron / p.aileron_max, -1.0, 1.0),
        elevator=clamp((p.elevator_trim - elevator) / p.elevator_max, -1.0, 1.0),
        rudder=clamp(-STEER_GAIN * error, -1.0, 1.0) * (1.0 - limit / p.bank_max),
        throttle=clamp(sag * turns_for(thrust, s.airspeed, p, DENSITY) / p.prop_speed, 0.0, 1.0),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic (linear and rotational) and potential energy, J."""
    return rigid_energy(s, p, w.gravity * (s.z - surface(s.x, s.y, w).height))


def solid(p: Parameters) -> Body:
    """Return a capsule along the wing, half a chord thick."""
    thick = 0.25 * p.chord
    return Body(p.mass, p.inertia_x, p.inertia_y, p.inertia_z, thick, 0.5 * p.span, thick, thick, CAPSULE)


MODEL = VehicleModel(
    kind="aircraft",
    summary="Fixed wing with aerodynamics: lift, drag, stall, control surfaces, propeller, battery and wheels",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=rigid_pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=0.01,
    crash_sink=2.5,
    telemetry=("airspeed", "charge", "voltage", "current"),
    body=solid,
    bumped=rigid_bumped,
    other_parameters=("turn_radius",),
)
