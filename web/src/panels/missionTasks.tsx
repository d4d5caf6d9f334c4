// The tasks of a mission: state, who does it, why not; choosing one moves the camera there.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { TaskTree } from "../net/schema";
import { middleOf, reachOf } from "../scene/missionShapes";
import { groundHeight } from "../state/ground";
import { awaitTask, chosenTask, isOver } from "../state/mission";
import { camera, clock, live, tell } from "../state/store";
import { attempt } from "./actions";
import { formatCount } from "./format";
import { Button, Empty, Search } from "./parts";
import { stage } from "./stage";
import { VirtualList } from "./virtual";

const LINE = 2.8; // rem

export function TaskList({ tasks }: { tasks: readonly TaskTree[] }) {
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
        <Empty icon="task" title={tasks.length === 0 ? "There is nothing to do" : "No task matches"} />
      ) : (
        <VirtualList
          label="Tasks of the mission"
          count={shown.length}
          lineRem={LINE}
          reveal={reveal.value}
          line={(index, top) => <TaskLine key={shown[index]?.name ?? index} task={shown[index]} top={top} />}
        />
      )}
    </section>
  );
}

/** Those with the words in their name, kind, state, vehicle or reason; what is undone first, what is done last. */
export function filterTasks(tasks: readonly TaskTree[], query: string): readonly TaskTree[] {
  const wanted = query.trim().toLowerCase();
  const words = (task: TaskTree): string => [task.name, task.kind, task.state, task.vehicle, task.reason].join(" ");
  const found = tasks.filter((task) => words(task).toLowerCase().includes(wanted));
  return found.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
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
        onClick={() => lookAtTask(task)}
      >
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

/** The camera flies there, so far away that all of the task is seen. */
export function lookAtTask(task: TaskTree): void {
  chosenTask.value = task.name;
  if (camera.value === "chase" || camera.value === "fpv") camera.value = "orbit";
  stage.value?.lookAtPoint(...middleOf(task.outline), groundHeight(), Math.max(NEAREST, 3.2 * reachOf(task)));
}

async function remove(name: string): Promise<void> {
  const done = await attempt("Remove", "remove_task", { name });
  if (done === null) return;
  awaitTask(name, null);
  if (clock.value.paused) tell("info", `${name} goes as soon as the run goes on.`);
}
