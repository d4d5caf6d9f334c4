// All markers of a source: rebuilt when the board changes, moved with their frames.
import {
  BufferGeometry,
  GLSL3,
  Group,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  Points,
  RawShaderMaterial,
  Quaternion as Turn,
  Vector3,
} from "three";
import { type MarkerBoard, skippedMarkers } from "../state/markers";
import { emptyPose, type Pose, rotated, worldPose } from "../state/poses";
import type { Roster } from "../state/roster";
import type { Sample } from "../state/source";
import { CORNER, DOT, drawMarkers, type MarkerLabel, type MarkerParts, SEGMENT } from "./marker-geometry";
import { Ribbons } from "./ribbons";
import type { ViewState } from "./view";

const FACES_VERTEX = /* glsl */ `precision highp float;
in vec3 position;
in vec3 normal;
in vec4 paint;
uniform mat4 modelMatrix, viewMatrix, projectionMatrix;
out vec4 colour;
out vec3 facing;
void main() {
  gl_Position = projectionMatrix * viewMatrix * modelMatrix * vec4(position, 1.0);
  facing = mat3(modelMatrix) * normal;
  colour = paint;
}`;

const FACES_FRAGMENT = /* glsl */ `precision mediump float;
in vec4 colour;
in vec3 facing;
out vec4 shown;
void main() {
  vec3 n = normalize(gl_FrontFacing ? facing : -facing);
  float light = 0.62 + 0.2 * n.z + 0.3 * max(dot(n, vec3(0.36, -0.48, 0.8)), 0.0);
  shown = vec4(colour.rgb * light, colour.a);
}`;

const DOTS_VERTEX = /* glsl */ `precision highp float;
in vec3 position;
in float size;
in vec4 paint;
uniform mat4 modelMatrix, viewMatrix, projectionMatrix;
uniform float focal, ratio;
out vec4 colour;
void main() {
  vec4 eye = viewMatrix * modelMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * eye;
  gl_PointSize = clamp(size * focal / max(-eye.z, 0.05), 2.5 * ratio, 200.0);
  colour = paint;
}`;

const DOTS_FRAGMENT = /* glsl */ `precision mediump float;
in vec4 colour;
out vec4 shown;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r = dot(p, p);
  if (r > 1.0) discard;
  shown = vec4(colour.rgb * (0.7 + 0.3 * sqrt(1.0 - r) - 0.15 * p.y), colour.a);
}`;

class MarkerBatch {
  readonly group = new Group();
  readonly labels: readonly MarkerLabel[];
  private readonly ribbons = new Ribbons(4);
  private readonly dots: Points<BufferGeometry, RawShaderMaterial>;
  private readonly meshes: Mesh<BufferGeometry, RawShaderMaterial>[];

  constructor(parts: MarkerParts) {
    this.labels = parts.labels;
    this.group.matrixAutoUpdate = false;
    this.meshes = [faces(parts.triangles.view, false), faces(parts.clear.view, true)];
    this.dots = dots(parts.dots.view);
    this.fillRibbons(parts);
    this.group.add(...this.meshes, this.dots, this.ribbons.object);
  }

  view(view: ViewState): void {
    this.ribbons.view(view);
    const { uniforms } = this.dots.material;
    (uniforms["focal"] as { value: number }).value = view.focal * view.ratio;
    (uniforms["ratio"] as { value: number }).value = view.ratio;
  }

  dispose(): void {
    this.ribbons.dispose();
    for (const object of [...this.meshes, this.dots]) {
      object.geometry.dispose();
      object.material.dispose();
    }
  }

  private fillRibbons({ segments }: MarkerParts): void {
    const s = segments.view;
    for (let k = 0; k < s.length; k += SEGMENT) {
      const width = s[k + 6] as number;
      const colour = [s[k + 7], s[k + 8], s[k + 9], s[k + 10]] as [number, number, number, number];
      this.ribbons.add(s.subarray(k, k + 3), s.subarray(k + 3, k + 6), width > 0 ? -width : 2, colour);
    }
    this.ribbons.show();
  }
}

function faces(corners: Float32Array, translucent: boolean): Mesh<BufferGeometry, RawShaderMaterial> {
  const geometry = new BufferGeometry();
  const buffer = new InterleavedBuffer(corners.slice(), CORNER);
  geometry.setAttribute("position", new InterleavedBufferAttribute(buffer, 3, 0));
  geometry.setAttribute("normal", new InterleavedBufferAttribute(buffer, 3, 3));
  geometry.setAttribute("paint", new InterleavedBufferAttribute(buffer, 4, 6));
  const shaders = { vertexShader: FACES_VERTEX, fragmentShader: FACES_FRAGMENT };
  const material = new RawShaderMaterial({
    glslVersion: GLSL3,
    ...shaders,
    transparent: translucent,
    depthWrite: !translucent,
    side: 2,
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.visible = corners.length > 0;
  mesh.renderOrder = translucent ? 5 : 1;
  return mesh;
}

function dots(values: Float32Array): Points<BufferGeometry, RawShaderMaterial> {
  const geometry = new BufferGeometry();
  const buffer = new InterleavedBuffer(values.slice(), DOT);
  geometry.setAttribute("position", new InterleavedBufferAttribute(buffer, 3, 0));
  geometry.setAttribute("size", new InterleavedBufferAttribute(buffer, 1, 3));
  geometry.setAttribute("paint", new InterleavedBufferAttribute(buffer, 4, 4));
  const material = new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: DOTS_VERTEX,
    fragmentShader: DOTS_FRAGMENT,
    uniforms: { focal: { value: 1 }, ratio: { value: 1 } },
    transparent: true,
  });
  const points = new Points(geometry, material);
  points.frustumCulled = false;
  points.visible = values.length > 0;
  points.renderOrder = 3;
  return points;
}

// layer --------------------------------------------------------------------------------------------------------------

const ONE = new Vector3(1, 1, 1);

export class MarkerDrawing {
  private batches = new Map<string, MarkerBatch>();
  private version = -1;
  private board: MarkerBoard | null = null;

  constructor(private readonly group: Group) {}

  /** Draw the board's markers at a sample; return whether they were rebuilt. */
  update(board: MarkerBoard, sample: Sample, roster: Roster, view: ViewState): boolean {
    const version = board.version.peek();
    const changed = board !== this.board || version !== this.version;
    if (changed) this.rebuild(board);
    [this.board, this.version] = [board, version];
    for (const [frame, batch] of this.batches) {
      const pose = frame === "" ? emptyPose() : worldPose(frame, sample, roster);
      batch.group.visible = pose?.position.every(Number.isFinite) ?? false;
      if (pose) place(batch, pose);
      batch.view(view);
    }
    return changed;
  }

  /** Marker labels in world coordinates. */
  *words(sample: Sample, roster: Roster): Iterable<MarkerLabel> {
    for (const [frame, batch] of this.batches) {
      if (!batch.group.visible || batch.labels.length === 0) continue;
      const pose = frame === "" ? null : worldPose(frame, sample, roster);
      for (const words of batch.labels) yield pose ? moved(words, pose) : words;
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

function moved(words: MarkerLabel, { position, quaternion }: Pose): MarkerLabel {
  const [x, y, z] = rotated(quaternion, words.position);
  return { ...words, position: [position[0] + x, position[1] + y, position[2] + z] };
}
