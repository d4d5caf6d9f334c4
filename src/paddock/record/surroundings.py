"""What viewers draw besides the samples, in the metadata of a recording: scenery, routes, the looks of fleets,
units of their columns, what the arrays of their sensors mean, radios and stations, the rules of a race.

A viewer without the models (the page, which opens recordings by itself) has no other way to know them. Files of earlier
versions lack some of it, or all.
"""

import json
import zlib
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any

from paddock.engine.columns import snapshot_columns
from paddock.engine.program import FleetProgram
from paddock.engine.radio.control import radio_tree
from paddock.engine.simulation import Simulation
from paddock.record.race import described_race
from paddock.sensing.suite import fleet_array_trees
from paddock.wire.radio_results import RadioTree

MOST_ROUTES = 200
SIDE = 200  # values per side of the ground, as the page requests
LARGEST = 64 * 2**20  # bytes of a scenery


def surroundings_of(sim: Simulation) -> dict[str, str]:
    """Return the metadata: `scenery` is compressed and in base64, everything else is JSON."""
    programs = sim.engine.programs.values()
    routes = [route for program in programs for route in program.control.routes()][:MOST_ROUTES]
    looks = {program.fleet.name: program.appearance() for program in programs}
    metadata = {
        "routes": json.dumps(
            [{**planned._asdict(), "ids": [], "points": planned.points.round(3).tolist()} for planned in routes]
        ),
        "looks": json.dumps(looks),
        "units": json.dumps({program.fleet.name: _units(program) for program in programs}),
    }
    arrays = {
        program.fleet.name: fleet_array_trees(program.published.layout(), program.sensors) for program in programs
    }
    if any(arrays.values()):
        metadata["arrays"] = json.dumps({name: trees for name, trees in arrays.items() if trees})
    radio = described_radio(sim)
    if radio is not None:
        metadata["radio"] = json.dumps({**radio, "section": _emitters(sim.scenario.to_dict()["radio"])})
    race = described_race(sim.scenario)
    if race is not None:
        metadata["race"] = json.dumps(race)
    scenery = sim.world.scenery(SIDE)
    if any(scenery[part] for part in ("ground", "obstacles", "roads", "track", "ground_z")):
        text = json.dumps({**scenery, "section": _section(sim.scenario.to_dict())}, separators=(",", ":"))
        metadata["scenery"] = b64encode(zlib.compress(text.encode(), 6)).decode("ascii")
    return metadata


def _units(program: FleetProgram) -> dict[str, str]:
    """Return the units of a fleet's columns, without those that have none."""
    sensors = {name: sensor.sensor for name, sensor in program.sensors.items()}
    columns = snapshot_columns(program.published.layout().columns, program.model, sensors)
    return {name: column.unit for name, column in columns.items() if column.unit}


def described_radio(sim: Simulation) -> RadioTree | None:
    """Return radios, stations, jammers, spoofers and counts of packets at this time; None without radio."""
    stage = sim.engine.radio
    if stage.settings is None:
        return None
    assert sim.radio is not None
    packets = sim.radio.traffic(), sim.radio.services()
    return radio_tree(stage.settings, stage.roster.radios, stage.emitters(), {}, *packets)


def _emitters(section: dict[str, Any]) -> dict[str, Any]:
    """Return the schedules, sweeps and vehicles of jammers and spoofers in the section `radio` of a scenario."""
    fields = ("name", "on", "sweep", "vehicle")
    kinds = {kind: section.get(kind, []) for kind in ("jammers", "spoofers")}
    return {
        kind: [{name: emitter[name] for name in fields if name in emitter} for emitter in some]
        for kind, some in kinds.items()
    }


def _section(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return `world.ground` without its maps: exact edges of friction patches, and the slope."""
    tree: dict[str, Any] = scenario.get("world", {}).get("ground", {})
    for name in ("height_map", "friction_map"):
        tree.get(name, {}).pop("values", None)
    return tree


def recorded_roads(metadata: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """Return the roads of a recording; None where it does not have them or they cannot be read."""
    if not metadata.get("scenery"):
        return [] if "looks" in metadata else None  # files with looks have a scenery where there is one
    try:
        unpacker = zlib.decompressobj()
        tree = json.loads(unpacker.decompress(b64decode(metadata["scenery"], validate=True), LARGEST))
    except (Base64Error, zlib.error, ValueError):
        return None
    roads = tree.get("roads") if isinstance(tree, dict) else None
    return roads if isinstance(roads, list) else None


def recorded_looks(metadata: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return preset and dimensions by fleet; empty where they are missing or cannot be read."""
    try:
        looks = json.loads(metadata.get("looks", "{}"))
    except ValueError:
        return {}
    entries = looks.items() if isinstance(looks, dict) else ()
    return {name: _look(look) for name, look in entries if isinstance(look, dict)}


def _look(look: Mapping[str, Any]) -> dict[str, Any]:
    preset, dimensions = look.get("preset"), look.get("dimensions")
    sizes = dimensions.items() if isinstance(dimensions, dict) else ()
    return {
        "preset": preset if isinstance(preset, str) else None,
        "dimensions": {name: size for name, size in sizes if isinstance(size, int | float)},
    }
