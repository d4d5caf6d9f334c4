// What every drawing needs to know about the camera of this frame.
import type { PerspectiveCamera } from "three";
import type { Matrix, Size } from "./projection";
import type { Skin } from "./skin";

export interface ViewState {
  camera: PerspectiveCamera;
  matrix: Matrix; // view-projection
  eye: [number, number, number];
  focal: number; // CSS px that one metre at one metre's distance takes
  ratio: number; // canvas px per CSS px
  size: Size;
  unit: number; // CSS px that 1 px of a small screen is: lines and dots grow with the page's letters
  skin: Skin;
  now: number; // performance.now()
}
