"""Contact with stations along planned routes: table, plain values, and a map with routes coloured by SINR."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.radio.planned import PlannedLinks, RouteContact
from paddock.planning.solver.routes import Plan
from paddock.radio.links.table import FULL_SIGNAL
from paddock.record.mission_report.map_figure import ALARM, COLOURS, INK, PAPER, SOFT, draw_map, dress, halo
from paddock.record.mission_report.text import SHOWN, clock, distance, plain_table
from paddock.world.columns import Floats

if TYPE_CHECKING:
    from rich.table import Table

WIDE, THIN, FEW = 3.0, 1.2, 12  # points: widest and thinnest routes; vehicles up to which they are wide
SIZE = 10.0  # points: stations and jammers
STATION = COLOURS[0]
SINR_COLOURS = ("#b3001b", "#e8590c", "#e8a200", "#7cb518", "#1a8a3c")  # from weak to strong, all dark enough for paper
HEADS = ("direct", "contact", "lowest SINR", "at", "east", "north", "longest gap")
NOTE = (
    "Contact is predicted at the planned places, without small-scale fading: shares of the time of the route with a "
    "usable link to a station (direct), and with a usable path over other radios (contact)."
)


def contact_cells(contact: RouteContact) -> tuple[str, ...]:
    """Return the cells of a vehicle under HEADS."""
    lowest = "none" if contact.lowest_sinr is None else f"{contact.lowest_sinr:.1f} dB"
    x, y, _ = contact.lowest_place
    where = clock(contact.lowest_at), f"{x:,.0f} m", f"{y:,.0f} m"
    return (
        f"{100.0 * contact.direct:.1f} %",
        f"{100.0 * contact.contact:.1f} %",
        lowest,
        *where,
        f"{contact.longest_gap:.0f} s",
    )


def contact_table(contacts: Sequence[RouteContact]) -> "Table":
    """Return a line for each vehicle."""
    from rich.markup import escape

    table = plain_table("vehicle", HEADS)
    for contact in contacts[:SHOWN]:
        table.add_row(
            escape(contact.vehicle), *contact_cells(contact), style="" if contact.contact == 1.0 else "yellow"
        )
    if len(contacts) > SHOWN:
        table.add_row(f"and {len(contacts) - SHOWN} more", style="dim")
    return table


def contact_numbers(links: PlannedLinks) -> dict[str, Any]:
    """Return the figures of all vehicles as plain values; the SINR is null where no station uses its channel."""
    rows = [
        {
            "vehicle": entry.vehicle,
            "direct_share": entry.direct,
            "contact_share": entry.contact,
            "lowest_sinr_db": entry.lowest_sinr,
            "lowest_at_s": entry.lowest_at,
            "lowest_position_m": list(entry.lowest_place),
            "longest_gap_s": entry.longest_gap,
        }
        for entry in links.contacts()
    ]
    names = {"stations": [name for name, *_ in links.stations], "jammers": [entry.name for entry in links.jammers]}
    return {"step_s": links.step, **names, "routes": rows}


def draw_contact(figure_class: Any, planned: tuple[Plan, PlannedLinks], title: str) -> Any:
    """Return the figure: routes coloured by the SINR of the best station, thin and dark where there is no contact."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    plan, links = planned
    figure = figure_class(layout="constrained")
    axes = figure.add_subplot()
    draw_map(axes, plan, quiet=True)
    (west, east), (south, north) = axes.get_xlim(), axes.get_ylim()
    ratio = (east - west) / (north - south)  # the map fills the figure
    figure.set_size_inches(float(np.clip(1.8 + 6.5 * ratio, 7.6, 10.0)), float(np.clip(1.7 + 8.1 / ratio, 5.4, 8.6)))
    pieces, margin, lost = _pieces(links)
    wide = float(np.clip(WIDE * np.sqrt(FEW / max(len(links.names), 1)), THIN, WIDE))
    axes.add_collection(LineCollection(list(pieces[lost]), colors=INK, linewidths=0.5 * wide, alpha=0.75, zorder=4))
    tones = LinearSegmentedColormap.from_list("sinr", SINR_COLOURS)
    heard = LineCollection(list(pieces[~lost]), array=margin[~lost], cmap=tones, linewidths=wide, zorder=4.5)
    heard.set_clim(0.0, FULL_SIGNAL)  # as links in the world view
    axes.add_collection(heard)
    axes.plot([], [], color=SINR_COLOURS[-1], linewidth=wide, label="route in contact, coloured by its SINR")
    axes.plot([], [], color=INK, linewidth=0.5 * wide, label="route without contact, not even over other radios")
    _draw_radios(axes, links)
    axes.plot([], [], "D", color=INK, markeredgecolor=PAPER, markersize=6, label="start of a vehicle")
    axes.plot([], [], "s", color=INK, markeredgecolor=PAPER, markersize=7, label="base")
    if plan.problem.tasks:
        hollow = {"color": PAPER, "markeredgecolor": INK, "linestyle": "none", "markersize": 4}
        axes.plot([], [], "o", label="task", **hollow)
    if plan.problem.zones:
        nothing = np.full(2, np.nan)
        axes.fill(nothing, nothing, facecolor="none", edgecolor=ALARM, hatch="////", label="no-fly zone")
    dress(axes, f"{title} · contact")
    bar = figure.colorbar(heard, ax=axes, pad=0.015, aspect=30, shrink=0.7, extend="both")
    bar.set_label("SINR of the best station above what is needed, dB", color=SOFT)
    bar.outline.set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure


def _draw_radios(axes: Any, links: PlannedLinks) -> None:
    """Draw stations and jammers with their names; those beyond the map at its edge, with their distance from it."""
    off = {"markerfacecolor": PAPER, "markeredgecolor": ALARM}
    for name, x, y in links.stations:
        _draw_radio(axes, name, x, y, "^", color=STATION, markeredgecolor=PAPER)
    axes.plot([], [], "^", color=STATION, markersize=SIZE, linestyle="none", label="station")
    for jammer in links.jammers:
        name = f"{jammer.name} on {jammer.vehicle}" if jammer.vehicle else jammer.name
        look = {"color": ALARM, "markeredgecolor": PAPER} if jammer.enabled else {"color": ALARM, **off}
        _draw_radio(axes, name if jammer.enabled else f"{name}, off", jammer.x, jammer.y, "X", **look)
    if links.jammers:
        moving = any(jammer.vehicle for jammer in links.jammers)
        label = "jammer, on a vehicle at its start" if moving else "jammer"
        axes.plot([], [], "X", color=ALARM, markersize=SIZE, linestyle="none", label=label)


def _draw_radio(axes: Any, name: str, x: float, y: float, marker: str, **look: Any) -> None:
    """Draw a station or jammer with its name towards the middle of the map."""
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    margin = 0.02 * (limits[:, 1] - limits[:, 0])
    point = np.clip([x, y], limits[:, 0] + margin, limits[:, 1] - margin)
    beyond = float(np.hypot(x - point[0], y - point[1]))
    right = point[0] > limits[0].mean() + 0.25 * (limits[0, 1] - limits[0, 0])
    label = f"{name}, {distance(beyond)} beyond" if beyond > margin.max() else name
    axes.plot(*point, marker, markersize=SIZE, zorder=7, **look)
    side = {"xytext": (-8 if right else 8, 5), "ha": "right" if right else "left"}
    style = {"fontsize": 8.5, "fontweight": "bold", "color": look["color"], "path_effects": halo(), "zorder": 7.5}
    axes.annotate(label, point, textcoords="offset points", parse_math=False, **side, **style)


def _pieces(links: PlannedLinks) -> tuple[Floats, Floats, Any]:
    """Return the parts (k, 2, 2) of routes between two times, the least dB above need, and whether contact is lost."""
    both = links.under_way[:, 1:] & links.under_way[:, :-1]
    ends = np.stack([links.places[:, :-1, :2], links.places[:, 1:, :2]], axis=2)[both]
    margin = (np.minimum(links.sinr[:, 1:], links.sinr[:, :-1]) - links.needed[:, None])[both]
    return ends, margin, ~(links.reached[:, 1:] & links.reached[:, :-1])[both]


def contact_rows(links: PlannedLinks) -> Iterator[tuple[str, ...]]:
    """Yield name and cells of each vehicle."""
    return ((contact.vehicle, *contact_cells(contact)) for contact in links.contacts())
