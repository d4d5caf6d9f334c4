// The mission panel: progress, vehicles, tasks, and changes to them.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { middleOf, reachOf } from "../scene/mission-zones";
import { formatCount } from "../state/format";
import { addPendingTask, chosenTask, isOver, mission, progressOf, type TaskState, usedRange } from "../state/mission";
import { fleetColour } from "../state/palette";
import { groundAt } from "../state/scenery";
import { camera, clock, live, readOnlyReason, roster, select, selection, showNotice, tool } from "../state/store";
import type { MemberTree, MissionTree, TaskTree } from "../wire/schema";
import { attempt, lookAt, stage } from "./actions";
import { VirtualList } from "./virtual-list";
import { Button, Empty, Search } from "./widgets";

/** `940 m`, `4.1 km`. */
export function formatDistance(metres: number): string {
  if (!Number.isFinite(metres)) return "–";
  return metres < 1000 ? `${metres.toFixed(0)} m` : `${(metres / 1000).toFixed(1)} km`;
}

const SHOWN = 3;

/** `mast, farm, weir and 2 more`. */
export function nextTasks(names: readonly string[]): string {
  if (names.length === 0) return "idle";
  const shown = names.slice(0, SHOWN).join(", ");
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}

// vehicles -----------------------------------------------------------------------------------------------------------

const VEHICLE_HEIGHT = 4.1; // rem
const SEEN = 4; // lines before the list scrolls

function VehicleList({ members }: { members: readonly MemberTree[] }) {
  const height = VEHICLE_HEIGHT * Math.min(members.length, SEEN);
  return (
    <section class="mission-members" style={{ flexBasis: `${height + 2.3}rem` }}>
      <h3 class="label">
        Vehicles <span class="number">{formatCount(members.length)}</span>
      </h3>
      <VirtualList
        label="Vehicles of the mission"
        count={members.length}
        lineRem={VEHICLE_HEIGHT}
        line={(index, top) => <VehicleLine key={members[index]?.name ?? index} member={members[index]} top={top} />}
      />
    </section>
  );
}

function VehicleLine({ member, top }: { member: MemberTree | undefined; top: string }) {
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
        onClick={() => id !== null && choose(id)}>
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
  const way = formatDistance(member.travelled);
  if (used === null || member.range === null) return <span class="faint number range-words">{way}</span>;
  return (
    <span class="row">
      <span
        class={used > 0.9 ? "range low" : "range"}
        role="img"
        aria-label={`${Math.round(100 * used)} % of its range used`}>
        <span style={{ width: `${100 * used}%` }} />
      </span>
      <span class="faint number range-words">
        {way} of {formatDistance(member.range)}
      </span>
    </span>
  );
}

function colourOf(id: number | null): string {
  const row = id === null ? undefined : roster.value.rowOfId(id);
  return fleetColour(row === undefined ? undefined : roster.value.fleetAt(row)).hex;
}

function choose(id: number): void {
  select([id]);
  lookAt(id);
}

/** Not reversible, so it needs confirmation. */
async function damage({ id, name }: MemberTree): Promise<void> {
  const question = `Disable ${name} permanently? Its remaining tasks are reassigned.`;
  if (id === null || !window.confirm(question)) return;
  const done = await attempt("Damage", "damage_vehicle", { vehicle_id: id });
  if (done && clock.value.paused) showNotice("info", `${name} fails when the run resumes`);
}

// tasks --------------------------------------------------------------------------------------------------------------

const TASK_HEIGHT = 2.8; // rem

function TaskList({ tasks }: { tasks: readonly TaskTree[] }) {
  const query = useSignal("");
  const shown = useMemo(() => filterTasks(tasks, query.value), [tasks, query.value]);
  const reveal = useSignal<{ line: number } | null>(null);
  const chosen = chosenTask.value;
  useEffect(() => {
    reveal.value = { line: shown.findIndex(({ name }) => name === chosen) };
  }, [chosen]);
  return (
    <section class="mission-tasks">
      <div class="bar">
        <h3 class="label">
          Tasks <span class="number">{formatCount(shown.length)}</span>
        </h3>
        <Search small label="Find a task" value={query.value} onChange={(value) => (query.value = value)} />
      </div>
      {shown.length === 0 ? (
        <Empty icon="task" title={tasks.length === 0 ? "No tasks" : "No matching tasks"} />
      ) : (
        <VirtualList
          label="Tasks of the mission"
          count={shown.length}
          lineRem={TASK_HEIGHT}
          reveal={reveal.value}
          line={(index, top) => <TaskLine key={shown[index]?.name ?? index} task={shown[index]} top={top} />}
        />
      )}
    </section>
  );
}

/** Tasks that match in name, kind, state, vehicle or reason; failed ones first, done ones last. */
export function filterTasks(tasks: readonly TaskTree[], query: string): readonly TaskTree[] {
  const wanted = query.trim().toLowerCase();
  const words = (task: TaskTree): string => [task.name, task.kind, task.state, task.vehicle, task.reason].join(" ");
  const matching = tasks.filter((task) => words(task).toLowerCase().includes(wanted));
  return matching.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}

const ORDER: readonly TaskTree["state"][] = ["undone", "started", "assigned", "unassigned", "completed"];

function TaskLine({ task, top }: { task: TaskTree | undefined; top: string }) {
  if (task === undefined) return null;
  const { name, kind, state, vehicle, reason } = task;
  const about = state === "undone" ? reason : `${state}${vehicle === null ? "" : ` · ${vehicle}`}`;
  return (
    <div class={name === chosenTask.value ? "task-line chosen" : "task-line"} style={{ top }} role="listitem">
      <button
        type="button"
        class="pick"
        aria-label={`Look at ${name}: ${kind}, ${about}`}
        title={about}
        onClick={() => lookAtTask(task)}>
        <span class={`dot ${state}`} />
        <span class="words">
          <span class="row">
            <span class="ellipsis">{name}</span>
            <span class="faint">{kind}</span>
          </span>
          <span class={state === "undone" ? "bad ellipsis" : "faint ellipsis"}>{about}</span>
        </span>
      </button>
      {live.value && !isOver(task) && (
        <span class="quiet">
          <Button look="bare small" icon="trash" label={`Remove the task ${name}`} onClick={() => void remove(name)} />
        </span>
      )}
    </div>
  );
}

const NEAREST = 60; // m

/** Move the camera such that the whole task is visible. */
function lookAtTask(task: TaskTree): void {
  chosenTask.value = task.name;
  if (camera.value === "chase" || camera.value === "fpv") camera.value = "orbit";
  const middle = middleOf(task.outline);
  stage.value?.lookAtPoint(...middle, groundAt(...middle), Math.max(NEAREST, 3.2 * reachOf(task)));
}

async function remove(name: string): Promise<void> {
  const done = await attempt("Remove", "remove_task", { name });
  if (done === null) return;
  addPendingTask(name, null);
  if (clock.value.paused) showNotice("info", `${name} is removed when the run resumes`);
}

// panel --------------------------------------------------------------------------------------------------------------

export function MissionPanel() {
  const tree = mission.value;
  if (tree === null) {
    return (
      <Empty icon="task" title="No mission">
        <p>Missions are defined in the “mission” section of a scenario.</p>
      </Empty>
    );
  }
  return (
    <div class="mission">
      <Head tree={tree} />
      <VehicleList members={tree.members} />
      <TaskList tasks={tree.tasks} />
    </div>
  );
}

function Head({ tree }: { tree: MissionTree }) {
  const { all, done, doing, undone, travelled } = progressOf(tree);
  const adds = tool.value === "task";
  return (
    <div class="mission-head">
      <div class="row">
        <h2 class="grow">
          <span class="number">{formatCount(done)}</span> of <span class="number">{formatCount(all)}</span> done
        </h2>
        <Button
          look="small"
          icon="plus"
          label="Add a point task: click on the ground"
          title={
            live.value ? "Add a point task, then click on the ground" : `Cannot add tasks: ${readOnlyReason.value}`
          }
          text="Add task"
          pressed={adds}
          disabled={!live.value}
          onClick={() => begin(!adds)}
        />
      </div>
      <ProgressBar tree={tree} />
      <p class="faint">
        {doing > 0 && `${formatCount(doing)} started · `}
        {undone.length > 0 && <span class="bad">{formatCount(undone.length)} undone · </span>}
        {formatDistance(travelled)} flown or driven
      </p>
    </div>
  );
}

const HOW = "Click on the ground to add tasks, Escape to stop";

function begin(on: boolean): void {
  tool.value = on ? "task" : "select";
  if (on) showNotice("info", HOW);
}

const STATES: readonly TaskState[] = ["completed", "started", "assigned", "unassigned", "undone"];

function ProgressBar({ tree }: { tree: MissionTree }) {
  const counts = STATES.map((state) => [state, tree.tasks.filter((task) => task.state === state).length] as const);
  const words = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  return (
    <div class="task-bar" role="img" aria-label={`Tasks: ${words.join(", ") || "none"}`}>
      {counts.map(([state, count]) => count > 0 && <span key={state} class={state} style={{ flexGrow: count }} />)}
    </div>
  );
}
