"""Every shipped model keeps the contract, and a model that breaks it is refused with the reason."""

from dataclasses import replace
from math import sin as libm_sin
from typing import Annotated, Any, NamedTuple

import pytest

from paddock.compute.math import maximum, minimum, select, sincos
from paddock.compute.quaternion import length
from paddock.errors import PaddockError, UnknownNameError
from paddock.testing import ConformanceError, ConformanceReport, check_vehicle_model
from paddock.testing.vehicles import Rig, check_contact
from paddock.vehicles.model import Body, Bump, Desire, Placement, VehicleModel, model_names
from paddock.vehicles.models.point import MODEL, Command, Parameters, State
from paddock.vehicles.models.point import place as point_place
from paddock.vehicles.models.point import pose as point_pose
from paddock.vehicles.models.point import step as point_step
from paddock.world.columns import Column, Environment, Pose

LONG = ("quad", "car.kinematic", "car.bicycle", "car.double_track", "car.full", "plane", "fixed_wing", "prop.crate")
"""Models whose kernels and float32 twin take seconds to compile."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in model_names()]
)
def test_shipped_model_conforms(name: str) -> None:
    report = check_vehicle_model(name)
    assert isinstance(report, ConformanceReport)
    assert len(report.details) == 17
    assert f"model '{name}': 17 checks passed" in str(report)


def test_report_names_each_check_and_its_measurement() -> None:
    report = ConformanceReport(
        "model 'toy'", {"convergence": "order 2 stated, 1.99 measured", "place": "where it was put"}
    )
    assert str(report).splitlines() == [
        "model 'toy': 2 checks passed",
        "  convergence  order 2 stated, 1.99 measured",
        "  place        where it was put",
    ]


def test_unknown_model_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'rover'"):
        check_vehicle_model("rovr")


# models that break the contract, each in one way


def with_if(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    if s.x > 0.0:
        return s
    return point_step(s, u, p, w, dt)


def with_and(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    return s._replace(x=select(s.x > 0.0 and s.y > 0.0, 1.0, s.x))


def inner_ternary(x: float) -> float:
    return 1.0 if x > 0.0 else x


def with_inner_ternary(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    return State(inner_ternary(s.x), s.y, s.z, s.vx, s.vy, s.vz, s.yaw)


def with_builtin(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    return State(max(s.x, 0.0), s.y, s.z, s.vx, s.vy, s.vz, s.yaw)


def with_libm(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    return State(s.x + 0.0 * libm_sin(s.yaw), s.y, s.z, s.vx, s.vy, s.vz, s.yaw)


def nan_at_rest(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    share = minimum(1.0, 5.0 * dt / length(u.vx - s.vx, u.vy - s.vy, u.vz - s.vz))
    return State(s.x, s.y, s.z, s.vx, s.vy + share * (u.vy - s.vy), s.vz, s.vx / length(s.vx, s.vy, s.vz))


def lagging(s: State, u: Command, dt: float, gain: float) -> State:
    vx, vy, vz = (s.vx + gain * dt * (u.vx - s.vx), s.vy + gain * dt * (u.vy - s.vy), s.vz + gain * dt * (u.vz - s.vz))
    return State(s.x + dt * s.vx, s.y + dt * s.vy, s.z + dt * s.vz, vx, vy, vz, s.yaw)


def euler(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    return lagging(s, u, dt, 1.0)


def stiff(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    return lagging(s, u, dt, 1e6)


def free_energy(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    after = point_step(s, u, p, w, dt)
    vx = after.vx + 6.0 * dt
    return State(after.x, after.y, after.z, vx, after.vy, after.vz, after.yaw)


def free_energy_slowly(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    return State(s.x + dt * s.vx, s.y + dt * s.vy, s.z, s.vx * (1.0 + 0.01 * dt), s.vy * (1.0 + 0.01 * dt), s.vz, s.yaw)


def with_integer(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    after = point_step(s, u, p, w, dt)
    return State(after.x * 2 / 2, after.y, after.z, after.vx, after.vy, after.vz, after.yaw)


def with_hidden_integer(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    after = point_step(s, u, p, w, dt)
    return State(select(after.x * 3 > s.y, after.x, s.x), after.y, after.z, after.vx, after.vy, after.vz, after.yaw)


def with_constant(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    after = point_step(s, u, p, w, dt)
    return State(after.x, after.y, 0.0, after.vx, after.vy, 0.0, after.yaw)


def divides_in_python(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    after = point_step(s, u, p, w, dt)
    inverse = 1.0 / maximum(u.vx - 100.0, 0.0)  # infinite in compiled code, an error in Python
    return State(select(inverse < 0.0, 0.0, after.x), after.y, after.z, after.vx, after.vy, after.vz, after.yaw)


def pose_with_loop(s: State, p: Parameters) -> Pose:
    for _ in range(3):
        pass
    return point_pose(s, p)


def place_aside(at: Placement, p: Parameters, w: Environment) -> State:
    sine, cosine = sincos(at.yaw)
    return State(at.x, at.y + 1.0, at.z, at.speed * cosine, at.speed * sine, 0.0 * at.x, at.yaw)


def guide_backwards(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    return Command(-d.vx, -d.vy, -d.vz)


def guide_nowhere(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    return Command(0.0 * d.vx, 0.0 * d.vy, 0.0 * d.vz)


def guide_with_tuple(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    return (d.vx, d.vy, d.vz)  # type: ignore[return-value]


class Speed(NamedTuple):
    vx: Annotated[float, Column("m/s", "velocity east")]


def report_of_speed(s: State, u: Command, p: Parameters, w: Environment) -> Speed:
    return Speed(s.vx)


class Share(NamedTuple):
    share: Annotated[float, Column("", "of the speed that is asked for")]


def report_of_share(s: State, u: Command, p: Parameters, w: Environment) -> Share:
    huge = 1e300 * (1.0 + u.vx * u.vx) * 1e300
    return Share(huge - huge)


def report_of_nothing(s: State, u: Command, p: Parameters, w: Environment) -> Share:
    return (s.vx,)  # type: ignore[return-value]


class Unlabelled(NamedTuple):
    gain: float = 1.0


class OutOfRange(NamedTuple):
    gain: Annotated[float, Column("", "a gain", low=0.0, high=1.0)] = 2.0


BROKEN: list[tuple[str, dict, str, str]] = [
    ("if", {"step": with_if}, "branch-free", r"with_if, line \d+: a branch \(if"),
    ("and", {"step": with_and}, "branch-free", r"with_and, line \d+: a branch"),
    ("inner", {"step": with_inner_ternary}, "branch-free", r"inner_ternary, line \d+: a branch"),
    ("loop", {"pose": pose_with_loop}, "branch-free", r"pose_with_loop, line \d+: a branch"),
    ("builtin", {"step": with_builtin}, "branch-free", r"with_builtin, line \d+: calls 'max'"),
    (
        "libm",
        {"step": with_libm},
        "declarations",
        r"test_conformance.py:\d+: libm_sin: use sin of paddock.compute.math",
    ),
    (
        "nan",
        {"step": nan_at_rest},
        "standstill",
        r"column 'yaw' becomes nan at standstill with default commands \(tick 1",
    ),
    (
        "stiff",
        {"step": stiff},
        "random commands",
        r"column 'vx' becomes -?(inf|nan) under random commands at dt = 0.1 s",
    ),
    (
        "tuple",
        {"guide": guide_with_tuple},
        "declarations",
        r"guide_with_tuple\(\) must return Command of numbers, not \(",
    ),
    ("python", {"step": divides_in_python}, "returns", r"ZeroDivisionError"),
    ("integer", {"step": with_integer}, "float32 twin", r"column 'x' of step\(\) is float64 .* \(2.0, not 2\)"),
    ("hidden", {"step": with_hidden_integer}, "float32 twin", r"computes with float64 .* \(2.0, not 2\)"),
    ("order", {"step": euler, "order": 2}, "convergence", r"the stated order is 2, the measured one (0\.9|1\.0)\d"),
    ("energy", {"step": free_energy_slowly}, "energy", r"with brake commands the energy grows from 12.5 to 12.6\d* J"),
    ("place", {"place": place_aside}, "place", r"column 'y' of the pose is off by 1 just after placing"),
    ("backwards", {"guide": guide_backwards}, "guide", r"guide\(\) ends up 180 degrees off"),
    ("nowhere", {"guide": guide_nowhere}, "guide", r"asked for 2.5 m/s, but it moves only 0 m/s"),
    ("twice", {"telemetry": ("vx", "vx")}, "declarations", r"telemetry names the column 'vx' twice"),
    ("kind", {"kind": "plane"}, "declarations", r"unknown kind 'plane'; valid: agent, aircraft"),
    ("unit", {"parameters": Unlabelled}, "declarations", r"Unlabelled.gain has no Column with its unit"),
    ("range", {"parameters": OutOfRange}, "declarations", r"OutOfRange.gain: default 2 lies outside 0 to 1"),
    ("half a report", {"report": report_of_speed}, "report", r"report and report_type belong together"),
    (
        "reported twice",
        {"report": report_of_speed, "report_type": Speed, "telemetry": ("vx",)},
        "report",
        r"the report's column 'vx' is in snapshots already",
    ),
    ("infinite", {"report": report_of_share, "report_type": Share}, "report", r"'share' becomes nan in report"),
    (
        "one report",
        {"report": report_of_nothing, "report_type": Share},
        "declarations",
        r"\.py:\d+: report_of_nothing\(\) must return Share of numbers, not \(1.0,\)",
    ),
    ("dt", {"dt_max": 2.0}, "declarations", r"dt_max 2 s must lie in \(0, 1\]"),
]


@pytest.mark.parametrize(("name", "change", "check", "message"), BROKEN, ids=[case[0] for case in BROKEN])
def test_broken_model_is_refused(name: str, change: dict, check: str, message: str) -> None:
    model: VehicleModel = replace(MODEL, name="point", **change)  # with the kernels of the functions that stay
    with pytest.raises(ConformanceError, match=message) as caught:
        check_vehicle_model(model)
    assert caught.value.check in check.split("|")
    assert str(caught.value).startswith(f"model 'point': {caught.value.check}: ")
    assert isinstance(caught.value, PaddockError)


def test_columns_that_do_not_exist_are_refused_where_they_are_named() -> None:
    with pytest.raises(UnknownNameError, match=r"\.py:\d+: unknown telemetry column 'vxx'; did you mean 'vx'\?$"):
        replace(MODEL, telemetry=("vxx",))
    with pytest.raises(UnknownNameError, match=r"\.py:\d+: unknown steady column 'gear'; valid: vx, vy, vz$"):
        replace(MODEL, steady=("gear",))


def test_energy_from_nothing_is_refused_at_rest_too() -> None:
    model = replace(MODEL, name="broken-push", step=free_energy)
    with pytest.raises(ConformanceError, match=r"energy grows from .* to .* J in"):
        check_vehicle_model(model)


def test_constants_need_no_type() -> None:
    flat = replace(MODEL, name="flat", step=with_constant, place=place_flat)
    assert "float32 twin" in check_vehicle_model(flat).details


def place_flat(at: Placement, p: Parameters, w: Environment) -> State:
    placed = point_place(at, p, w)
    return State(placed.x, placed.y, 0.0, placed.vx, placed.vy, 0.0, placed.yaw)


def bumped_twice(s: State, p: Parameters, b: Bump) -> State:
    return State(s.x + b.dx, s.y + b.dy, s.z + b.dz, s.vx + 2.0 * b.dvx, s.vy + b.dvy, s.vz + b.dvz, s.yaw)


def bumped_nowhere(s: State, p: Parameters, b: Bump) -> State:
    return State(s.x, s.y, s.z, s.vx + b.dvx, s.vy + b.dvy, s.vz + b.dvz, s.yaw)


def solid_nothing(p: Parameters) -> Body:
    return Body(0.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.0, 0.0)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"bumped": bumped_twice}, "a bump of dvx by 0.125 changes the velocity by 0.25 m/s"),
        ({"bumped": bumped_nowhere}, "a bump of dx shifts the pose by something else"),
        ({"body": solid_nothing}, "mass, moments of inertia and half_length of body.. must be greater than 0"),
    ],
)
def test_a_broken_contract_of_contact_is_found(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(PaddockError, match=problem):
        check_contact(Rig(replace(MODEL, name="point", **changes), 0))
