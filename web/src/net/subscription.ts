// What the server sends by itself: subscribing, and changing columns and rate later.
import { effect } from "@preact/signals";
import { reasonOf } from "../state/caller";
import { listWishes, onWishes } from "../state/columns";
import type { Frame } from "../state/frame";
import { serverAnswers } from "../state/run";
import { connection, tell } from "../state/store";
import { enterRoster } from "./notifications";
import type { Pacing } from "./pacing";
import type { Ask } from "./questions";
import { RpcError, UNKNOWN_METHOD } from "./rpc";
import type { Kind } from "./schema";

const KINDS: readonly Kind[] = ["poses", "markers", "events", "figures", "mission"];
const SETTLE = 30; // ms: panels open and close several wishes at once
const RETURN = 300; // ms: back from a recording, panels first take back what they wished of it

export class Subscription {
  private readonly lists = new Map<number, number>(); // the server's number of a list of wishes -> the page's
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly ask: Ask,
    private readonly pacing: () => Pacing,
  ) {}

  /** Follow the wishes for columns from now on. */
  watch(): () => void {
    const soon = (after = SETTLE) => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.askColumns(), after);
    };
    let answered = true;
    const back = effect(() => {
      const answers = serverAnswers();
      if (answers && !answered) soon(RETURN); // what was wished meanwhile
      answered = answers;
    });
    const stops = [onWishes(() => soon()), back];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** A new connection counts its lists anew. */
  opened(): void {
    this.lists.clear();
  }

  async subscribe(): Promise<void> {
    const list = listWishes();
    const told = await this.ask("subscribe", { rate: this.pacing().rate, kinds: KINDS, columns: list.columns });
    enterRoster(told);
    this.lists.set(told.wanted, list.number);
    this.pacing().granted(told.rate);
  }

  /** Number a frame's columns as the page does; those that answer an unknown list are dropped. */
  renumber(frame: Frame): void {
    const list = this.lists.get(frame.wanted);
    frame.wanted = list ?? 0;
    if (list === undefined) frame.columns = [];
  }

  async askRate(rate: number): Promise<void> {
    if (connection.peek().state !== "open") return;
    try {
      this.pacing().granted((await this.ask("set_rate", { rate })).rate);
    } catch (error) {
      if (error instanceof RpcError && error.code === UNKNOWN_METHOD) await this.subscribe().catch(() => {});
    }
  }

  private async askColumns(): Promise<void> {
    if (connection.peek().state !== "open") return; // they come along with the subscription
    if (!serverAnswers()) return; // it may not know these vehicles
    const list = listWishes();
    try {
      const { wanted } = await this.ask("set_columns", { columns: list.columns });
      this.lists.set(wanted, list.number);
    } catch (error) {
      if (error instanceof RpcError) tell("warning", reasonOf(error));
    }
  }
}
