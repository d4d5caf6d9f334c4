// What the page asks for when a connection is open, and again when it may have changed.
import { reasonOf } from "../state/caller";
import { clockFromMetadata } from "../state/clock";
import { addEvents } from "../state/events";
import { setTransforms } from "../state/frames";
import { forgetAwaited, takeMission } from "../state/mission";
import type { Method, Params, Result } from "../state/methods";
import { showServed } from "../state/run";
import { metadata, orders, routes, tell } from "../state/store";
import { RpcError, UNKNOWN_METHOD } from "./rpc";
import type { EventTree, MetadataTree, RosterTree } from "./schema";

export type Ask = <M extends Method>(method: M, params: Params<M>) => Promise<Result<M>>;

const CHANGING = new Set(["ordered", "order_ended", "spawned", "removed"]);
const SETTLE = 200; // ms: orders often come in bunches

export class Questions {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly ask: Ask) {}

  async metadata(): Promise<MetadataTree> {
    const told = await this.ask("get_metadata", {});
    metadata.value = told;
    clockFromMetadata(told);
    showServed(told.recording);
    return told;
  }

  /** All that may also be missing: an older server does not know every method. */
  everything(): void {
    void this.events();
    void this.mission();
    void this.plans();
    void this.optional(async () => {
      setTransforms((await this.ask("get_frames", {})).frames);
    });
  }

  events(): Promise<void> {
    return this.optional(async () => {
      addEvents((await this.ask("get_events", { since: 0 })).events);
    });
  }

  /** Of a run that is new here. */
  mission(): Promise<void> {
    return this.optional(async () => {
      forgetAwaited();
      takeMission((await this.ask("get_mission", {})).mission);
    });
  }

  /** Fleets that the metadata does not describe make it old. */
  rosterChanged(tree: RosterTree): void {
    const known = new Set(metadata.peek()?.fleets.map(({ name }) => name));
    if (tree.fleets.every(({ name }) => known.has(name))) return;
    void this.optional(async () => {
      await this.metadata();
    });
  }

  happened(events: readonly EventTree[]): void {
    if (events.some(({ kind }) => CHANGING.has(kind))) this.plansSoon();
  }

  plansSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.plans(), SETTLE);
  }

  lost(): void {
    clearTimeout(this.timer);
  }

  private async plans(): Promise<void> {
    await this.optional(async () => {
      routes.value = (await this.ask("get_routes", {})).routes;
    });
    await this.optional(async () => {
      orders.value = (await this.ask("get_orders", {})).orders;
    });
  }

  private async optional(question: () => Promise<void>): Promise<void> {
    try {
      await question();
    } catch (error) {
      const refused = error instanceof RpcError;
      // a lost connection is told elsewhere, and all this is asked again
      if (refused && error.code !== UNKNOWN_METHOD) tell("warning", reasonOf(error));
    }
  }
}
