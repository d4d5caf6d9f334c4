"""What a dynamic car shows beside its pose: accelerations, and what its tyres do."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from paddock.world.columns import Column


class Report(NamedTuple):
    """Forces act on the car, in the axes of the wheels they act through (the front ones are turned by the steering)."""

    ax: Annotated[float, Column("m/s2", "force over mass, forward, of the last tick")]
    ay: Annotated[float, Column("m/s2", "force over mass, to the left")]
    load_fl: Annotated[float, Column("N", "half the front axle's load: lateral transfer is not modelled")]
    load_fr: Annotated[float, Column("N", "half the front axle's load")]
    load_rl: Annotated[float, Column("N", "half the rear axle's load")]
    load_rr: Annotated[float, Column("N", "half the rear axle's load")]
    slip_angle_front: Annotated[float, Column("rad", "slip angle of the front contacts, positive pushes left")]
    slip_angle_rear: Annotated[float, Column("rad", "slip angle of the rear contacts, positive pushes left")]
    force_x_front: Annotated[float, Column("N", "force of the front axle along its wheels")]
    force_y_front: Annotated[float, Column("N", "force of the front axle across its wheels, to the left")]
    force_x_rear: Annotated[float, Column("N", "force of the rear axle along its wheels")]
    force_y_rear: Annotated[float, Column("N", "force of the rear axle across its wheels, to the left")]
