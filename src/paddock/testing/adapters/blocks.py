"""Several vehicles at once: blocks of rows say and do the same as one vehicle after the other."""

from __future__ import annotations

import numpy as np

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import blank_actuators, blank_sensors
from paddock.testing.adapters.rig import AdapterRig

MARK = -12345.0
"""What stands in a row before it is received."""


def check_blocks(rig: AdapterRig) -> str:
    """Rows in the order asked for, equal to what single calls give; a row without news stays."""
    count = rig.several()
    ids = tuple(range(count, 0, -1))
    together, single = rig.connected(count), rig.connected(count)
    wanted = blank_actuators(count)
    if rig.motion is not None:
        wanted[-1] = rig.motion.row  # of vehicle 1
    together.send_block(ids, wanted)
    for row, number in zip(wanted, ids, strict=True):
        single.send_actuators(ActuatorCommands(row), number)
    rig.step(together, 5)
    rig.step(single, 5)
    block = blank_sensors(count)
    together.receive_block(ids, block)
    if rig.deterministic:
        rig.same(
            block, np.array([rig.sensors(single, number).row for number in ids]), "between a block and single rows"
        )
    if together.supports_lockstep:
        block[:] = MARK
        together.receive_block(ids, block)
        if not (block == MARK).all():
            rig.fail("receive_block writes into a row without news: it has to stay as it was")
    wanted[0, 1] = np.nan
    rig.refuses("send_block with NaN", lambda: together.send_block(ids, wanted))
    return f"{count} rows, as from single calls"
