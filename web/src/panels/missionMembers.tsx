// The vehicles of a mission: what each does, how much of its range is used, what comes next.
import type { MemberTree } from "../net/schema";
import { usedRange } from "../state/mission";
import { fleetColour } from "../state/palette";
import { clock, live, roster, select, selection, tell } from "../state/store";
import { attempt, lookAt } from "./actions";
import { formatCount } from "./format";
import { formatWay, nextTasks } from "./missionWords";
import { Button } from "./parts";
import { VirtualList } from "./virtual";

const LINE = 4.1; // rem
const SEEN = 4; // lines, before the list scrolls

export function MemberList({ members }: { members: readonly MemberTree[] }) {
  const height = LINE * Math.min(members.length, SEEN);
  return (
    <section class="mission-members" style={{ flexBasis: `${height + 2.3}rem` }}>
      <h3 class="label">
        Vehicles <span class="number">{formatCount(members.length)}</span>
      </h3>
      <VirtualList
        label="Vehicles of the mission"
        count={members.length}
        lineRem={LINE}
        line={(index, top) => <MemberLine key={members[index]?.name ?? index} member={members[index]} top={top} />}
      />
    </section>
  );
}

function MemberLine({ member, top }: { member: MemberTree | undefined; top: string }) {
  if (member === undefined) return null;
  const { id, name, status, tasks } = member;
  const chosen = id !== null && selection.value.has(id);
  const next = nextTasks(tasks);
  return (
    <div class={chosen ? "member-line chosen" : "member-line"} style={{ top }} role="listitem">
      <button
        type="button"
        class="pick"
        aria-label={`Select ${name}: ${status}, ${next}`}
        disabled={id === null}
        onClick={() => id !== null && choose(id)}
      >
        <span class="row">
          <span class="swatch tint-fill" style={{ "--tint": colourOf(id) }} />
          <b class="ellipsis">{name}</b>
          <span class={`status ${status}`}>{status}</span>
        </span>
        <span class="faint ellipsis" title={tasks.join(", ")}>
          {next}
        </span>
        <RangeBar member={member} />
      </button>
      {live.value && status !== "damaged" && id !== null && (
        <Button look="bare small danger" icon="warn" label={`Mark ${name} as damaged`} onClick={() => damage(member)} />
      )}
    </div>
  );
}

function RangeBar({ member }: { member: MemberTree }) {
  const used = usedRange(member);
  const way = formatWay(member.travelled);
  if (used === null || member.range === null) return <span class="faint number range-words">{way}</span>;
  return (
    <span class="row">
      <span
        class={used > 0.9 ? "range low" : "range"}
        role="img"
        aria-label={`${Math.round(100 * used)} % of its range used`}
      >
        <span style={{ width: `${100 * used}%` }} />
      </span>
      <span class="faint number range-words">
        {way} of {formatWay(member.range)}
      </span>
    </span>
  );
}

function colourOf(id: number | null): string {
  const row = id === null ? undefined : roster.value.rowOfId(id);
  return fleetColour((row === undefined ? undefined : roster.value.fleetAt(row)?.name) ?? "").hex;
}

function choose(id: number): void {
  select([id]);
  lookAt(id);
}

/** It cannot be taken back: asked first. */
async function damage({ id, name }: MemberTree): Promise<void> {
  const question = `Let ${name} fail for good? Others take over what it has still to do.`;
  if (id === null || !window.confirm(question)) return;
  const done = await attempt("Damage", "damage_vehicle", { vehicle_id: id });
  if (done && clock.value.paused) tell("info", `${name} fails as soon as the run goes on.`);
}
