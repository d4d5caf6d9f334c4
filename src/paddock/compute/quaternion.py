"""Attitude algebra for scalar code and arrays: quaternions (x, y, z, w) from body FLU to world ENU."""

from paddock.compute.math import absolute, atan2, maximum, select, sincos, sqrt

Vector = tuple[float, float, float]


def yaw_quaternion(yaw: float) -> tuple[float, float, float, float]:
    """Return the attitude of a level vehicle with that heading (rad)."""
    s, c = sincos(0.5 * yaw)
    return 0.0 * yaw, 0.0 * yaw, s, c


def euler_quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Return the attitude of roll, pitch and yaw (z-y-x convention, rad); positive pitch lowers the nose in FLU."""
    sr, cr = sincos(0.5 * roll)
    sp, cp = sincos(0.5 * pitch)
    sy, cy = sincos(0.5 * yaw)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def rotate(qx: float, qy: float, qz: float, qw: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a body vector in world axes."""
    tx = 2.0 * (qy * z - qz * y)
    ty = 2.0 * (qz * x - qx * z)
    tz = 2.0 * (qx * y - qy * x)
    return (
        x + qw * tx + (qy * tz - qz * ty),
        y + qw * ty + (qz * tx - qx * tz),
        z + qw * tz + (qx * ty - qy * tx),
    )


def unrotate(qx: float, qy: float, qz: float, qw: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a world vector in body axes."""
    return rotate(-qx, -qy, -qz, qw, x, y, z)


def axes(qx: float, qy: float, qz: float, qw: float) -> tuple[Vector, Vector, Vector]:
    """Return the forward, left and up axes of the body in world axes: the columns of the rotation matrix."""
    return (
        (1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qw * qz), 2.0 * (qx * qz - qw * qy)),
        (2.0 * (qx * qy - qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz + qw * qx)),
        (2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)),
    )


def turned(
    qx: float, qy: float, qz: float, qw: float, wx: float, wy: float, wz: float, dt: float
) -> tuple[float, float, float, float]:
    """Return the normalised attitude after turning at body rates (rad/s) for dt."""
    hx, hy, hz = 0.5 * dt * wx, 0.5 * dt * wy, 0.5 * dt * wz
    x = qx + qw * hx + qy * hz - qz * hy
    y = qy + qw * hy + qz * hx - qx * hz
    z = qz + qw * hz + qx * hy - qy * hx
    w = qw - qx * hx - qy * hy - qz * hz
    scale = 1.0 / sqrt(maximum(x * x + y * y + z * z + w * w, 1e-12))
    x, y, z, w = x * scale, y * scale, z * scale, w * scale
    # once more, against the rounding of the first time: after hours of flight the length is still 1
    scale = 1.0 / sqrt(maximum(x * x + y * y + (z * z + w * w), 1e-12))
    return x * scale, y * scale, z * scale, w * scale


def heading(qx: float, qy: float, qz: float, qw: float) -> float:
    """Return the yaw of an attitude, rad, counter-clockwise from east."""
    return atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))


def course(vx: float, vy: float, otherwise: float) -> float:
    """Return the direction of a horizontal velocity, rad; `otherwise` below 1 mm/s."""
    still = absolute(vx) + absolute(vy) < 1e-3
    return select(still, otherwise, atan2(select(still, 0.0, vy), select(still, 1.0, vx)))


def length(x: float, y: float, z: float) -> float:
    """Return the Euclidean length of a vector."""
    return sqrt(x * x + y * y + z * z)
