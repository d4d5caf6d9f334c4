// Pieces of shader that several drawings share: pulling the pose of a row from the textures, and turning vectors.
export const ROW_WIDTH = 1024; // texels in a line of every per-row texture

export const POSE = /* glsl */ `
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D fromPoses;
uniform usampler2D toPoses;
uniform sampler2D tints;
uniform float mixing;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;

ivec2 cellOf(int row) { return ivec2(row & ${ROW_WIDTH - 1}, row >> 10); }

vec4 turnOf(uint word) {
  vec3 o = (vec3(uvec3(word >> 20u, word >> 10u, word) & 1023u) / 511.0 - 1.0) * 0.70710678;
  float l = sqrt(max(0.0, 1.0 - dot(o, o)));
  uint largest = word >> 30u;
  if (largest == 0u) return vec4(l, o);
  if (largest == 1u) return vec4(o.x, l, o.yz);
  if (largest == 2u) return vec4(o.xy, l, o.z);
  return vec4(o, l);
}

vec4 turnBetween(uint a, uint b) {
  vec4 p = turnOf(a);
  vec4 q = turnOf(b);
  return normalize(mix(p, dot(p, q) < 0.0 ? -q : q, mixing));
}

// by its bits: compilers may assume that there is no NaN
bool nowhere(uvec4 pose) {
  return any(equal(pose.xyz & 0x7f800000u, uvec3(0x7f800000u)));
}

vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
`;

export const NOWHERE = "vec4(2.0, 2.0, 2.0, 1.0)";
