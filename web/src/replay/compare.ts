// The gap between the followed vehicle and the vehicle of the same name in a ghost.
import { positionOf, type Vector } from "../state/frame";
import type { Roster } from "../state/roster";
import type { FrameSource, Sample } from "../state/source";
import { focus } from "../state/store";
import { type Gap, gapBetween, type Path } from "./gap";
import type { RecordingSource } from "./source";

export class Comparison {
  private readonly paths = new Map<string, Path | null>(); // null: being read

  /** `ready` is called when more is known. */
  constructor(
    private readonly ghost: RecordingSource,
    private readonly ready: () => void,
  ) {}

  /** Of what is shown and what the ghost shows, which is at a position (s) of its recording. */
  gap(main: FrameSource, shown: Sample, ghostly: Sample, position: number): Gap | null {
    const name = nameOf(main.roster.peek(), focus.peek());
    const here = placeOf(main.roster.peek(), shown, name);
    const there = placeOf(this.ghost.roster.peek(), ghostly, name);
    return here && there && gapBetween(here, there, this.pathAround(name, position), position);
  }

  /** The vehicle's way through that section of the ghost's recording; null until it has been read. */
  private pathAround(name: string, position: number): Path | null {
    const { recording } = this.ghost;
    const path = this.paths.get(name);
    if (path === undefined) void this.read(name);
    if (!path) return null;
    const [first, end] = recording.samplesOf(recording.sectionAt(position));
    const part = (values: Float64Array) => values.subarray(first, end);
    return { times: part(path.times), x: part(path.x), y: part(path.y), z: part(path.z) };
  }

  private async read(name: string): Promise<void> {
    this.paths.set(name, null);
    const { recording } = this.ghost;
    const [x, y, z] = (await recording.series(name, ["x", "y", "z"])) as [Float64Array, Float64Array, Float64Array];
    this.paths.set(name, { times: recording.times, x, y, z });
    this.ready();
  }
}

/** Simulated s between the two moments of a sample. */
export function timeOf({ from, to, mix }: Sample): number {
  return from.time + mix * (to.time - from.time);
}

function nameOf(roster: Roster, id: number | null): string {
  const row = id === null ? undefined : roster.rowOfId(id);
  return row === undefined ? "" : roster.nameAt(row);
}

function placeOf(roster: Roster, { from, to, mix }: Sample, name: string): Vector | null {
  const row = name === "" ? undefined : roster.rowOfName(name);
  if (row === undefined) return null;
  const [a, b] = [positionOf(from, row), positionOf(to, row)];
  return a.map((part, axis) => part + mix * ((b[axis] as number) - part)) as Vector;
}
