// All markers of a source: rebuilt when the board says that something has changed, moved with the frames that they
// are in.
import { Group, Quaternion as Turn, Vector3 } from "three";
import { rotated, worldPose } from "../../state/frames";
import { emptyPose, type Pose } from "../../state/interpolate";
import type { MarkerBoard } from "../../state/markers";
import type { Roster } from "../../state/roster";
import { skippedMarkers } from "../../state/skipped";
import type { Sample } from "../../state/source";
import type { ViewState } from "../viewState";
import { MarkerBatch } from "./batch";
import { drawMarkers } from "./geometry";
import type { Words } from "./parts";

const ONE = new Vector3(1, 1, 1);

export class MarkerLayer {
  readonly group = new Group();
  private batches = new Map<string, MarkerBatch>();
  private version = -1;
  private board: MarkerBoard | null = null;

  /** Draw the board's markers as they are at a sample; whether they were built anew. */
  update(board: MarkerBoard, sample: Sample, roster: Roster, view: ViewState): boolean {
    const version = board.version.peek();
    const changed = board !== this.board || version !== this.version;
    if (changed) this.rebuild(board);
    [this.board, this.version] = [board, version];
    for (const [frame, batch] of this.batches) {
      const pose = frame === "" ? emptyPose() : worldPose(frame, sample, roster);
      batch.group.visible = pose !== null && pose.position.every(Number.isFinite);
      if (pose) place(batch, pose);
      batch.view(view);
    }
    return changed;
  }

  /** The words of markers, in world coordinates. */
  *words(sample: Sample, roster: Roster): Iterable<Words> {
    for (const [frame, batch] of this.batches) {
      if (!batch.group.visible || batch.words.length === 0) continue;
      const pose = frame === "" ? null : worldPose(frame, sample, roster);
      for (const words of batch.words) yield pose ? moved(words, pose) : words;
    }
  }

  dispose(): void {
    for (const batch of this.batches.values()) batch.dispose();
    this.batches.clear();
    this.group.clear();
    this.board = null;
  }

  private rebuild(board: MarkerBoard): void {
    this.dispose();
    const { frames, skipped } = drawMarkers(board.visible());
    skippedMarkers.value = skipped;
    for (const [frame, parts] of frames) {
      const batch = new MarkerBatch(parts);
      this.batches.set(frame, batch);
      this.group.add(batch.group);
    }
  }
}

function place(batch: MarkerBatch, { position, quaternion }: Pose): void {
  batch.group.matrix.compose(new Vector3(...position), new Turn(...quaternion), ONE);
  batch.group.matrixWorldNeedsUpdate = true;
}

function moved(words: Words, { position, quaternion }: Pose): Words {
  const [x, y, z] = rotated(quaternion, words.position);
  return { ...words, position: [position[0] + x, position[1] + y, position[2] + z] };
}
