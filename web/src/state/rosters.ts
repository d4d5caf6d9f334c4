// Rosters by number: frames name the one that their rows follow.
import type { RosterTree } from "../net/schema";
import { Roster } from "./roster";

const MOST = 512;

export class RosterBook {
  private readonly known = new Map<number, { roster: Roster; text: string }>();

  /** Enter one; false when the number meant something else so far: it is another server then. */
  put(tree: RosterTree): boolean {
    const text = JSON.stringify(tree.fleets);
    const before = this.known.get(tree.roster);
    if (before?.text === text) return true;
    this.known.set(tree.roster, { roster: new Roster(tree), text });
    const oldest = this.known.keys().next();
    if (this.known.size > MOST && !oldest.done) this.known.delete(oldest.value);
    return before === undefined;
  }

  get(number: number): Roster | undefined {
    return this.known.get(number)?.roster;
  }
}
