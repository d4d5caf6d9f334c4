// What is drawn besides the samples, from the metadata of a recording; none or parts of it in files of earlier versions.
import type { Appearance } from "../state/appearance";
import type { RecordedRace, RecordedScenery } from "../state/source";
import type { ArrayTree, GroundTree, ObstacleTree, PlannedRoute, RadioTree, RoadTree, TrackTree } from "../wire/schema";

type Metadata = ReadonlyMap<string, string> | null;
type Tree = Record<string, unknown>;

const MOST_SECTORS = 1000;

export interface Surroundings {
  routes: readonly PlannedRoute[]; // at the beginning
  scenery: RecordedScenery | null;
  looks: ReadonlyMap<string, Appearance>; // by fleet
  units: ReadonlyMap<string, ReadonlyMap<string, string>>; // of columns, by fleet
  arrays: ReadonlyMap<string, readonly ArrayTree[]>; // of sensors, by fleet
  radio: RadioTree | null; // at the beginning
  radioSection: unknown; // of the scenario: schedules, sweeps and vehicles of jammers and spoofers
  race: RecordedRace | null;
}

/** Unreadable parts are left out: the samples can be shown without them. */
export async function surroundingsIn(metadata: Metadata): Promise<Surroundings> {
  const scenery = metadata?.get("scenery");
  const radio = tree(parsed(metadata?.get("radio")));
  return {
    routes: list(parsed(metadata?.get("routes"))).filter((route) => Array.isArray(route["points"])) as never,
    scenery: scenery ? await sceneryIn(scenery).catch(() => null) : null,
    looks: new Map(
      Object.entries(tree(parsed(metadata?.get("looks")))).map(([name, look]) => [name, lookOf(tree(look))]),
    ),
    units: new Map(
      Object.entries(tree(parsed(metadata?.get("units")))).map(([name, own]) => [name, unitsIn(tree(own))]),
    ),
    arrays: new Map(
      Object.entries(tree(parsed(metadata?.get("arrays")))).map(([name, own]) => [
        name,
        list(own).filter(isArray) as never,
      ]),
    ),
    radio: radioIn(radio),
    radioSection: radio["section"],
    race: raceIn(tree(parsed(metadata?.get("race")))),
  };
}

/** Compressed JSON in base64. */
async function sceneryIn(text: string): Promise<RecordedScenery | null> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const scenery = tree(JSON.parse(await new Response(unpacked).text()));
  const { ground_z, mu } = scenery;
  if (!isNumber(ground_z) || !isNumber(mu)) return null;
  const ground = scenery["ground"] === null ? null : (tree(scenery["ground"]) as unknown as GroundTree);
  if (ground !== null && !isGround(ground)) return null;
  const obstacles = list(scenery["obstacles"]).filter(isObstacle) as unknown as ObstacleTree[];
  const roads = list(scenery["roads"]).filter(isRoad) as unknown as RoadTree[];
  const track = isTrack(tree(scenery["track"])) ? (scenery["track"] as TrackTree) : null;
  return { ground_z, mu, ground, obstacles, roads, track, section: tree(scenery["section"]) };
}

function isGround({ x, y, cell, rows, columns, heights, friction }: GroundTree): boolean {
  const count = rows * columns;
  const grid = (values: unknown): boolean => Array.isArray(values) && values.length === count && values.every(isNumber);
  return (
    [x, y, cell].every(isNumber) &&
    cell > 0 &&
    rows > 1 &&
    columns > 1 &&
    grid(heights) &&
    (friction === null || grid(friction))
  );
}

function isObstacle(obstacle: Tree): boolean {
  const kinds: readonly unknown[] = ["box", "wall", "cylinder", "cone"] satisfies ObstacleTree["kind"][];
  return (
    kinds.includes(obstacle["kind"]) && ["x", "y", "base", "top", "heading"].every((name) => isNumber(obstacle[name]))
  );
}

function isRoad({ points, width }: Tree): boolean {
  const isPoint = (point: unknown): boolean => Array.isArray(point) && point.length === 3 && point.every(isNumber);
  return isNumber(width) && Array.isArray(points) && points.length > 1 && points.every(isPoint);
}

function isTrack({ name, start, cones, colours, centre, left_width, right_width, left, right, gates }: Tree): boolean {
  const isPlace = (place: unknown): boolean => Array.isArray(place) && place.length === 2 && place.every(isNumber);
  const places = (line: unknown): number => (Array.isArray(line) && line.every(isPlace) ? line.length : -1);
  const numbers = (row: unknown): number => (Array.isArray(row) && row.every(isNumber) ? row.length : -1);
  return (
    typeof name === "string" &&
    numbers(start) === 3 &&
    places(cones) >= 0 &&
    numbers(colours) === places(cones) &&
    places(centre) > 1 &&
    [left_width, right_width].every((row) => numbers(row) === places(centre)) &&
    [left, right].every((line) => places(line) > 1) &&
    list(gates).every((gate) => isPlace(gate["left"]) && isPlace(gate["right"]))
  );
}

function isArray({ name, shape, fields, options }: Tree): boolean {
  return (
    typeof name === "string" &&
    Array.isArray(shape) &&
    shape.every(isNumber) &&
    Array.isArray(fields) &&
    list(fields).every((field) => typeof field["name"] === "string") &&
    Object.values(tree(options)).every(isNumber)
  );
}

function radioIn(saved: Tree): RadioTree | null {
  const { fleets, stations, jammers } = saved;
  if (!Array.isArray(fleets) || !Array.isArray(stations) || !Array.isArray(jammers)) return null;
  const isPlace = (place: unknown): boolean => Array.isArray(place) && place.length === 3 && place.every(isNumber);
  const valid =
    list(fleets).every(({ name, radios }) => typeof name === "string" && list(radios).every(isRadio)) &&
    list(stations).every(({ position, radio }) => isPlace(position) && isRadio(tree(radio))) &&
    list(jammers).every(({ name, position }) => typeof name === "string" && (position === null || isPlace(position)));
  const spoofers = list(saved["spoofers"]).filter(({ position }) => position === null || isPlace(position));
  return valid ? ({ traffic: {}, services: {}, ...saved, spoofers } as unknown as RadioTree) : null;
}

function raceIn(saved: Tree): RecordedRace | null {
  const numbers = ["laps", "sectors", "cone_penalty", "off_course_penalty", "unsafe_stop_penalty"];
  const valid =
    ["discipline", "track"].every((name) => typeof saved[name] === "string") &&
    numbers.every((name) => isNumber(saved[name])) &&
    Number.isInteger(saved["sectors"]) &&
    (saved["sectors"] as number) >= 0 &&
    (saved["sectors"] as number) <= MOST_SECTORS;
  return valid ? (saved as unknown as RecordedRace) : null;
}

function isRadio(radio: Tree): boolean {
  return ["frequency", "bandwidth", "power", "needed", "range"].every((name) => isNumber(radio[name]));
}

function lookOf({ preset, dimensions }: Tree): Appearance {
  const sizes = Object.entries(tree(dimensions)).filter((entry): entry is [string, number] => isNumber(entry[1]));
  return { preset: typeof preset === "string" ? preset : null, dimensions: Object.fromEntries(sizes) };
}

function unitsIn(columns: Tree): ReadonlyMap<string, string> {
  return new Map(Object.entries(columns).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

function tree(value: unknown): Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Tree) : {};
}

function list(value: unknown): Tree[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}
