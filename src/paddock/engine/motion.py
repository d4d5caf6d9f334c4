"""Where a fleet's dynamics are computed: on the CPU's threads, or on a GPU that keeps the state between ticks."""

from __future__ import annotations

from typing import Any, Protocol

from paddock.compute.kernel import KernelSpec, kernel
from paddock.world.columns import Floats
from paddock.world.fleet import Fleet


class Motion(Protocol):
    """Advances a fleet."""

    def __init__(self, spec: KernelSpec) -> None:
        """For the step kernel of a model."""

    def move(self, fleet: Fleet, ticks: int, parameters: tuple[Floats, ...], environment: Floats, dt: float) -> None:
        """All vehicles by that many ticks."""


class CpuMotion:
    """In place, in compiled parallel code."""

    def __init__(self, spec: KernelSpec) -> None:
        self._kernel = kernel(spec)

    def move(self, fleet: Fleet, ticks: int, parameters: tuple[Floats, ...], environment: Floats, dt: float) -> None:
        """One launch."""
        self._kernel(fleet.n, ticks, fleet.state, fleet.tables["command"], *parameters, environment, dt)


class CudaMotion:
    """On a GPU: the state stays there until somebody looks at the fleet's own tables."""

    def __init__(self, spec: KernelSpec) -> None:
        from paddock.compute.cuda import cuda_kernel, to_device

        self._kernel = cuda_kernel(spec)
        self._to_device = to_device
        self._state: Any = None
        self._command: Any = None
        self._constants: Any = None

    def move(self, fleet: Fleet, ticks: int, parameters: tuple[Floats, ...], environment: Floats, dt: float) -> None:
        """One launch; what the host may have changed is sent first."""
        if fleet.bring_back is None:
            self._state = self._to_device(fleet.state)
            self._constants = [self._to_device(values) for values in (*parameters, environment)]
        if fleet.command_changed:
            self._command = self._to_device(fleet.command)
            fleet.command_changed = False
        self._kernel(fleet.n, ticks, self._state, self._command, *self._constants, dt)
        fleet.bring_back = lambda: self._state.copy_to_host(fleet.tables["state"])


MOTIONS: dict[str, type[Motion]] = {"cpu": CpuMotion, "cuda": CudaMotion}
"""The devices by name."""
