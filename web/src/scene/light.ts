// The light of the scene: direction of the sun, brightness by theme, and the shadow map that shaders read.
import { type IUniform, Matrix4, type Texture } from "three";
import type { Theme } from "../state/store";

/** Unit vector towards the sun. */
export const SUN = [0.36, -0.48, 0.8] as const;
/** Layer of objects that cast shadows. */
export const CASTS = 1;

/** Shared by all materials that are shaded. `shadowing`: distance of the samples on the map; 0: no shadows. */
export const shadowUniforms: Readonly<Record<"shadowMap" | "shadowMatrix" | "shadowing" | "shadowOffset", IUniform>> = {
  shadowMap: { value: null as Texture | null },
  shadowMatrix: { value: new Matrix4() },
  shadowing: { value: 0 },
  shadowOffset: { value: 0 }, // m, away from the surface
};

/** `sunlight(p, n)`: 1 in the sun, 0 in the shadow; 3 x 3 samples, each filtered. */
export const SUNLIGHT = /* glsl */ `
uniform highp sampler2DShadow shadowMap;
uniform highp mat4 shadowMatrix;
uniform highp float shadowing, shadowOffset;
float sunlight(vec3 p, vec3 n) {
  if (shadowing == 0.0) return 1.0;
  const vec3 sun = vec3(${SUN.join(", ")});
  float faces = smoothstep(0.0, 0.25, dot(n, sun));
  vec3 s = (shadowMatrix * vec4(p + shadowOffset * (n + 0.7 * sun), 1.0)).xyz;
  vec2 off = abs(s.xy - 0.5);
  if (max(off.x, off.y) > 0.495 || s.z > 1.0 || faces == 0.0) return faces;
  float sum = 0.0;
  for (int k = 0; k < 9; k++) sum += texture(shadowMap, vec3(s.xy + shadowing * vec2(k % 3 - 1, k / 3 - 1), s.z));
  return faces * mix(sum / 9.0, 1.0, smoothstep(0.4, 0.495, max(off.x, off.y)));
}
`;

/** Light from above and from below. */
export function lightOf(theme: Theme): { sky: number[]; ground: number[] } {
  return theme === "light"
    ? { sky: [0.92, 0.94, 0.96], ground: [0.52, 0.5, 0.47] }
    : { sky: [0.8, 0.86, 0.92], ground: [0.34, 0.36, 0.4] };
}
