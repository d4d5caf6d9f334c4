// The race strip: positions, laps, gaps, sector times and penalties of the cars.
import { useSignal } from "@preact/signals";
import { fleetColour } from "../state/palette";
import { formatLap, sectorsOf, situationOf, standings } from "../state/race";
import { roster, select, selection } from "../state/store";
import type { StandingsTree, StandingTree } from "../wire/schema";
import { Button } from "./widgets";

const NARROW = 700; // px: the strip begins collapsed in narrower windows
const SHOWN = 8; // cars before the strip is expanded

export function RaceStrip() {
  const all = useSignal(false);
  const open = useSignal(window.innerWidth >= NARROW);
  const race = standings.value;
  if (race === null) return null;
  const rows = all.value ? race.rows : race.rows.slice(0, SHOWN);
  return (
    <section class="floating legend race" aria-label="Race">
      <header>
        <span class={open.value ? "turned" : ""}>
          <Button
            look="bare small"
            icon="chevron"
            label={open.value ? "Collapse the race" : "Expand the race"}
            expanded={open.value}
            onClick={() => (open.value = !open.value)}
          />
        </span>
        <b>{race.discipline}</b>
        <span class="faint ellipsis">{race.track}</span>
        {race.fastest_lap && (
          <span class="number fastest" title={`Fastest lap: ${race.fastest_lap[0]}, lap ${race.fastest_lap[1]}`}>
            {formatLap(race.fastest_lap[2])}
          </span>
        )}
      </header>
      {open.value && (
        <ol>
          {rows.map((row) => (
            <Car key={row.id} row={row} race={race} />
          ))}
        </ol>
      )}
      {open.value && race.rows.length > SHOWN && (
        <Button
          look="bare small"
          label={all.value ? "Show the first cars only" : "Show all cars"}
          text={all.value ? "fewer" : `all ${race.rows.length}`}
          onClick={() => (all.value = !all.value)}
        />
      )}
    </section>
  );
}

function Car({ row, race }: { row: StandingTree; race: StandingsTree }) {
  const chosen = selection.value.has(row.id);
  const at = roster.value.rowOfId(row.id);
  const fleet = at === undefined ? undefined : roster.value.fleetAt(at);
  const laps = race.laps > 1 ? `${Math.min(row.laps + 1, race.laps)}/${race.laps}` : `${row.laps}`;
  return (
    <li class={chosen ? "chosen" : ""}>
      <button
        type="button"
        aria-label={`Select ${row.name}, position ${row.position}`}
        onClick={() => select([row.id])}>
        <span class="number place">{row.position}</span>
        <span class="swatch tint-fill" style={{ "--tint": fleetColour(fleet).hex }} />
        <span class="ellipsis name">{row.name}</span>
        <span class="number faint" title="Lap">
          {laps}
        </span>
        <span class="number" title="Last lap">
          {formatLap(row.lap_times.at(-1))}
        </span>
        <span class={`number situation ${row.status}`} title={row.reason || "Behind the leader, s"}>
          {situationOf(row)}
        </span>
        <Penalties row={row} />
      </button>
      {chosen && <Sectors row={row} race={race} />}
    </li>
  );
}

function Penalties({ row: { cones, off_course, penalty } }: { row: StandingTree }) {
  if (cones + off_course === 0) return <span />;
  const words = [cones > 0 && `${cones} cones`, off_course > 0 && `${off_course} times off course`].filter(Boolean);
  return (
    <span class="number amber" title={`${words.join(", ")}: ${penalty.toFixed(1)} s`}>
      +{penalty.toFixed(1)}
    </span>
  );
}

function Sectors({ row, race }: { row: StandingTree; race: StandingsTree }) {
  const sectors = sectorsOf(row, race);
  return (
    <div class="sectors number">
      {sectors.map(({ time, best }, k) => (
        <span key={k} class={best ? "best" : ""}>
          S{k + 1} {time.toFixed(3)}
        </span>
      ))}
      <span class="faint">best {formatLap(row.best_lap)}</span>
    </div>
  );
}
