// The roster: fleets in row order; row, id and name of a vehicle are computed without listing all vehicles.
import type { FleetTree, RosterTree } from "../wire/schema";
import { fleetColours } from "./palette";

type Range = readonly [first: number, count: number];

/** An array of a sensor in the samples of a recording. */
export interface ArrayLayout {
  name: string;
  index: number; // among the arrays of all fleets
  size: number; // values of one vehicle
  width: 4 | 8; // bytes of a value
}

export interface Fleet {
  index: number; // index among the fleets
  name: string;
  kind: string; // car, quad, rover, aircraft, agent; cone, crate
  model: string;
  single: boolean; // its one vehicle has the fleet's name
  first: number; // row of the first vehicle
  count: number;
  ids: readonly Range[];
  members: readonly Range[];
  columns: readonly string[];
  arrays: readonly ArrayLayout[]; // of a recording opened in the page
  colour: number; // palette index
}

const PROPS = new Set(["cone", "crate"]);

/** Whether its vehicles are things that lie about: nothing drives them. */
export function isProp({ kind, model }: Pick<Fleet, "kind" | "model">): boolean {
  return PROPS.has(kind) || model.startsWith("prop.");
}

export class Roster {
  static readonly empty = new Roster({ roster: -1, fleets: [] });
  readonly number: number;
  readonly fleets: readonly Fleet[];
  readonly size: number; // vehicles

  constructor(tree: RosterTree) {
    let first = 0;
    this.number = tree.roster;
    const colours = fleetColours(tree.fleets);
    this.fleets = tree.fleets.map((entry, index) => {
      const fleet = { ...fleetOf(entry, index, first), colour: colours[index] ?? 0 };
      first += fleet.count;
      return fleet;
    });
    this.size = first;
  }

  fleetAt(row: number): Fleet | undefined {
    let low = 0;
    let high = this.fleets.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.fleets[middle] as Fleet).first <= row) low = middle;
      else high = middle - 1;
    }
    // an empty fleet shares its first row with the next fleet
    const fleet = this.fleets[low];
    return fleet !== undefined && row >= fleet.first && row < fleet.first + fleet.count ? fleet : undefined;
  }

  idAt(row: number): number | undefined {
    const fleet = this.fleetAt(row);
    return fleet && nth(fleet.ids, row - fleet.first);
  }

  nameAt(row: number): string {
    const fleet = this.fleetAt(row);
    if (fleet === undefined) return "";
    return fleet.single ? fleet.name : `${fleet.name}[${nth(fleet.members, row - fleet.first)}]`;
  }

  rowOfId(id: number): number | undefined {
    for (const fleet of this.fleets) {
      const at = indexOf(fleet.ids, id);
      if (at >= 0) return fleet.first + at;
    }
    return undefined;
  }

  fleet(name: string): Fleet | undefined {
    return this.fleets.find((fleet) => fleet.name === name);
  }

  /** The fleets in the order of lists: props last. */
  get listed(): readonly Fleet[] {
    return [...this.fleets.filter((fleet) => !isProp(fleet)), ...this.fleets.filter(isProp)];
  }

  /** The next vehicle in the order of lists, from a row on; undefined: the first one. Props count only if all are. */
  nextRow(row: number | undefined, way: 1 | -1 = 1): number | undefined {
    const cars = this.fleets.filter((fleet) => !isProp(fleet) && fleet.count > 0);
    const fleets = cars.length > 0 ? cars : this.fleets.filter(({ count }) => count > 0);
    const at = fleets.findIndex(({ first, count }) => row !== undefined && row >= first && row < first + count);
    const here = fleets[at];
    if (here === undefined || row === undefined) return fleets[0]?.first;
    if (row + way >= here.first && row + way < here.first + here.count) return row + way;
    const next = fleets[(at + way + fleets.length) % fleets.length] as Fleet;
    return way > 0 ? next.first : next.first + next.count - 1;
  }

  /** The row of `red` or `scouts[17]`. */
  rowOfName(name: string): number | undefined {
    const alone = this.fleet(name);
    if (alone?.single && alone.count) return alone.first;
    const parts = /^(.*)\[(\d+)\]$/.exec(name);
    const fleet = parts && this.fleet(parts[1] as string);
    if (!fleet) return undefined;
    const at = indexOf(fleet.members, Number(parts[2]));
    return at < 0 ? undefined : fleet.first + at;
  }
}

function fleetOf(tree: FleetTree & { arrays?: Fleet["arrays"] }, index: number, first: number): Omit<Fleet, "colour"> {
  const { name, kind, model, single, ids, members, columns, arrays = [] } = tree;
  const count = ids.reduce((sum, range) => sum + range[1], 0);
  return { index, name, kind, model, single, first, count, ids, members, columns, arrays };
}

function nth(ranges: readonly Range[], at: number): number | undefined {
  for (const [first, count] of ranges) {
    if (at < count) return first + at;
    at -= count;
  }
  return undefined;
}

function indexOf(ranges: readonly Range[], value: number): number {
  let before = 0;
  for (const [first, count] of ranges) {
    if (value >= first && value < first + count) return before + value - first;
    before += count;
  }
  return -1;
}

// rosters by number --------------------------------------------------------------------------------------------------

const MOST = 512;

export class RosterIndex {
  private readonly known = new Map<number, { roster: Roster; text: string }>();

  /** Add a roster; return false if its number was used for other vehicles (another server). */
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
