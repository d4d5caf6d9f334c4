// Numbers of the fields of the messages that are read here; a test compares them with messages.proto.
export const FIELDS = {
  RunStart: { run: 1, seed: 2, scenario_json: 3, reason: 5 },
  Roster: { number: 1, fleets: 2 },
  Fleet: { name: 1, kind: 2, model: 3, columns: 4, ids: 5, members: 6, single: 7 },
  State: { tick: 1, sim_time: 2, run: 3, roster_number: 4, precision: 6, blocks: 7 },
  Event: { number: 1, tick: 2, kind: 3, subject: 4, detail: 5 },
  MarkerCommand: { put: 1, delete: 2, clear: 3, visible: 4 },
  MarkerArray: { markers: 1 },
  DeleteMarkers: { namespace: 1, ids: 2 },
  ClearMarkers: { namespace: 1 },
  ShowMarkers: { namespace: 1, visible: 2 },
  Marker: {
    namespace: 1,
    id: 2,
    kind: 3,
    color: 4,
    scale: 5,
    position: 6,
    quaternion: 7,
    frame: 8,
    text: 9,
    points: 10,
    ttl: 11,
  },
  Vector: { x: 1, y: 2, z: 3 },
  Quaternion: { x: 1, y: 2, z: 3, w: 4 },
  Color: { r: 1, g: 2, b: 3, a: 4 },
} as const;

/** Names of the values of enums, in their order from 0. */
export const ENUMS = {
  MarkerKind: [
    "POINTS",
    "LINE_STRIP",
    "LINE_LIST",
    "CIRCLE",
    "RING",
    "ARROW",
    "TEXT",
    "TRIANGLE_LIST",
    "CAR",
    "MESH",
    "AXES",
  ],
  Reason: ["START", "RESET", "RESTORE"],
  Precision: ["DOUBLE", "SINGLE"],
} as const;
