"""The parameters of missions, the same for every craft."""

from __future__ import annotations

from paddock.sitl.autopilot.parameters import Parameter, ParamKind

MISSION_PARAMETERS = (
    Parameter("MIS_RESTART", 0, 0, 1, ParamKind.INT8, "entering AUTO: 0 goes on where it was, 1 begins anew"),
)
