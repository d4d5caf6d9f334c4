// The steering angles that the server tells, for cars of fleets small enough to be looked at one by one.
import { listOf, type Want, want } from "../state/columns";
import type { Frame } from "../state/frame";
import type { Roster } from "../state/roster";

const LARGEST = 64; // vehicles of a fleet
const FLEETS = 24;

export class Steering {
  private wish: Want | null = null;
  private fleets: { first: number; count: number }[] = [];
  private roster = Number.NaN;

  /** Ask for what this roster has. */
  follow(roster: Roster): void {
    if (roster.number === this.roster) return;
    this.roster = roster.number;
    this.release();
    const steered = roster.fleets.filter(({ count, columns }) => count > 0 && count <= LARGEST &&
      columns.includes("steer"));
    this.fleets = steered.slice(0, FLEETS);
    if (steered.length === 0) return;
    this.wish = want("wheels", steered.slice(0, FLEETS).map(({ name }) => ({ of: name, columns: ["steer"] })));
  }

  /** rad, + left; NaN when it is not known. */
  angle(frame: Frame, row: number): number {
    const start = this.wish && listOf(frame)?.starts.get(this.wish);
    const at = this.fleets.findIndex(({ first, count }) => row >= first && row < first + count);
    if (start === null || start === undefined || at < 0) return Number.NaN;
    const block = frame.columns.find(({ request }) => request === start + at);
    return block?.values[row - (this.fleets[at]?.first ?? 0)] ?? Number.NaN;
  }

  release(): void {
    this.wish?.release();
    this.wish = null;
  }
}
