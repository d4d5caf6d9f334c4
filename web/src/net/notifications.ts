// What the server tells without being asked.
import { clockFromFigures, clockRestarted } from "../state/clock";
import { setTransforms } from "../state/frames";
import { takeMission } from "../state/mission";
import type { TransformTree } from "../state/methods";
import { book, frames, runRestarted } from "../state/run";
import { figures, tell } from "../state/store";
import type { Questions } from "./questions";
import type { FiguresTree, MissionTree, RosterTree } from "./schema";

type Take = (params: Record<string, unknown>) => void;

/** The own answers to notifications, by method.
 *
 * `closing` hears why the server is about to end the connection, `preparing` what it has to do before it can answer.
 */
export function ownNotifications(
  questions: Questions,
  closing: (reason: string) => void,
  preparing: (what: string) => void,
): Readonly<Record<string, Take>> {
  return {
    roster: (params) => {
      const tree = params as unknown as RosterTree;
      if (!Array.isArray(tree.fleets)) throw new Error("it names no fleets");
      enterRoster(tree);
      questions.rosterChanged(tree);
    },
    figures: (params) => {
      if (typeof params["tick"] !== "number") throw new Error("it tells no tick");
      figures.value = params as unknown as FiguresTree;
      clockFromFigures(params as unknown as FiguresTree);
    },
    mission: (params) => {
      if (!Array.isArray(params["tasks"])) throw new Error("it names no tasks");
      if (takeMission(params as unknown as MissionTree)) questions.plansSoon();
    },
    restart: () => {
      clockRestarted();
      runRestarted();
      frames.breakOff();
      void questions.events();
      void questions.mission();
      questions.plansSoon();
    },
    frames: (params) => setTransforms((params["frames"] ?? []) as TransformTree[]),
    preparing: (params) => preparing(String(params["text"] ?? "")),
    closed: (params) => closing(String(params["reason"] ?? "")),
    refused: tellRefused,
    command_refused: tellRefused,
  };
}

/** A number that meant other vehicles so far is of another server. */
export function enterRoster(tree: RosterTree): void {
  if (!book.put(tree)) runRestarted();
}

function tellRefused(params: Record<string, unknown>): void {
  const count = Number(params["count"] ?? 1);
  const often = count > 1 ? ` (${count} times)` : "";
  tell("warning", `${String(params["of"] ?? "")} refused: ${String(params["reason"] ?? "")}${often}`);
}
