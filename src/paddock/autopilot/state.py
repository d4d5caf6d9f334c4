"""The state of a built-in autopilot: the fields of its objects, and its rows of the arrays of its group.

What its classes declare is saved (`paddock.world.records` says how), so that a new mode needs no further code.
"""

from collections import deque
from collections.abc import Mapping
from copy import copy
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from annotated_types import Len

from paddock.autopilot.estimator import FilterArrays, filter_arrays
from paddock.autopilot.group import ARMED, CONTROLLED, DECIDED, NOW, REBOOT, ControlArrays, control_arrays
from paddock.autopilot.mission import FIRST, MissionExecutor
from paddock.autopilot.mission_items import ITEM_KINDS, MissionItem, PlanKind, Role
from paddock.autopilot.parameters import single
from paddock.autopilot.telemetry import Notice
from paddock.autopilot.vehicle_data import Floats
from paddock.errors import InvalidValueError
from paddock.world.parts import VEHICLE, ArrayLeaf, adopt_fields, child, fields_of, fresh, part, record

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

OUTBOX_LENGTH = 200  # the oldest notices are dropped
Rows = TypeVar("Rows", FilterArrays, ControlArrays)


def _outbox() -> deque[Notice]:
    return deque(maxlen=OUTBOX_LENGTH)


@part
class AutopilotState:
    """The state of one built-in autopilot, which holds it; the arrays are its rows of those of its group."""

    autopilot: "BuiltInAutopilot"
    flight: Any = fields_of()  # of the autopilot
    estimator: Any = fields_of()
    parameters: Any = fields_of()
    outbox: deque[Notice] = record(Annotated[deque[Notice], Len(0, OUTBOX_LENGTH)], _outbox, hashed=False)
    filters: FilterArrays = child()
    controls: ControlArrays = child()

    @classmethod
    def of(cls, autopilot: "BuiltInAutopilot") -> "AutopilotState":
        """Return a fresh part of an autopilot."""
        state = fresh(cls, autopilot=autopilot)
        state.flight, state.estimator, state.parameters = autopilot, autopilot.estimator, autopilot.parameters
        state.filters, state.controls = filter_arrays(1), control_arrays(1, autopilot._vehicle_type.widths)
        return state

    def show_rows(self) -> None:
        """Have the autopilot's present rows."""
        pilot = self.autopilot
        self.filters, self.controls = row_of(pilot.estimator.arrays, pilot.index), row_of(pilot.controls, pilot.index)

    def resume(self) -> None:
        """Let the autopilot continue from this state, which is loaded and checked."""
        pilot = self.autopilot
        adopt_fields(self)
        for own, shared in ((self.filters, pilot.estimator.arrays), (self.controls, pilot.controls)):
            for values, rows in zip(own, shared, strict=True):
                rows[pilot.index] = values[0]
        self.show_rows()
        pilot.resume(self)

    def check(self, state: Any) -> None:
        """Check what belongs together: vehicle type, mode, plans, mission, parameters, times."""
        self._check_parameters()
        self._check_status(self.controls.status)
        pilot, flight = self.autopilot, self.flight.values
        vehicle, mode = flight["vehicle"], flight["mode"]
        if type(vehicle) is not type(pilot.vehicle) or vehicle.modes.get(type(mode).number) is not type(mode):
            raise InvalidValueError(f"{type(mode).__name__} is no mode of a {pilot.vehicle.kind}")
        if flight["plans"].keys() != set(PlanKind):
            raise InvalidValueError("there is one plan of each kind")
        for kind, items in flight["plans"].items():
            result, index = pilot.check_plan(kind, items)
            if result:
                raise InvalidValueError(f"{kind.name.lower()} plan: item {index} is not valid")
        _check_progress(pilot, flight["executor"])

    def _check_parameters(self) -> None:
        known, values, saved = (
            self.autopilot.parameters,
            self.parameters.values["_values"],
            self.parameters.values["_saved"],
        )
        if [*values] != known.names() or not saved.keys() <= values.keys():
            raise InvalidValueError("the parameters are not those of this vehicle type")
        for name, value in [*values.items(), *saved.items()]:
            parameter = known.known(name)
            if value not in (parameter.fit(value), single(parameter.default)):
                raise InvalidValueError(f"parameter {name} cannot be {value}")

    def _check_status(self, rows: Floats) -> None:
        status = rows[0].tolist()
        times = status[NOW], status[CONTROLLED], status[DECIDED]
        if not all(map(isfinite, status)) or not 0.0 <= max(times) <= status[NOW] or min(times) < -1.0:
            raise InvalidValueError("the times of the status are not valid")
        if self.flight.values["_armed"] != bool(status[ARMED]) or {status[ARMED], status[REBOOT]} - {0.0, 1.0}:
            raise InvalidValueError("the status is not valid")


def row_of(arrays: Rows, row: int) -> Rows:
    """Return the arrays of one vehicle as views of its row in those of several."""
    own: Any = copy(arrays)
    own.n, own.sizes = 1, {**arrays.sizes, VEHICLE: 1}  # type: ignore[attr-defined]
    leaves: Mapping[str, Any] = own.leaves
    for name in (name for name, leaf in leaves.items() if isinstance(leaf, ArrayLeaf)):
        setattr(own, name, getattr(arrays, name)[row : row + 1])
    return own  # type: ignore[no-any-return]


def _check_progress(autopilot: "BuiltInAutopilot", executor: MissionExecutor) -> None:
    """Check a mission in progress: items, and indices of items."""
    items: tuple[MissionItem, ...] = tuple(executor.items)
    if autopilot.check_plan(PlanKind.MISSION, items)[0] or not 0 <= executor.current <= max(len(items) - 1, 0):
        raise InvalidValueError("the current item of the mission is not valid")
    leg = executor._leg
    begun = [] if leg is None else [leg.sequence]
    if not all(FIRST <= k < len(items) for k in (*begun, *executor._jumps, *executor.actions.waiting)):
        raise InvalidValueError("the mission in progress has an item that does not exist")
    roles = [ITEM_KINDS[items[k].command].role for k in begun]
    if any(role is not Role.NAV for role in roles):
        raise InvalidValueError("the mission in progress does not match its items")
