// The calls that the server answers, by name, as Python's schema has them.
import type { FrameTree, Methods } from "../net/schema";

export type { Methods, ScenarioText } from "../net/schema";
export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]["params"];
export type Result<M extends Method> = Methods[M]["result"];
/** null: as its entry says; "external": takes commands; else a behaviour, by name or with its options. */
export type Behaviour = Params<"give_order">["behaviour"];
/** A named transform frame: where it is in its parent ("" or "world", a vehicle, or another frame). */
export type TransformTree = FrameTree;
