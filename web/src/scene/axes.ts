// Axes of the named transform frames and of the vehicle that is followed: x red, y green, z blue.
import { rotated, transforms, worldPose } from "../state/frames";
import { type Pose, poseAt } from "../state/interpolate";
import type { Roster } from "../state/roster";
import type { Sample } from "../state/source";
import { type Rgba, Ribbons } from "./ribbons";
import type { ViewState } from "./viewState";

const COLOURS: readonly Rgba[] = [[255, 92, 92, 255], [95, 211, 141, 255], [88, 150, 255, 255]];
const LENGTH_PX = 46;

export class Axes {
  readonly ribbons = new Ribbons(8, false);

  /** `focus` is the row that is followed; null: the layer is off. */
  update(view: ViewState, sample: Sample, roster: Roster, focus: number | undefined | null): void {
    this.ribbons.clear();
    if (focus !== null) {
      this.axesOf({ position: [0, 0, 0], quaternion: [0, 0, 0, 1] }, view);
      for (const name of transforms.peek().keys()) {
        const pose = worldPose(name, sample, roster);
        if (pose) this.axesOf(pose, view);
      }
      if (focus !== undefined) this.axesOf(poseAt(sample, focus), view);
    }
    this.ribbons.view(view);
    this.ribbons.show();
  }

  dispose(): void {
    this.ribbons.dispose();
  }

  private axesOf({ position, quaternion }: Pose, view: ViewState): void {
    const [x, y, z] = position;
    const away = Math.hypot(x - view.eye[0], y - view.eye[1], z - view.eye[2]);
    if (!Number.isFinite(away)) return;
    const length = (LENGTH_PX * away) / view.focal;
    for (let k = 0; k < 3; k++) {
      const tip = rotated(quaternion, [k === 0 ? length : 0, k === 1 ? length : 0, k === 2 ? length : 0]);
      this.ribbons.add(position, [x + tip[0], y + tip[1], z + tip[2]], 2.4, COLOURS[k] as Rgba);
    }
  }
}
