// Which way the camera looks over the ground, from where two places of the canvas meet it.
import type { Stage } from "../scene/stage";

type Looking = Pick<Stage, "canvas" | "groundPoint">;
const LOWER = 0.9; // shares of the canvas' height, both below the horizon of every usual view
const UPPER = 0.8;

/** rad, counter-clockwise from east; north when the ground is not in sight. */
export function cameraHeading(stage: Looking): number {
  const { clientWidth: width, clientHeight: height } = stage.canvas;
  const near = stage.groundPoint(width / 2, height * LOWER, 0);
  const far = stage.groundPoint(width / 2, height * UPPER, 0);
  if (!near || !far) return Math.PI / 2;
  return Math.atan2(far[1] - near[1], far[0] - near[0]);
}
