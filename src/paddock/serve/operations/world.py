"""Operations that read the state between two ticks, show markers, and replace the scenario."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from paddock import __version__
from paddock.errors import PaddockError, unknown_name
from paddock.scenario import Scenario, ScenarioError
from paddock.serve.describe import inspected_tree
from paddock.serve.live import changes_with
from paddock.serve.mirror import marker_from_tree, placed_tree
from paddock.serve.protection.checker import MOST_TEXT, beyond_limits, read
from paddock.serve.protection.trust import foreign_names
from paddock.serve.protection.trust import known_names as names_in_use
from paddock.track.loading import track_of, track_tree
from paddock.wire.results import (
    InspectedTree,
    MetadataTree,
    PlacedMarkerTree,
    ScenarioText,
    SeriesTree,
    TransformTree,
)
from paddock.world.archive import copied, pack
from paddock.world.columns import column_index

if TYPE_CHECKING:
    from paddock.engine.pacing import Pacer
    from paddock.record.player import Player
    from paddock.serve.host import Source
    from paddock.serve.live import LiveSource

Copied = Callable[[], Any]  # computes a result, in another thread, from what was copied between two ticks


def _described(run: LiveSource) -> tuple[Any, ...]:
    """Return what changes with the fleets, their behaviours, the clock and its owner."""
    world, clock = run.sim.engine.world, run.sim.clock
    behaviours = [program.control.behaviour for program in run.sim.engine.programs.values()]
    rules = [behaviour.rule.name if behaviour else "" for behaviour in behaviours]
    return (
        world.run,
        world.roster_version,
        rules,
        clock.pace,
        clock.paused,
        run.owner.client,
        run.changes if clock.paused else 0,
    )


def _scenery(run: LiveSource) -> tuple[Any, ...]:
    """Return what changes with the scenario and the fleets."""
    return run.sim.engine.world.run, run.sim.engine.world.roster_version, id(run.sim.scenario)


@changes_with(_described)
def metadata(run: LiveSource, client: str) -> Copied:
    engine = run.sim.engine
    world, programs, layout = engine.world, list(engine.programs.values()), engine.publisher.layout()
    scenario, clock, seed, number = run.sim.scenario, run.sim.clock, world.seed, world.run

    def describe() -> MetadataTree:
        tree = metadata_tree(run, client, scenario, clock, seed, number, run.described.scenario(scenario))
        return {**tree, "can_load": run.director is not None, "fleets": run.described.fleets(programs, layout)}

    return describe


@changes_with(_scenery)
def scenery(run: LiveSource, client: str, side: int = 128) -> Copied:
    return partial(run.sim.world.scenery, side)


def standings(run: LiveSource, client: str) -> Copied | None:
    rules = run.sim.engine.parts.rules
    if not rules.active:
        return None
    compute = rules.standings_later()
    return lambda: compute().to_dict()


@changes_with(_scenery)
def track(run: LiveSource, client: str) -> Copied:
    scenario = run.sim.scenario

    def describe() -> dict[str, Any] | None:
        race_track = track_of(scenario.track)
        return None if race_track is None else track_tree(race_track, scenario.contact is not None)

    return describe


def metadata_tree(
    source: Source,
    client: str,
    scenario: Scenario,
    clock: Pacer | Player,
    seed: int,
    run: int,
    scenario_tree: dict[str, Any],
) -> MetadataTree:
    """Return the metadata that live simulations and recordings have in common."""
    return {
        "name": scenario.name,
        "description": scenario.description,
        "seed": seed,
        "rate": source.rate,
        "pace": clock.pace,
        "paused": clock.paused,
        "run": run,
        "version": __version__,
        "client": client,
        "owner": source.owner.client,
        "locked": source.owner.locked,
        "can_load": False,
        "scenario": scenario_tree,
        "fleets": [],
        "recording": None,
        "web": source.addresses.get("web"),
    }


def snapshot(run: LiveSource, client: str, roster: bool = False) -> dict[str, Any]:
    present = run.publish_present()
    return {"tick": present.tick, "run": present.run, "roster": present.roster}


def inspect(
    run: LiveSource, client: str, target: str | int, page: bool = False
) -> InspectedTree | dict[str, dict[str, Any]]:
    """Return plain values, or for the page values with the meaning of their columns."""
    return inspected_tree(run.sim, target) if page else run.sim.vehicles.inspect(target)


def series(
    run: LiveSource,
    client: str,
    target: str | int,
    columns: list[str],
    start: float | None = None,
    end: float | None = None,
) -> SeriesTree:
    raise PaddockError("series refused: this is a live simulation; only a recording has series")


@changes_with(_scenery)
def parameter(run: LiveSource, client: str, target: str, name: str) -> Any:
    programs = run.sim.engine.programs
    if target not in programs:
        raise unknown_name("fleet", target, programs)
    columns = column_index(programs[target].model.parameters)
    if name not in columns:
        raise unknown_name(f"parameter of {programs[target].model.name}", name, columns)
    return programs[target].parameters.column(name)


def state_hash(run: LiveSource, client: str) -> str:
    return run.sim.engine.state_hash()


def save(run: LiveSource, client: str) -> Copied:
    """Copy the state between two ticks; another thread packs it."""
    return partial(pack, copied(run.sim.engine.saved_state()))


def log(run: LiveSource, client: str, complete: bool = True) -> Copied:
    entries = run.sim.control.log.complete() if complete else list(run.sim.control.log.entries)
    return lambda: [posted.to_tree() for posted in entries]


def transform(run: LiveSource, client: str, target: str, source: str, time: float | None = None) -> TransformTree:
    pose = run.sim.world.frames.transform(target, source, time)
    return TransformTree({"position": pose.position.tolist(), "quaternion": pose.quaternion.tolist()})


def routes(run: LiveSource, client: str) -> Copied:
    """Copy where each vehicle is on its route; another thread computes the points."""
    compute = run.sim.behaviours.routes_later()
    return lambda: [route._asdict() for route in compute()]


@changes_with(lambda run: (run.sim.engine.world.run, run.sim.events.count))
def events(run: LiveSource, client: str, since: int = 0) -> Copied:
    newer = run.sim.events.since(since)
    return lambda: [dict(vars(event)) for event in newer]


def put_markers(run: LiveSource, client: str, markers: list[dict[str, Any]]) -> None:
    """Show markers; a marker in an unknown or stale frame is refused."""
    limits = run.limits.points, run.limits.points_in_all
    run.sim.world.markers.put(*map(marker_from_tree, markers), source=client, limits=limits)


def delete_markers(
    run: LiveSource, client: str, namespace: str | None = None, number: int | list[int] | None = None
) -> None:
    """Remove markers; a list removes several markers of one namespace."""
    for marker_id in number if isinstance(number, list) else [number]:
        run.sim.world.markers.remove(namespace, marker_id)


def placed_markers(run: LiveSource, client: str, hidden: bool = False) -> list[PlacedMarkerTree]:
    shown = run.sim.world.markers.alive(hidden=hidden)
    more = ({"since": placed.since, "source": placed.source} for placed in shown)
    return [PlacedMarkerTree({**placed_tree(placed), **own}) for placed, own in zip(shown, more, strict=True)]


@changes_with(lambda run: id(run.sim.scenario))
def running_scenario(run: LiveSource, client: str) -> ScenarioText:
    return {"name": run.sim.scenario.name, "text": shown_text(run.sim.scenario)}


@changes_with(_scenery)
def known_names(run: LiveSource, client: str) -> dict[str, list[str]]:
    return names_in_use(run.sim)


def switch_scenario(run: LiveSource, client: str, text: str) -> list[str]:
    """Switch the scenario; only a run started by `paddock run` or `demo` can do that."""
    if run.director is None:
        raise PaddockError("load refused: scenario switching is disabled for this run; use paddock run or paddock demo")
    run.owner.check(client, "load")
    scenario = read(text)
    if foreign := foreign_names(scenario, names_in_use(run.sim)):
        raise ScenarioError(foreign)
    if beyond := beyond_limits(scenario, run.limits):
        raise ScenarioError(beyond)
    run.push("preparing", {"text": f"starting {scenario.name}"})
    run.director(scenario)
    return list(scenario.left_out)


def shown_text(scenario: Scenario) -> str:
    """Return the text of a scenario for clients, without its token."""
    if scenario.serve is not None and scenario.serve.token is not None:
        scenario = scenario.model_copy(update={"serve": None})
        text = scenario.to_yaml()
    else:
        text = scenario.to_text()
    if len(text) > MOST_TEXT:
        raise PaddockError(f"the scenario's text is too long to send: {len(text):,} characters")
    return text
