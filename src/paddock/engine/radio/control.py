"""The radio of a simulation, `sim.radio`: links, budgets of single links, stations and jammers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from paddock.compute.twin import vectorised
from paddock.engine import actions
from paddock.engine.radio.denied import DENIED
from paddock.engine.radio.message_control import MessageControl
from paddock.engine.radio.silent import DAMAGED
from paddock.engine.radio.stage import RadioStage
from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.budget import LinkBudget, link_budget
from paddock.radio.link_update import far_interference
from paddock.radio.links import Links
from paddock.radio.radios import COLUMN, Floats, Radios
from paddock.radio.signal import decibels, power_ratio
from paddock.radio.survey import CoverageGrid, HeardLevels, RadioSurvey, Spectrum
from paddock.radio.views import CommandTraffic, JammerView, RadioReport, SpooferView, Station, VehicleTelemetry

if TYPE_CHECKING:
    from paddock.engine.engine import Engine


View = TypeVar("View")


class RadioControl(MessageControl):
    """The radio of a simulation."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self.jammers: EmitterControl[JammerView] = EmitterControl(engine, "jammer", self._jammers)
        self.spoofers: EmitterControl[SpooferView] = EmitterControl(
            engine, "spoofer", lambda: engine.radio.satellites.views()
        )

    @property
    def _stage(self) -> RadioStage:
        self._engine.thread.refuse_elsewhere("radio")
        return self._engine.radio

    def _jammers(self) -> list[JammerView]:
        return self._engine.radio.jammer_views()

    @property
    def radios(self) -> Radios:
        """The table of radios; the numbers in `links()` are its columns."""
        return self._stage.roster.radios

    def links(self) -> Links:
        """Return the links of the last update; rows of transmitters that each receiver hears."""
        stage = self._stage
        _ = stage.roster
        return stage.links

    def name(self, radio: int) -> str:
        """Return the vehicle or station of a radio by its number; `red/1` is the second radio of `red`."""
        count = self.radios.n
        if isinstance(radio, bool) or not isinstance(radio, int | np.integer) or not 0 <= radio < count:
            raise InvalidValueError(f"name: a radio is a number from 0 to {count - 1}, not {radio!r:.40}")
        return self._stage.name_of(int(radio))

    def number(self, name: str | int) -> int:
        """Return the number of a radio by the name or id of its vehicle, or the name of its station."""
        return self._stage.number_of(name)

    def link(self, source: str | int, to: str | int) -> LinkBudget:
        """Return the budget of the link from one radio to another at the present positions.

        Interference and jamming are those of the last update.
        """
        stage = self._stage
        roster = stage.roster
        i, j = stage.number_of(to), stage.number_of(source)
        if i == j:
            raise InvalidValueError(f"{source!r} and {to!r} are the same radio")
        stage.locate()
        links = stage.links
        row = slice(int(links.start[i]), int(links.start[i + 1]))
        at = np.flatnonzero(links.peer[row] == j)
        up, collisions = bool(len(at)) and bool(links.up[row][at[0]]), None
        if len(at) and links.collisions.shape[1]:
            entry = row.start + int(at[0])
            calm, load = links.collisions[:, entry].tolist()
            collisions = power_ratio(float(links.power[entry]) - calm), load
        around = float(links.interference[i]), float(links.jamming[i]), links.bursts, collisions
        given = roster.radios, roster.classes, roster.paths, i, j, *around, up
        found = link_budget(*given, stage.name_of(j), stage.name_of(i))
        if stage.silent.mask[[i, j]].any():
            return found._replace(up=False, per=1.0, capacity=0.0, throughput=0.0, mismatch=DAMAGED)
        share, power, limit = stage.denied.of(roster.radios, links, j)
        found = found._replace(throughput=(1.0 - share) * found.throughput, denied=share, denying=power, energy=limit)
        if share < 1.0 or found.mismatch:
            return found
        return found._replace(up=False, per=1.0, capacity=0.0, mismatch=DENIED)

    def commands(self, vehicle: str | int) -> CommandTraffic:
        """Return the counts of commands that went to a vehicle or fleet over the radio."""
        self._engine.thread.refuse_elsewhere("commands()")
        return self._engine.radio.uplink.traffic(*self._engine.applier.found(vehicle))

    def telemetry(self, vehicle: str | int) -> VehicleTelemetry:
        """Return the newest state of a vehicle that has arrived at its station over the radio, with its age."""
        self._engine.thread.refuse_elsewhere("telemetry()")
        program, rows = self._engine.applier.found(vehicle)
        if len(rows) != 1:
            raise PaddockError(f"{vehicle!r} is a fleet of {len(rows)}: name one vehicle, e.g. {vehicle}[0]")
        assert self._engine.radio.telemetry is not None
        return self._engine.radio.telemetry.newest(program, int(rows[0]))

    @property
    def stations(self) -> list[Station]:
        """The ground stations, in the order of their names."""
        radios = self.radios
        found: dict[str, Station] = {}
        for k, name in enumerate(radios.stations):
            x, y, z = radios.table[:3, radios.carried + k].tolist()
            known = found.get(name)
            found[name] = Station(name, (x, y, z), 1 if known is None else known.radios + 1)
        return list(found.values())

    def noise(self) -> Floats:
        """Return the noise of every receiver, dBm."""
        radios = self.radios
        found: Floats = vectorised(decibels)(radios.table[COLUMN.noise, : radios.n])
        return found

    def survey(self) -> RadioSurvey:
        """Return a copy of all transmitters, with which any thread can compute coverage and spectra."""
        return self._stage.survey()

    def coverage(
        self,
        of: str | int | None = None,
        receiver: str | int | None = None,
        x: float | None = None,
        y: float | None = None,
        size: float | None = None,
        side: int = 64,
        height: float = 2.0,
    ) -> CoverageGrid:
        """Return power, SINR, jamming and PER on a square of `size` m around x, y, `height` m above the ground.

        SINR and jamming are means over time; the packet error rate is that under the bursts of jammers. `of` is a
        station or vehicle: by default all stations, or all vehicles where there are none (of more than 200, the nearest
        to each part of the square). `receiver` is a fleet, a vehicle or a station, by default the first fleet.
        """
        stage = self._stage
        return stage.survey().coverage(*stage.surveyed(of, receiver, x, y, size), side, height)

    def levels(self, places: Any, of: str | int | None = None, receiver: str | int | None = None) -> HeardLevels:
        """Return received power, SINR, jamming and PER at places (n, 3), m; `of` and `receiver` as for `coverage`."""
        try:
            at = np.ascontiguousarray(np.asarray(places, np.float64).T)
        except (TypeError, ValueError):
            raise InvalidValueError(f"places are finite numbers of shape (n, 3), not {places!r:.60}") from None
        if at.ndim != 2 or len(at) != 3:
            raise InvalidValueError(f"places are finite numbers of shape (n, 3), not {np.shape(places)}")
        if not np.isfinite(at).all():
            wrong = int(np.flatnonzero(~np.isfinite(at).all(axis=0))[0])
            raise InvalidValueError(f"places are finite numbers; place {wrong} is {at[:, wrong].tolist()}")
        stage = self._stage
        return stage.survey().at(*stage.surveyed(of, receiver, 0.0, 0.0, 1.0)[:2], at)

    def spectrum(self, receiver: str | int, span: float | None = None, bins: int = 96) -> Spectrum:
        """Return the power by frequency at a radio, over `span` Hz; by default four bandwidths."""
        stage = self._stage
        return stage.survey().spectrum(stage.number_of(receiver), span, bins)

    def report(self) -> RadioReport:
        """Return counts of the last update, and a bound of what pruning leaves out."""
        stage = self._stage
        roster, links = stage.roster, stage.links
        noise = roster.radios.table[COLUMN.noise, : roster.radios.n]
        known = noise + links.interference + links.jamming
        far = far_interference(roster.update)
        worst = float(decibels(float((1.0 + far / known).max()))) if len(far) else 0.0
        jammed = int(stage.jammed_now().sum())
        counts = roster.radios.n, len(links.peer), int(links.up.sum()), stage.ups, stage.downs
        return RadioReport(links.tick, *counts, worst, int(links.outside.sum()), jammed, stage.rate)


class EmitterControl(Generic[View]):
    """The jammers or the spoofers of a simulation: `sim.radio.jammers`, `sim.radio.spoofers`."""

    def __init__(self, engine: "Engine", kind: str, views: Callable[[], list[View]]) -> None:
        self._engine, self._kind, self._views = engine, kind, views

    def __call__(self) -> list[View]:
        """Return all of them, in the order of their names."""
        self._engine.thread.refuse_elsewhere(f"{self._kind}s()")
        return self._views()

    def set(self, name: str, *, at_tick: int | None = None, source: str = "", **changes: Any) -> None:
        """Change one, immediately or at `at_tick`; links and signals follow with the next update. From any thread.

        `on` (bool) switches it, whatever its schedule; `scheduled=True` returns it to its schedule. `position`
        ([x, y, z] m), `vehicle` (name), `power` (dBm); of a jammer also `frequency` and `bandwidth` (Hz).
        """
        action = actions.RadioAction(self._kind, {"name": name, **changes})
        self._engine.apply_or_post(action, f"{self._kind}s.set()", at_tick, source)
