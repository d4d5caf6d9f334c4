"""How a vehicle of this world joins an adapter: spawned with what its craft needs, or looked at if it is there."""

from __future__ import annotations

from math import pi

from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError, unknown_name
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.airframe import find_airframe
from paddock.sitl.equipment.standard_sensors import equipped
from paddock.sitl.equipment.standard_vehicles import VEHICLES
from paddock.world.frames import convert_position


def spawn(sim: Simulation, vehicle: Placed, imu_rate: float | None) -> None:
    """A vehicle of that craft, measured where it stands; `imu_rate` in Hz, None: the craft's own."""
    if vehicle.craft not in VEHICLES:
        raise AdapterError(str(unknown_name("craft", vehicle.craft, VEHICLES)))
    east, north, up = map(float, convert_position(vehicle.position, "ned", "enu"))
    entry = {**VEHICLES[vehicle.craft], "name": vehicle.name, "pose": [east, north, up, 0.5 * pi - vehicle.heading]}
    try:
        sim.spawn(**equipped(entry, vehicle.craft, imu_rate, sim.engine.world.clock.rate))
    except PaddockError as error:
        raise AdapterError(f"vehicle {vehicle.id}: {error}") from None
    _sense_first(sim, vehicle.name)


def _sense_first(sim: Simulation, name: str) -> None:
    """Who has just come is measured where it stands, as far as its sensors are due."""
    program, _ = sim.engine.applier.found(name)
    for sensor in program.sensors.values():
        if sensor.due(sim.tick) == sim.tick:
            poses, streams = program.pose_block(sim.tick), program.fleet.tables["streams"]
            sensor.sample(
                sim.tick, poses, program.fleet.n, streams, sim.engine.world.environment, sim.engine.world.seed
            )


def check(sim: Simulation, vehicle: Placed) -> None:
    """One vehicle, with an airframe and an IMU, that no rule drives; anything else is an AdapterError."""
    try:
        program, rows = sim.engine.applier.found(vehicle.name)
    except PaddockError as error:
        raise AdapterError(f"vehicle {vehicle.id}: {error}") from None
    if len(rows) != 1:
        raise AdapterError(f"{vehicle.name!r} is a fleet of {len(rows)}: name one member, e.g. {vehicle.name}[0]")
    if "imu" not in program.sensors:
        raise AdapterError(f"{vehicle.name!r} has no imu: give its entry sensors: [imu, ...]")
    driver = program.driver(int(rows[0]))
    if driver is not None:
        raise AdapterError(f"{vehicle.name!r} is driven by its {driver[0]} {driver[1]!r}")
    find_airframe(program.model)(program)


def imu_period_us(sim: Simulation, name: str) -> int:
    """Simulated us from one sample of its IMU to the next, rounded down."""
    program, _ = sim.engine.applier.found(name)
    return int(program.sensors["imu"].period * 1e6 / sim.engine.world.clock.rate)
