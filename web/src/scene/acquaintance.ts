// Whether what is shown is a world that was not seen so far: then the camera has to be set anew. A reset, a lost
// connection or a step back in time is the same world.
import type { Roster } from "../state/roster";
import type { FrameSource, Sample } from "../state/source";

export class Acquaintance {
  private source: FrameSource | null = null;
  private roster: Roster | null = null;
  private scenario = "";
  private time = Number.NaN;
  private run = Number.NaN;
  private fleets: ReadonlySet<string> = new Set();

  /** Look at what is shown next; `scenario` is the name of what the server runs. True: it is another world. */
  meets(source: FrameSource, roster: Roster, sample: Sample, scenario: string): boolean {
    const { time, run } = sample.to;
    const renamed = source.kind !== "recording" && scenario !== this.scenario;
    // the name comes before the first frame of what it names
    const begins = source !== this.source || time < this.time || run !== this.run ||
      (renamed && roster !== this.roster);
    const another = begins && (renamed || !roster.fleets.some(({ name }) => this.fleets.has(name)));
    if (begins && source.kind !== "recording") this.scenario = scenario;
    const known = roster === this.roster || roster.fleets.length === 0;
    if (!known) this.fleets = new Set(roster.fleets.map(({ name }) => name));
    [this.source, this.roster, this.time, this.run] = [source, roster, time, run];
    return another;
  }
}
