// The problems that were found, each a way to its place in the text; and why it cannot be run.
import type { ProblemTree } from "../net/schema";
import { notices } from "../state/store";
import { verdict } from "./checking";
import { obstacle, waiting } from "./document";

export function Problems({ onJump }: { onJump: (problem: ProblemTree) => void }) {
  const found = verdict.value;
  const problems = found.state === "checked" ? found.problems : [];
  return (
    <footer class="editor-problems">
      {problems.length > 0 && (
        <ol aria-label="Problems">
          {problems.map((problem, k) => (
            <li key={k}>
              <button type="button" onClick={() => onJump(problem)}>
                <span class="place">
                  {problem.line}:{problem.column}
                </span>
                {problem.message}
              </button>
            </li>
          ))}
        </ol>
      )}
      <p class="row" role="status">
        <Summary />
        <Newest />
        <span class="faint">
          <kbd>Ctrl Space</kbd> completes, <kbd>Ctrl Enter</kbd> runs
        </span>
      </p>
    </footer>
  );
}

/** Notices lie below an open dialog: the newest is told here as well. */
function Newest() {
  const said = obstacle.value === "" ? notices.value.at(-1) : undefined; // why nothing runs comes first
  return <span class={`grow ellipsis ${said?.kind === "info" ? "faint" : "amber"}`}>{said?.text}</span>;
}

function Summary() {
  const found = verdict.value;
  if (obstacle.value !== "") return <span class={waiting.value === "" ? "amber" : "faint"}>{obstacle.value}</span>;
  if (found.state === "checking") return <span class="faint">Checking …</span>;
  if (found.state === "unknown") return <span class="amber">Not checked: {found.reason}</span>;
  const count = found.problems.length;
  if (count > 0) return <span class="red">{count === 1 ? "1 problem" : `${count} problems`}</span>;
  return <span class="green">No problems</span>;
}
