"""Simulated time: exact, monotonic, at rest between steps, begun anew by a reset, and the same in every run."""

from __future__ import annotations

from time import sleep

from paddock.testing.adapters.rig import AdapterRig

STEPS = 50


def check_time(rig: AdapterRig) -> str:
    """Time never falls; in lockstep it advances by what was asked for, and by nothing else."""
    adapter = rig.connected()
    before = adapter.sim_time_us
    for _ in range(STEPS):
        rig.step(adapter)
        now = adapter.sim_time_us
        if not isinstance(now, int):
            rig.fail(f"sim_time_us is {now!r}, not a whole number of us")
        if now < before:
            rig.fail(f"sim_time_us fell from {before} to {now}")
        if adapter.supports_lockstep and now - before != rig.step_us:
            rig.fail(f"step({rig.step_us}) advanced the time by {now - before} us")
        before = now
    sleep(0.03)
    if adapter.supports_lockstep and adapter.sim_time_us != before:
        rig.fail(f"time passes by itself: {adapter.sim_time_us - before} us without a step")
    exact = "exactly" if adapter.supports_lockstep else "at least 0 us"
    return f"{STEPS} steps of {rig.step_us} us, {exact}"


def check_reset(rig: AdapterRig) -> str:
    """After a reset time is 0, the vehicles are there, and a run that can be repeated is."""
    adapter = rig.connected(rig.several())
    vehicles = adapter.vehicles
    first = rig.record(adapter, STEPS, rig.motion)
    adapter.reset()
    if adapter.supports_lockstep and adapter.sim_time_us != 0:
        rig.fail(f"sim_time_us is {adapter.sim_time_us} after reset(), not 0")
    if adapter.vehicles != vehicles or not adapter.is_connected:
        rig.fail(f"after reset() the vehicles are {adapter.vehicles!r}, not {vehicles!r}")
    second = rig.record(adapter, STEPS, rig.motion)
    if rig.deterministic:
        rig.same(first, second, "after reset()")
    return "time 0, the same vehicles" + (", the same run again" if rig.deterministic else "")


def check_determinism(rig: AdapterRig) -> str:
    """Two adapters that are made alike and treated alike say the same."""
    if not rig.deterministic:
        return "not claimed"
    first, second = (rig.record(rig.connected(), STEPS, rig.motion) for _ in range(2))
    rig.same(first, second, "between two runs")
    return f"{STEPS} rows equal bit for bit"
