"""Random missions: tasks for `mission.generate`, and whole scenarios for studies and benchmarks.

Every draw is a function of the seed and of the task's number: the k-th task does not depend on how many are drawn.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from paddock.compute import arrays
from paddock.errors import InvalidValueError
from paddock.scenario import Scenario, load_scenario
from paddock.scenario.mission import Generate, MissionSection, fleet_entry
from paddock.scenario.tasks import TaskEntry, numbered
from paddock.world.columns import Floats
from paddock.world.fleet import draw_uniforms, stream_ids

KINDS = ("point", "line", "circle", "area")
LINE_LENGTH = (50.0, 200.0)  # m
CIRCLE_RADIUS = (1.0, 5.0)  # turn radii
PASS_LENGTH = (150.0, 1000.0)  # m
PASS_SPACING = (2.0, 4.0)  # turn radii
PASSES = (2, 5)
ZONE_RADIUS = (1.0, 3.0)  # turn radii
CLEARANCE = 2.0  # turn radii between a zone and the base, a task or another zone, as room to turn
TIGHTEST = 10.0  # m: minimum used for sizes of circles and areas
PURPOSE = 1
COLUMNS = 10  # numbers drawn for each task, used or not
TRIES = 512  # positions tried for each zone
ABREAST = 10  # maximum number of aircraft in one line; more form a grid


def generate(
    seed: int,
    uavs: int = 4,
    tasks: int = 20,
    area: Sequence[float] = (2500.0, 2500.0),
    mix: Mapping[str, float] | None = None,
    headings: float = 0.3,
    radius: float = 80.0,
    speed: float = 17.5,
    range: float | None = 20_000.0,
    zones: int = 0,
    base: Sequence[float] = (0.0, 0.0, 0.0),
    altitude: float = 100.0,
    **mission: Any,
) -> Scenario:
    """Return a scenario with a mission of random tasks (and zones), written out; m, m/s and rad.

    The area is centred on the base. Further fields of the mission section (`method=`, `objective=`, ...) may be given.
    """
    drawn = {"tasks": tasks, "area": list(area), "headings": headings} | ({} if mix is None else {"mix": dict(mix)})
    settings = {"base": list(base), "altitude": altitude, "speed": speed, "turn_radius": radius, "range": range}
    fields = {"seed": seed, "vehicles": [], "mission": {**settings, **mission, "generate": drawn}}
    checked = load_scenario(fields).mission
    assert checked is not None and checked.generate is not None
    entries = drawn_tasks(seed, checked.generate, radius, base=checked.base)
    written = {
        **settings,
        **mission,
        "tasks": [task.model_dump(mode="json", exclude_defaults=True) for task in entries],
    }
    if zones < 0:
        raise InvalidValueError(f"zones must be >= 0, not {zones}")
    if zones:
        written["zones"] = _zones(seed, zones, checked, entries, max(radius, TIGHTEST), uavs)
    vehicles = [] if uavs == 0 else [fleet_entry(checked, uavs)]
    if uavs > ABREAST:
        grid = {"spacing": 60.0, "z": checked.altitude, "origin": checked.base[:2], "heading": checked.base[-1]}
        vehicles[0]["spawn"] = {"grid": grid}
    return load_scenario({"name": f"mission_{seed}", "seed": seed, "vehicles": vehicles, "mission": written})


def drawn_tasks(
    seed: int, section: Generate, radius: float, names: Collection[str] = (), base: Sequence[float] = (0.0, 0.0)
) -> tuple[TaskEntry, ...]:
    """Return the tasks task_n of a `generate` section for a turn radius (m), around a base; `names` are taken."""
    if not 0.0 <= radius < np.inf:
        raise InvalidValueError(f"a turn radius is a number of metres >= 0, not {radius:g}")
    draws = draw_uniforms(seed, stream_ids("mission.tasks", np.arange(section.tasks)), PURPOSE, COLUMNS)
    columns = _columns(draws, section, max(radius, TIGHTEST), base)
    used = set(names)
    ends = np.cumsum([getattr(section.mix, kind) for kind in KINDS])
    kinds = [KINDS[k] for k in np.searchsorted(ends, draws[:, 0] * ends[-1], side="right")]
    rows = ({key: values[k].item() for key, values in columns.items()} for k in np.arange(section.tasks))
    return tuple(
        TaskEntry.model_validate({"name": numbered("task", len(names) + k, used), **_task(kind, row)})
        for k, (kind, row) in enumerate(zip(kinds, rows, strict=True))
    )


def _columns(draws: Floats, section: Generate, radius: float, base: Sequence[float]) -> dict[str, Any]:
    """Return random values for any kind of task, in steps of a millimetre and a microradian."""
    _, x, y, heading, headed, length, size, passes, spacing, left = draws.T
    return {
        "x": np.round(base[0] + section.area[0] * (x - 0.5), 3),
        "y": np.round(base[1] + section.area[1] * (y - 0.5), 3),
        "heading": np.round(np.pi * (2.0 * heading - 1.0), 6),
        "headed": headed < section.headings,
        "length": _between(length, *LINE_LENGTH),
        "radius": _between(size, *(radius * many for many in CIRCLE_RADIUS)),
        "pass_length": _between(length, *PASS_LENGTH),
        "spacing": _between(spacing, *(radius * many for many in PASS_SPACING)),
        "passes": PASSES[0] + np.floor(passes * (PASSES[1] - PASSES[0] + 1)).astype(np.int64),
        "left": left < 0.5,
    }


def _between(draws: Floats, low: float, high: float) -> Floats:
    return np.clip(np.round(low + (high - low) * draws, 3), low, high)


def _task(kind: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task as in a mission section."""
    where = {"at": (row["x"], row["y"]), "heading": row["heading"]}
    side = "left" if row["left"] else "right"
    if kind == "point":
        return {"point": where if row["headed"] else {"at": where["at"]}}
    if kind == "line":
        return {"line": {**where, "length": row["length"]}}
    if kind == "circle":
        return {"circle": {**where, "radius": row["radius"], "turn": side}}
    passes = {"length": row["pass_length"], "spacing": row["spacing"], "passes": row["passes"]}
    return {"area": {**where, **passes, "side": side}}


def _zones(
    seed: int, count: int, mission: MissionSection, tasks: Sequence[TaskEntry], radius: float, uavs: int
) -> list[dict[str, Any]]:
    """Return circles in the area, clear of the base, the fleet around it, all tasks and each other."""
    assert mission.generate is not None
    span = 30.0 * (min(uavs, ABREAST) + 1)
    x, y, heading = mission.base[0], mission.base[1], mission.base[-1]
    fleet = _local(x, y, heading, np.zeros(31), np.linspace(-span, span, 31))
    # points at most about 20 m apart
    occupied = cKDTree(np.concatenate([fleet, *(_footprint(task) for task in tasks)]))
    circles: list[tuple[float, float, float]] = []
    for k in range(count):
        u = draw_uniforms(seed, stream_ids(f"mission.zones.{k}", np.arange(TRIES)), PURPOSE, 3)
        centres = np.round(np.array(mission.base[:2]) + np.array(mission.generate.area) * (u[:, :2] - 0.5), 3)
        sizes = _between(u[:, 2], *(radius * many for many in ZONE_RADIUS))
        room = occupied.query(centres)[0] - sizes
        for x, y, size in circles:
            room = np.minimum(room, arrays.hypot(centres[:, 0] - x, centres[:, 1] - y) - sizes - size)
        fitting = np.flatnonzero(room >= CLEARANCE * radius)
        if not len(fitting):
            raise InvalidValueError(f"there is room for {k} of {count} zones beside the tasks; make the area larger")
        circles.append((*centres[fitting[0]].tolist(), float(sizes[fitting[0]])))
    return [{"circle": {"at": [x, y], "radius": size}} for x, y, size in circles]


def _footprint(task: TaskEntry) -> Floats:
    shape: Any = task.shape
    (x, y), heading = shape.at, shape.heading or 0.0
    if task.kind == "point":
        return np.array([[x, y]])
    sign = 1.0 if getattr(shape, "turn", getattr(shape, "side", "left")) == "left" else -1.0
    if task.kind == "circle":
        sine, cosine = arrays.sincos(np.linspace(0.0, 2 * np.pi, 128))
        return _local(x, y, heading, shape.radius * sine, sign * shape.radius * (1.0 - cosine))
    along = np.arange(-0.5, shape.length + 20.0, 20.0)
    if task.kind == "line":
        return _local(x, y, heading, along, np.zeros(len(along)))
    bulge = 0.5 * shape.spacing
    along = np.arange(-bulge, shape.length + bulge + 20.0, 20.0)
    across = sign * shape.spacing * np.arange(0.0, shape.passes - 0.5, 0.25)
    grid = np.meshgrid(along, across)
    return _local(x, y, heading, grid[0].ravel(), grid[1].ravel())


def _local(x: float, y: float, heading: float, along: Floats, across: Floats) -> Floats:
    """Return world points (n, 2) at distances ahead and to the left of a pose."""
    return arrays.rotated(np.stack([along, across], axis=1), heading, (x, y))
