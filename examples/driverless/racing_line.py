"""The line of least curvature between two boundaries, and the fastest speeds along it.

The line is `centre + offset * normal`. Least sum of squared curvature within the boundaries is a least-squares problem
with bounds: each Gauss-Newton step is a sparse quadratic program (OSQP). Speeds follow from what the tyres transmit
together along and across (a g-g ellipse that grows with downforce), from the motor's power and from the drag, by one
sweep forwards (accelerating) and one backwards (braking).
"""

import numpy as np
import osqp
import scipy.sparse as sp
from car import Car
from line import Floats, Line, line_of


def normals(points: Floats, closed: bool) -> Floats:
    """Return unit vectors (n, 2) to the left of a polyline."""
    ahead = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0) if closed else np.gradient(points, axis=0)
    ahead /= np.hypot(ahead[:, 0], ahead[:, 1])[:, None]
    return np.column_stack([-ahead[:, 1], ahead[:, 0]])


def bends(line: Floats, normal: Floats, closed: bool) -> tuple[Floats, sp.csc_array]:
    """Return curvature x sqrt(length) at the inner points (all of a closed line), and its derivative by the offsets.

    Curvature of equally spaced parameters: (x' y'' - y' x'') / (x'^2 + y'^2)^1.5 with central differences.
    """
    n = len(line)
    inner = np.arange(n) if closed else np.arange(1, n - 1)
    back, ahead = (inner - 1) % n, (inner + 1) % n
    d = 0.5 * (line[ahead] - line[back])
    dd = line[ahead] - 2.0 * line[inner] + line[back]
    cross, square = d[:, 0] * dd[:, 1] - d[:, 1] * dd[:, 0], (d * d).sum(axis=1)
    value = cross * square**-1.25  # curvature x (length between points)^0.5
    rows, columns, slopes = [], [], []
    for at, first, second in ((back, -0.5, 1.0), (inner, 0.0, -2.0), (ahead, 0.5, 1.0)):
        m = normal[at]
        turn = first * (m[:, 0] * dd[:, 1] - m[:, 1] * dd[:, 0]) + second * (d[:, 0] * m[:, 1] - d[:, 1] * m[:, 0])
        stretch = 2.0 * first * (d * m).sum(axis=1)
        slopes.append(turn * square**-1.25 - 1.25 * cross * square**-2.25 * stretch)
        rows.append(np.arange(len(inner)))
        columns.append(at)
    where = np.concatenate(rows), np.concatenate(columns)
    return value, sp.csc_array((np.concatenate(slopes), where), shape=(len(inner), n))


def least_curvature(
    centre: Floats, left: Floats, right: Floats, closed: bool = True, ends: float | None = None, steps: int = 30
) -> Floats:
    """Return the offsets (n,) to the left, m, of the line of least curvature from equally spaced points (n, 2).

    `left` and `right` (n,) are how far the car's centre may leave the centreline, m >= 0. An open line keeps its ends:
    `ends` is how many m of offset its first and last two points may have (default: no limit but the boundaries).
    """
    normal = normals(centre, closed)
    low, high = -np.asarray(right, dtype=float), np.asarray(left, dtype=float)
    if not closed and ends is not None:
        edge = [0, 1, -2, -1]
        low[edge], high[edge] = np.maximum(low[edge], -ends), np.minimum(high[edge], ends)
    offset = np.clip(np.zeros(len(centre)), low, high)
    reach = 1.0  # m: trust region of a step
    for _ in range(steps):
        value, slope = bends(centre + offset[:, None] * normal, normal, closed)
        cost = float(value @ value)
        hessian = sp.triu(slope.T @ slope + 1e-9 * sp.eye_array(len(offset)), format="csc")
        step_low, step_high = np.maximum(low - offset, -reach), np.minimum(high - offset, reach)
        solver = osqp.OSQP()
        solver.setup(
            sp.csc_matrix(hessian),
            slope.T @ value,
            sp.eye(len(offset), format="csc"),
            step_low,
            step_high,
            eps_abs=1e-7,
            eps_rel=1e-7,
            max_iter=20000,
            polishing=True,
            verbose=False,
        )
        moved = np.clip(offset + np.clip(solver.solve(raise_error=False).x, step_low, step_high), low, high)
        after, _ = bends(centre + moved[:, None] * normal, normal, closed)
        if after @ after > cost:  # the linearisation reached too far
            reach *= 0.25
            if reach < 1e-4:
                break
            continue
        change = float(np.abs(moved - offset).max())
        offset = moved
        if change < 1e-3:
            break
    return offset


def corner_speed(curvature: Floats, car: Car, use: float, top: float | Floats) -> Floats:
    """Return the speeds (m/s) at which a turn takes `use` of the grip; downforce makes some turns flat out."""
    still = use * car.grip(0.0)
    gain = use * car.grip(1.0) - still  # grip grows with the square of the speed
    bend = np.abs(curvature) - gain
    return np.where(bend > still / top**2, np.sqrt(still / np.maximum(bend, 1e-9)), top)


def speed_profile(
    line: Line,
    car: Car,
    use: float = 0.9,
    top: float | Floats = 30.0,
    start: float | None = None,
    end: float | None = None,
) -> Floats:
    """Return the fastest speeds (n,) along a line, m/s, with `use` of the grip; `start`, `end`: those of an open line.

    Along and across share the grip: (a_x / grip)^2 + (a_y / grip)^2 <= use^2.
    """
    speed = corner_speed(line.curvature, car, use, top)
    if start is not None:
        speed[0] = min(speed[0], start)
    if end is not None:
        speed[-1] = min(speed[-1], end)
    gaps, bend = np.diff(line.along), np.abs(line.curvature)
    turns = 2 if line.closed else 1  # a closed line joins its own end: go round twice
    count = len(gaps)
    for k in range(turns * count):  # forwards: the motor and the remaining grip
        i, j = k % count, k % count + 1
        v = float(speed[i])
        spare = max((use * car.grip(v)) ** 2 - (bend[i] * v * v) ** 2, 0.0) ** 0.5
        reached = (v * v + 2.0 * gaps[i] * min(spare, car.pull(v))) ** 0.5
        speed[j] = min(speed[j], reached)
        if line.closed and j == count:
            speed[0] = speed[j]
    for k in range(turns * count - 1, -1, -1):  # backwards: brakes, drag and the remaining grip
        i, j = k % count, k % count + 1
        v = float(speed[j])
        spare = max((use * car.grip(v)) ** 2 - (bend[j] * v * v) ** 2, 0.0) ** 0.5
        most = min(spare, 0.9 * car.brake_force / car.mass) + car.resistance(v)
        speed[i] = min(speed[i], (v * v + 2.0 * gaps[i] * most) ** 0.5)
        if line.closed and i == 0:
            speed[count] = speed[0]
    return speed


def lap_time(line: Line, speed: Floats) -> float:
    """Return the time along a line at those speeds, s."""
    return float((2.0 * np.diff(line.along) / np.maximum(speed[1:] + speed[:-1], 1e-6)).sum())


def racing_line(
    centre: Floats, left: Floats, right: Floats, car: Car, margin: float = 0.25, use: float = 0.9, closed: bool = True
) -> Line:
    """Return the line of least curvature with its speeds, from a centreline and the distances to both boundaries.

    `margin` (m) stays free between car and boundary. The car's corners reach further out than half its width when it
    slides; the margin includes that.
    """
    room = car.half_width + margin
    reach = [np.maximum(np.asarray(side) - room, 0.0) for side in (left, right)]
    offset = least_curvature(centre, reach[0], reach[1], closed)
    line = line_of(centre + offset[:, None] * normals(centre, closed), closed)
    return line._replace(speed=speed_profile(line, car, use))
