"""Other simulators and methods, measured for comparison: `python peers.py NAME ARGUMENT...` prints one JSON object.

The Python of the peers (`make bench-peers`) runs this file. It has no Paddock, so this file imports only what the
called function needs. Paddock's own Python runs `distance_field` and `mpc`.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Figures = dict[str, Any]


def fastest(work: Callable[[], object], seconds: float) -> float:
    """Return the shortest time of a call, s, of at least three and of those within some time (s)."""
    best, calls, end = float("inf"), 0, time.perf_counter() + seconds
    while calls < 3 or time.perf_counter() < end:
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
        calls += 1
    return best


def crazyflow(drones: str, seconds: str) -> Figures:
    """Return drone-steps per second of crazyflow under state control."""
    import jax
    from crazyflow.control import Control
    from crazyflow.sim import Sim

    count = int(drones)
    sim = Sim(n_worlds=count, n_drones=1, control=Control.state, freq=500, state_freq=100)
    sim.reset()
    command = np.zeros((count, 1, 16), dtype=np.float32)
    command[..., 2] = 0.5

    def work() -> None:
        sim.state_control(command)
        sim.step(5)
        jax.block_until_ready(sim.data.states.pos)

    work()
    return {"steps_per_second": 5 * count / fastest(work, float(seconds))}


def crazyflow_env(worlds: str, substeps: str, seconds: str) -> Figures:
    """Return env-steps per second of crazyflow's environment."""
    import jax
    from crazyflow.envs import ReachPosEnv

    count = int(worlds)
    envs = ReachPosEnv(num_envs=count, freq=500 // int(substeps), device="cpu")
    envs.reset(seed=0)
    space = envs.single_action_space
    action = np.tile(np.array([0.0, 0.0, 0.0, 0.5 * (space.low[3] + space.high[3])], np.float32), (count, 1))

    def work() -> None:
        result = envs.step(action)
        jax.block_until_ready(result[:4])

    work()
    return {"steps_per_second": count / fastest(work, float(seconds)), "substeps": envs.n_substeps}


def pybullet_drone(substeps: str, seconds: str) -> Figures:
    """Return env-steps per second of gym-pybullet-drones.

    No registry has the package, so only the calls of PyBullet that a step of its hover environment makes are measured
    (forces of four rotors, a torque, a step; then the state): an upper bound of its rate.
    """
    import pybullet as p

    p.connect(p.DIRECT)
    p.setGravity(0.0, 0.0, -9.8)
    p.setTimeStep(1.0 / 240.0)
    p.createMultiBody(0.0, p.createCollisionShape(p.GEOM_PLANE))
    shape = p.createCollisionShape(p.GEOM_CYLINDER, radius=0.06, height=0.025)
    body = p.createMultiBody(0.027, shape, basePosition=[0.0, 0.0, 1.0])
    lift = 0.027 * 9.8 / 4.0
    arms = ([0.028, -0.028, 0.0], [-0.028, -0.028, 0.0], [-0.028, 0.028, 0.0], [0.028, 0.028, 0.0])

    def hundred() -> None:
        for _ in range(100):
            for _ in range(int(substeps)):
                for arm in arms:
                    p.applyExternalForce(body, -1, forceObj=[0.0, 0.0, lift], posObj=arm, flags=p.LINK_FRAME)
                p.applyExternalTorque(body, -1, torqueObj=[0.0, 0.0, 0.0], flags=p.LINK_FRAME)
                p.stepSimulation()
            _, quaternion = p.getBasePositionAndOrientation(body)
            p.getEulerFromQuaternion(quaternion)
            p.getBaseVelocity(body)

    rate = 100.0 / fastest(hundred, float(seconds))
    return {"steps_per_second": rate, "name": "PyBullet's part of gym-pybullet-drones"}


DT, STEER_RATE = 1e-3, 0.4  # s, rad/s: of CommonRoad's models


def commonroad_model(model: str) -> tuple[Callable[[list[float]], list[float]], Callable[[Any, list[float]], Any]]:
    """Return the start and the derivative of a model of a BMW 320i: st (single track), std (drift), mb (multi-body)."""
    from vehiclemodels.init_mb import init_mb
    from vehiclemodels.init_st import init_st
    from vehiclemodels.init_std import init_std
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
    from vehiclemodels.vehicle_dynamics_mb import vehicle_dynamics_mb
    from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st
    from vehiclemodels.vehicle_dynamics_std import vehicle_dynamics_std

    models: dict[str, tuple[Any, Any]] = {
        "st": (lambda start, _: init_st(start), vehicle_dynamics_st),
        "std": (init_std, vehicle_dynamics_std),
        "mb": (init_mb, vehicle_dynamics_mb),
    }
    parameters = parameters_vehicle2()
    start, dynamics = models[model]
    return lambda state: start(state, parameters), lambda state, inputs: dynamics(state, inputs, parameters)


def commonroad_speed(model: str, seconds: str) -> Figures:
    """Return the steps per second of CommonRoad's model: the fastest 1,000 of forward Euler at 1 ms."""
    start, dynamics = commonroad_model(model)

    def work() -> None:
        state = start([0.0, 0.0, 0.0, 15.0, 0.0, 0.0, 0.0])
        for _ in range(1000):
            change = dynamics(state, [0.01, 0.1])
            state = [x + DT * dx for x, dx in zip(state, change, strict=True)]

    return {"steps_per_second": 1000 / fastest(work, float(seconds))}


def commonroad_turn(model: str, forward: str, steer: str) -> Figures:
    """Return the yaw rate (rad/s) every 10 ms for 4 s after a step of the steering at 0.4 rad/s, without drive."""
    start, dynamics = commonroad_model(model)
    state = start([0.0, 0.0, 0.0, float(forward), 0.0, 0.0, 0.0])
    rates, target = [], float(steer)
    for tick in range(4000):
        rate = STEER_RATE if state[2] < target - 1e-9 else 0.0
        inputs = [min(rate, (target - state[2]) / DT), 0.0]
        change = dynamics(state, inputs)
        state = [x + DT * dx for x, dx in zip(state, change, strict=True)]
        if tick % 10 == 9:
            rates.append(state[5])
    return {"yaw_rate": rates, "speed": state[3]}


def ortools(seconds: str) -> Figures:
    """Return tours by OR-Tools, guided local search: the tasks of each vehicle in order, and the time (s) it took.

    The problem is JSON on stdin. Locations are where vehicles start, their homes, then the tasks; `ways` are whole
    numbers between all of them.
    """
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    problem = json.load(sys.stdin)
    vehicles, ways = problem["vehicles"], problem["ways"]
    starts, homes = list(range(vehicles)), list(range(vehicles, 2 * vehicles))
    manager = pywrapcp.RoutingIndexManager(len(ways), vehicles, starts, homes)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(ways))
    search = pywrapcp.DefaultRoutingSearchParameters()
    search.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    search.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    search.time_limit.FromMilliseconds(int(1000 * float(seconds)))
    started, before = time.perf_counter(), time.process_time()
    solution = routing.SolveWithParameters(search)
    elapsed, processor, orders = time.perf_counter() - started, time.process_time() - before, []
    for vehicle in range(vehicles):
        order, at = [], solution.Value(routing.NextVar(routing.Start(vehicle)))
        while not routing.IsEnd(at):
            order.append(manager.IndexToNode(at) - 2 * vehicles)
            at = solution.Value(routing.NextVar(at))
        orders.append(order)
    return {"orders": orders, "seconds": elapsed, "processor": processor}


PIXEL, NEAR, FAR = 0.05, 1e-4, 30.0  # m: of distance fields
FIELD_OF_VIEW = 4.7  # rad


def march(x: float, y: float, yaw: float, field: np.ndarray, corner: np.ndarray, ranges: np.ndarray) -> None:
    """March all beams until they are nearer to a wall than NEAR."""
    beams = ranges.shape[0]
    for k in range(beams):
        angle = yaw - 0.5 * FIELD_OF_VIEW + FIELD_OF_VIEW * k / (beams - 1)
        c, s, total, px, py = np.cos(angle), np.sin(angle), 0.0, x, y
        gap = FAR
        while gap > NEAR and total < FAR:
            i, j = int((py - corner[1]) / PIXEL), int((px - corner[0]) / PIXEL)
            inside = 0 <= i < field.shape[0] and 0 <= j < field.shape[1]
            gap = field[i, j] if inside else FAR
            px, py, total = px + gap * c, py + gap * s, total + gap
        ranges[k] = min(total, FAR)


def image_of(track: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance (m) of each pixel to the nearest boundary of a track, and the corner of the image (m)."""
    from scipy.ndimage import distance_transform_edt

    edges = np.concatenate([track.left, track.right])
    corner, size = edges.min(axis=0) - 2.0, np.ptp(edges, axis=0) + 4.0
    free = np.ones((int(size[1] / PIXEL), int(size[0] / PIXEL)), bool)
    for line in (track.left, track.right):
        ends = np.roll(line, -1, axis=0)
        share = np.linspace(0.0, 1.0, 100)[:, None, None]
        places = (line + share * (ends - line)).reshape(-1, 2)
        column, row = ((places - corner) / PIXEL).astype(int).T
        free[row, column] = False
    return distance_transform_edt(free) * PIXEL, corner


def distance_field(beams: str, seconds: str, name: str) -> Figures:
    """Return scans per second by the method of f1tenth_gym on a track.

    No registry has that package. A scan marches each beam through the distance transform of an image of the track,
    5 cm per pixel, compiled by Numba, from places along the middle line. Noise, vehicle dynamics and checks for
    collisions come on top in a step of that package: this is an upper bound of its rate.
    """
    from numba import njit

    import paddock.track

    scan = njit(fastmath=False, error_model="numpy")(march)
    track = paddock.track.load(name)
    field, corner = image_of(track)
    ranges = np.zeros(int(beams))
    places = np.column_stack([track.centre, track.heading])[:200].tolist()
    scan(*places[0], field, corner, ranges)

    def work() -> None:
        for x, y, yaw in places:
            scan(x, y, yaw, field, corner, ranges)

    return {"scans_per_second": len(places) / fastest(work, float(seconds))}


def mpc(folder: str, steps: str) -> Figures:
    """Return the median time (s) of a step of the MPC in the folder of the examples, on a circle."""
    sys.path.insert(0, folder)
    from car import Car, Motion
    from line import line_of
    from mpc import Mpc

    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    line = line_of(20.0 * np.column_stack([np.cos(angle), np.sin(angle)]), True, 10.0)
    car, m, durations = Car(), Motion(20.3, 0.0, 0.5 * np.pi, 9.0), []
    controller = Mpc(car)
    for _ in range(int(steps)):
        started = time.perf_counter()
        rate, pull = controller.step(line, m)
        durations.append(time.perf_counter() - started)
        m = car.moved(m, m.steer + 0.025 * rate, pull, 0.025)
    return {"median": float(np.median(durations))}


PEERS: dict[str, Callable[..., Figures]] = {
    "crazyflow": crazyflow,
    "crazyflow_env": crazyflow_env,
    "pybullet_drone": pybullet_drone,
    "commonroad_speed": commonroad_speed,
    "commonroad_turn": commonroad_turn,
    "ortools": ortools,
    "distance_field": distance_field,
    "mpc": mpc,
}

if __name__ == "__main__":
    print(json.dumps(PEERS[sys.argv[1]](*sys.argv[2:])))
