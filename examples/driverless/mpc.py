"""MPC: steering and acceleration of the next 1.2 s that follow a line best, within the limits of car and track.

A linear time-varying model of the errors beside the line: dynamic single track, tyres linearised at the slip of the
last solution, curvature and speed of the line ahead. One sparse quadratic program per step, whose structure never
changes, so that OSQP keeps its workspace and starts from the last solution. The car's dead time is compensated before:
the state to start from is `Car.after_dead_time`.
"""

from math import pi, remainder
from typing import NamedTuple

import numpy as np
import osqp
import scipy.sparse as sp
from car import Car, Motion
from line import Floats, Line

OFFSET, TURNED, SIDE, RATE, SPEED, STEER = range(6)  # states: m, rad, m/s, rad/s, m/s, rad
STEERING, PULL = range(2)  # inputs: rad/s, m/s2
STATES, INPUTS = 6, 2
SLOWEST = 2.0  # m/s: below it, tyres are modelled as at this speed


class Weights(NamedTuple):
    """Costs of squared errors: of states, of inputs, of leaving the corridor (per m, and per m2)."""

    states: tuple[float, ...] = (4.0, 1.0, 0.0, 0.05, 0.4, 0.1)
    inputs: tuple[float, ...] = (0.08, 0.01)
    corridor: tuple[float, float] = (50.0, 200.0)
    terminal: Floats | None = None  # (6, 6) of the last state; default: 4 x `states`


class Mpc:
    """A controller with its solver. `horizon` steps of `dt` s; `use` of the grip for acceleration and bend together."""

    def __init__(
        self, car: Car, horizon: int = 24, dt: float = 0.05, weights: Weights | None = None, use: float = 0.95
    ) -> None:
        self.car, self.n, self.dt, self.use = car, horizon, dt, use
        self.weights = weights or Weights()
        self.plan: Floats | None = None  # (n + 1, 6) states of the last solution
        self.inputs = np.zeros((horizon, INPUTS))
        self.iterations = self.failures = 0
        self.seconds = 0.0
        self._build()

    def _build(self) -> None:
        """Set up the program: variables are states (n + 1), inputs (n), and how far each step leaves the corridor."""
        n, w = self.n, self.weights
        first_input, first_slack = STATES * (n + 1), STATES * (n + 1) + INPUTS * n
        terminal = 4.0 * np.diag(w.states) if w.terminal is None else w.terminal
        cost = sp.block_diag(
            [
                sp.kron(sp.eye(n), np.diag(w.states)),
                np.where(terminal == 0.0, 1e-12, terminal),
                sp.kron(sp.eye(n), np.diag(w.inputs)),
                w.corridor[1] * sp.eye(n),
            ],
            format="csc",
        )
        self.linear = np.zeros(first_slack + n)
        self.linear[first_slack:] = 0.5 * w.corridor[0]
        steps, six, two = np.arange(n)[:, None, None], np.arange(6), np.arange(2)
        # rows 0..5: the present state; then x[k+1] - A x[k] - B u[k] = g, whose values change with every step
        rows_a = STATES + STATES * steps + six[:, None] + 0 * six
        columns_a = STATES * steps + 0 * six[:, None] + six
        rows_b = STATES + STATES * steps + six[:, None] + 0 * two
        columns_b = first_input + INPUTS * steps + 0 * six[:, None] + two
        one = np.arange(STATES * (n + 1))
        k = np.arange(n)
        at, end = STATES * (n + 1), STATES * (k + 1)
        slack = first_slack + k
        parts = [
            (rows_a, columns_a, 0.0),
            (rows_b, columns_b, 0.0),
            (one, one, 1.0),
            (at + k, end + STEER, 1.0),  # steering stop
            (at + n + k, end + OFFSET, 1.0),  # left of the corridor's right side
            (at + n + k, slack, 1.0),
            (at + 2 * n + k, end + OFFSET, 1.0),  # right of its left side
            (at + 2 * n + k, slack, -1.0),
            (at + 3 * n + np.arange(2 * n), first_input + np.arange(2 * n), 1.0),
            (at + 5 * n + k, slack, 1.0),
        ]
        rows = np.concatenate([row.reshape(-1) for row, _, _ in parts])
        columns = np.concatenate([column.reshape(-1) for _, column, _ in parts])
        self.values = np.concatenate([np.full(row.size, value) for row, _, value in parts])
        self.order = np.lexsort((rows, columns))  # from our order to that of the compressed columns
        starts = np.searchsorted(columns[self.order], np.arange(first_slack + n + 1))
        shape = at + 6 * n, first_slack + n
        matrix = sp.csc_matrix((self.values[self.order] + 1e-9, rows[self.order], starts), shape=shape)
        car = self.car
        side, rate = np.full(n, car.steer_max), np.tile([car.steer_rate, 1.0], n)
        self.low = np.concatenate([np.zeros(at), -side, np.zeros(n), np.full(n, -np.inf), -rate, np.zeros(n)])
        self.high = np.concatenate([np.zeros(at), side, np.full(n, np.inf), np.zeros(n), rate, np.full(n, np.inf)])
        self.solver = osqp.OSQP()
        self.solver.setup(
            sp.triu(cost, format="csc"), self.linear, matrix, self.low, self.high,
            eps_abs=1e-4, eps_rel=1e-4, max_iter=400, check_termination=10, adaptive_rho_interval=50,
            polishing=False, verbose=False,
        )  # fmt: skip

    def model(self, speed: Floats, bend: Floats, slips: tuple[Floats, Floats]) -> tuple[Floats, Floats, Floats]:
        """Return A (n, 6, 6), B (n, 6, 2) and g (n, 6) of a step, at speeds (n,), curvatures and slip angles (n,).

        The rule of trapezoids: stable however fast the tyres settle.
        """
        car, v = self.car, np.maximum(speed, SLOWEST)
        n = len(v)
        flow, drive, bias = np.zeros((n, 6, 6)), np.zeros((n, 6, 2)), np.zeros((n, 6))
        loads = np.array([car.loads(s) for s in v.tolist()]).T
        for lever, slip, load in ((car.front, slips[0], loads[0]), (-car.rear, slips[1], loads[1] * car.rear_grip)):
            share, slope = car.side_force(slip)
            stiffness, rest = load * slope, load * (share - slope * slip)  # force = stiffness x slip + rest
            for row, effect in ((SIDE, 1.0 / car.mass), (RATE, lever / car.inertia)):
                flow[:, row, SIDE] -= effect * stiffness / v
                flow[:, row, RATE] -= effect * stiffness * lever / v
                if lever > 0.0:
                    flow[:, row, STEER] += effect * stiffness
                bias[:, row] += effect * rest
        flow[:, SIDE, RATE] -= v
        flow[:, OFFSET, SIDE], flow[:, OFFSET, TURNED] = 1.0, v
        flow[:, TURNED, RATE], flow[:, TURNED, SPEED] = 1.0, -bend
        drive[:, SPEED, PULL] = drive[:, STEER, STEERING] = 1.0
        half = 0.5 * self.dt * flow
        left = np.linalg.inv(np.eye(6) - half)
        return left @ (np.eye(6) + half), self.dt * left @ drive, self.dt * (left @ bias[:, :, None])[:, :, 0]

    def step(
        self, line: Line, m: Motion, near: float | None = None, room: tuple[float, float] = (0.8, 0.8)
    ) -> tuple[float, float]:
        """Return the steering rate (rad/s) and the acceleration (m/s2) to apply now.

        `room`: how far the car may leave the line to the left and to the right, m.
        """
        n, dt, car = self.n, self.dt, self.car
        along, offset = line.closest(m.x, m.y, near)
        _, heading, _, _ = line.at(along)
        turned = remainder(m.yaw - float(heading), 2.0 * pi)
        now = np.array([offset, turned, m.vy, m.yaw_rate, m.vx, m.steer])
        if self.plan is None:
            plan = np.zeros((n + 1, STATES))
            plan[:, SPEED] = m.vx
        else:
            plan = self.plan + (now - self.plan[0]) * np.exp(-np.arange(n + 1) * dt / 0.2)[:, None]
        v = np.maximum(plan[:, SPEED], 0.5)
        places = along + np.concatenate([[0.0], np.cumsum(dt * v[:-1])])
        _, _, bend, wanted = line.at(places if line.closed else np.minimum(places, line.length))
        slow = np.maximum(v[:-1], SLOWEST)
        slips = (
            plan[:-1, STEER] - (plan[:-1, SIDE] + car.front * plan[:-1, RATE]) / slow,
            -(plan[:-1, SIDE] - car.rear * plan[:-1, RATE]) / slow,
        )
        a, b, g = self.model(v[:-1], bend[:-1], slips)
        self._limits(v[:-1], bend[:-1], room)
        self.low[: 6 * (n + 1)] = self.high[: 6 * (n + 1)] = np.concatenate([now, g.reshape(-1)])
        self.values[: 36 * n], self.values[36 * n : 48 * n] = -a.reshape(-1), -b.reshape(-1)
        aims = np.zeros((n + 1, STATES))
        aims[:, SPEED], aims[:, RATE] = wanted, bend * wanted
        aims[:, STEER] = [car.bend_steer(k, s) for k, s in zip(bend.tolist(), wanted.tolist(), strict=True)]
        weights = np.tile(self.weights.states, (n + 1, 1))
        self.linear[: 6 * n] = -(weights[:-1] * aims[:-1]).reshape(-1)
        last = 4.0 * np.diag(self.weights.states) if self.weights.terminal is None else self.weights.terminal
        self.linear[6 * n : 6 * n + 6] = -last @ aims[-1]
        return self._solve()

    def _limits(self, speed: Floats, bend: Floats, room: tuple[float, float]) -> None:
        """Limit the offset by the corridor, and the acceleration by the motor and by what grip the bend leaves."""
        n, at, car = self.n, STATES * (self.n + 1), self.car
        self.low[at + n : at + 2 * n], self.high[at + 2 * n : at + 3 * n] = -room[1], room[0]
        for k, (v, c) in enumerate(zip(speed.tolist(), bend.tolist(), strict=True)):
            grip = self.use * car.grip(v)
            spare = max(grip * grip - (c * v * v) ** 2, (0.2 * grip) ** 2) ** 0.5
            row = at + 3 * n + 2 * k + PULL
            self.low[row], self.high[row] = -min(spare, 14.0) - car.resistance(v), min(spare, car.pull(v))

    def _solve(self) -> tuple[float, float]:
        """Solve from the last solution; if that ends badly, once more from nothing."""
        n = self.n
        self.solver.update(q=self.linear, l=self.low, u=self.high, Ax=self.values[self.order])
        result = self.solver.solve(raise_error=False)
        if result.info.status != "solved":
            self.failures += 1
            self.solver.update_settings(rho=0.1)
            self.solver.warm_start(x=np.zeros(len(self.linear)), y=np.zeros(len(self.low)))
            result = self.solver.solve(raise_error=False)
        good = np.isfinite(result.x).all()
        states = result.x[: STATES * (n + 1)].reshape(n + 1, STATES).copy()
        inputs = result.x[STATES * (n + 1) : STATES * (n + 1) + INPUTS * n].reshape(n, INPUTS).copy()
        self.plan = states if result.info.status == "solved" else None
        self.inputs = inputs if good else np.zeros((n, INPUTS))
        self.iterations, self.seconds = result.info.iter, result.info.run_time
        return float(self.inputs[0, STEERING]), float(self.inputs[0, PULL])
