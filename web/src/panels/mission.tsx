// The mission: how far it is, who does what, what is to be done, and what can be changed about it.
import type { MissionTree } from "../net/schema";
import { mission, progressOf, type TaskState } from "../state/mission";
import { deaf, live, tell, tool } from "../state/store";
import { formatCount } from "./format";
import { MemberList } from "./missionMembers";
import { TaskList } from "./missionTasks";
import { formatWay } from "./missionWords";
import { Button, Empty } from "./parts";

export function MissionPanel() {
  const told = mission.value;
  if (told === null) {
    return (
      <Empty icon="task" title="There is no mission">
        <p>A scenario with a section “mission” has tasks, zones and vehicles that share the work.</p>
      </Empty>
    );
  }
  return (
    <div class="mission">
      <Head told={told} />
      <MemberList members={told.members} />
      <TaskList tasks={told.tasks} />
    </div>
  );
}

function Head({ told }: { told: MissionTree }) {
  const { all, done, doing, undone, travelled } = progressOf(told);
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
          title={live.value ? "Add a point task: then click on the ground" : `Nothing can be added: ${deaf.value}`}
          text="Add task"
          pressed={adds}
          disabled={!live.value}
          onClick={() => begin(!adds)}
        />
      </div>
      <ProgressBar told={told} />
      <p class="faint">
        {doing > 0 && `${formatCount(doing)} started · `}
        {undone.length > 0 && <span class="bad">{formatCount(undone.length)} undone · </span>}
        {formatWay(travelled)} so far
      </p>
    </div>
  );
}

const HOW = "Click on the ground where a task is to be; Escape ends it.";

function begin(on: boolean): void {
  tool.value = on ? "task" : "select";
  if (on) tell("info", HOW);
}

const STATES: readonly TaskState[] = ["completed", "started", "assigned", "unassigned", "undone"];

function ProgressBar({ told }: { told: MissionTree }) {
  const counts = STATES.map((state) => [state, told.tasks.filter((task) => task.state === state).length] as const);
  const words = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  return (
    <div class="task-bar" role="img" aria-label={`Tasks: ${words.join(", ") || "none"}`}>
      {counts.map(([state, count]) => count > 0 && <span key={state} class={state} style={{ flexGrow: count }} />)}
    </div>
  );
}
