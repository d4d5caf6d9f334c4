"""What vehicles have heard, for behaviours: states of neighbours and of a target from beacons, numbers of messages.

A rule with the option `sees` uses the truth, the states as they were heard, or the heard states moved on at their
velocities to the present. States older than `beacons.keep` do not count. The first radio of a vehicle is the one that
sends and hears beacons.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.kernel import CompiledKernels, fields
from paddock.compute.neighbours import NeighbourSpec
from paddock.compute.routine import routine
from paddock.compute.threads import launch
from paddock.radio.packets.layout import (
    MAIL_ARRIVED,
    MAIL_NUMBERS,
    MAIL_SENT,
    MAIL_VALUES,
    VALUE_COUNT,
    Floats,
    Ints,
)

TRUTH, HEARD_STATES, PREDICTED = 0.0, 1.0, 2.0
STATE_FIELDS = ("x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz")  # of a beacon, after the time of sending
NO_TARGET = -1


class FleetHeard(NamedTuple):
    """What the vehicles of a fleet have heard by now; vehicle k has radio `first + k * slots`."""

    time: float  # s
    keep: float  # s: older states do not count
    first: int
    slots: int
    n: int
    who: Ints  # (radios, h) radio of each heard state, -1: none
    states: Floats  # (radios, h, 11) time of sending, position, quaternion, velocity
    mail_head: Ints  # of `PacketTables`, as the others
    mails: Ints
    mail: Ints
    mail_real: Floats


class HeardKernels(CompiledKernels):
    """The kernel that visits heard neighbours."""

    def __init__(self, spec: NeighbourSpec) -> None:
        self.spec = spec
        tuples = {"Seen": spec.seen, "Gathered": spec.gathered, "Options": spec.options, "Result": spec.result}
        text = heard_source(spec)
        super().__init__(f"{spec.name}-heard", text, {"visit": spec.visit, "finish": spec.finish}, tuples, "float64")

    def signatures(self) -> dict[str, tuple[Any, ...]]:
        """Return the Numba types of the arguments."""
        from numba import float64, int64, types

        table, fixed = types.Array(float64, 2, "C"), types.Array(float64, 2, "C", True)
        who, states, options = types.Array(int64, 2, "C"), types.Array(float64, 3, "C"), types.Array(float64, 1, "C")
        given = int64, fixed, float64, int64, int64, who, states, float64, float64, float64, options, table
        return {"visit_heard": given}


@lru_cache(maxsize=64)
def heard_kernels(spec: NeighbourSpec) -> HeardKernels:
    """Return the kernel of a spec, built once per process."""
    return HeardKernels(spec)


def visit_heard(
    spec: NeighbourSpec, poses: Floats, heard: FleetHeard, sees: float, radius: float, options: Floats, result: Floats
) -> None:
    """Visit, for each vehicle of a fleet, the vehicles of the same fleet that it has heard of within `radius` (m)."""
    poses = poses.view()
    poses.flags.writeable = False
    [kernel] = heard_kernels(spec).built(False)
    move_on = 1.0 if sees == PREDICTED else 0.0
    own = heard.n, poses, radius, heard.first, heard.slots, heard.who, heard.states
    launch(None, kernel, *own, heard.time, heard.keep, move_on, options, result)


def heard_source(spec: NeighbourSpec) -> str:
    """Return the Python source of the kernel."""
    seen = fields(spec.seen)
    rows = [fields(spec.source).index(f) for f in seen]
    there = {name: f"states[row, k, {STATE_FIELDS.index(name) + 1}]" for name in seen if name in STATE_FIELDS}
    there |= {"x": "x", "y": "y", "z": "z"}
    defaults = [repr(spec.gathered._field_defaults[f]) for f in fields(spec.gathered)]  # type: ignore[attr-defined]
    return SOURCE.format(
        me=", ".join(f"poses[{row}, i]" for row in rows),
        at=", ".join(f"poses[{row}, i]" for row in rows[:3]),
        other=", ".join(there.get(f, "0.0") for f in seen),
        start_values=", ".join(defaults),
        options=", ".join(f"options[{k}]" for k in range(len(fields(spec.options)))),
        store="\n".join(f"        result[{k}, i] = outcome.{f}" for k, f in enumerate(fields(spec.result))),
    )


SOURCE = """\
def visit_heard(n, poses, radius, first, slots, who, states, time, keep, move_on, options, result):
    reach = radius * radius
    opts = Options({options})
    for i in range(n):
        me = Seen({me})
        at_x, at_y, at_z = {at}
        gathered = Gathered({start_values})
        row = first + i * slots
        for k in range(who.shape[1]):
            j = who[row, k]
            age = time - states[row, k, 0]
            if j < first or j >= first + n * slots or age > keep:
                continue
            later = age * move_on
            x = states[row, k, 1] + states[row, k, 8] * later
            y = states[row, k, 2] + states[row, k, 9] * later
            z = states[row, k, 3] + states[row, k, 10] * later
            dx, dy, dz = x - at_x, y - at_y, z - at_z
            apart = dx * dx + dy * dy + dz * dz
            if apart < reach:
                gathered = visit(gathered, me, Seen({other}), dx, dy, dz, apart, opts)
        outcome = finish(gathered, me, opts)
{store}
"""


def _targets(
    rows: Any, aims: Any, first: int, slots: int, who: Any, states: Any, time: float, keep: float, move_on: float,
    poses: Any, found: Any,
) -> None:  # fmt: skip
    """Write the pose of each vehicle's target as it was last heard; `found` is its column, -1 if it was not."""
    for k in range(len(rows)):
        row, found[k] = first + rows[k] * slots, NO_TARGET
        for m in range(who.shape[1]):
            age = time - states[row, m, 0]
            if who[row, m] == aims[k] and age <= keep:
                found[k] = k
                for c in range(10):
                    poses[c, k] = states[row, m, c + 1]
                for c in range(3):
                    poses[c, k] += states[row, m, c + 8] * age * move_on


find_heard_targets = routine(_targets)


def heard_targets(heard: FleetHeard, rows: Ints, aims: Ints, sees: float, pose_rows: int) -> tuple[Floats, Ints]:
    """Return the heard poses (pose_rows, k) of targets, radios `aims` (k,), of vehicles `rows`, and their columns."""
    poses, found = np.zeros((pose_rows, len(rows))), np.zeros(len(rows), np.int64)
    move_on = 1.0 if sees == PREDICTED else 0.0
    given = rows, aims, heard.first, heard.slots, heard.who, heard.states, heard.time, heard.keep, move_on
    find_heard_targets(*given, poses, found)
    return poses, found


def _newest(
    rows: Any, first: int, slots: int, time: float, mail_head: Any, mails: Any, mail: Any, mail_real: Any, age: int,
    out: Any,
) -> None:  # fmt: skip
    """Write the numbers of the newest message with numbers that has arrived at each vehicle to `out` (columns, k).

    The row `age` (-1: none) is the time since that message was sent. Values before the first message stay.
    """
    room = mail_real.shape[1]
    for k in range(len(rows)):
        newest = -1.0
        for i in range(first + rows[k] * slots, first + (rows[k] + 1) * slots):
            for m in range(mails[i]):
                at = (mail_head[i] + m) % room
                arrived = mail_real[i, at, MAIL_ARRIVED]
                if mail[i, at, MAIL_NUMBERS] > 0 and arrived <= time and arrived >= newest:
                    newest = arrived
                    value = 0
                    for c in range(out.shape[0]):
                        if c == age:
                            out[c, k] = time - mail_real[i, at, MAIL_SENT]
                        elif value < VALUE_COUNT:
                            out[c, k] = mail_real[i, at, MAIL_VALUES + value]
                            value += 1


newest_numbers = routine(_newest)
