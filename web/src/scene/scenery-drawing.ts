// Draws terrain, roads, track, friction and obstacles of one scenery.
import { Group } from "three";
import type { Relief } from "../state/scenery";
import type { Layers } from "../state/store";
import type { SceneryTree } from "../wire/schema";
import type { AsphaltLayer } from "./asphalt";
import { frictionImage } from "./friction";
import { ObstacleLayer } from "./obstacles";
import { roadLayer } from "./roads";
import { Terrain } from "./terrain";
import { isTrackRoad, trackCones, trackLayer } from "./track";
import type { ViewState } from "./view";

export class SceneryDrawing {
  readonly group = new Group();
  readonly uneven: boolean;
  readonly friction: { low: number; high: number; mu: number } | null;
  private readonly terrain: Terrain | null;
  private readonly obstacles: ObstacleLayer;
  private readonly roads: AsphaltLayer;
  private readonly track: AsphaltLayer | null;

  constructor(tree: SceneryTree, relief: Relief | null, section: Readonly<Record<string, unknown>>) {
    const image = frictionImage(tree, section);
    this.uneven = relief !== null;
    this.friction = image && { low: image.least, high: image.most, mu: image.mu };
    this.terrain = relief || image ? new Terrain(relief, tree.ground_z, image) : null;
    const height = (x: number, y: number) => relief?.heightAt(x, y) ?? tree.ground_z;
    this.obstacles = new ObstacleLayer(tree.obstacles, tree.track ? trackCones(tree.track, height) : {});
    this.track = tree.track && trackLayer(tree.track, relief, tree.ground_z);
    const { track } = tree;
    const roads = track ? tree.roads.filter((road) => !isTrackRoad(road, track)) : tree.roads;
    this.roads = roadLayer(roads, relief, tree.ground_z);
    if (this.terrain) this.group.add(this.terrain.mesh);
    this.group.add(this.obstacles.group, ...this.roads.meshes, ...(this.track?.meshes ?? []));
  }

  view(view: ViewState, { grid, friction, obstacles, roads }: Layers): void {
    this.terrain?.view(view, grid, friction);
    this.obstacles.group.visible = obstacles;
    this.obstacles.view(view);
    this.roads.view(view, roads);
    this.track?.view(view, roads);
  }

  dispose(): void {
    this.terrain?.dispose();
    this.obstacles.dispose();
    this.roads.dispose();
    this.track?.dispose();
  }
}
