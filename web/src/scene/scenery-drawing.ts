// Draws terrain, roads, friction and obstacles of one scenery.
import { Group } from "three";
import type { Relief } from "../state/scenery";
import type { Layers } from "../state/store";
import type { SceneryTree } from "../wire/schema";
import { frictionImage } from "./friction";
import { ObstacleLayer } from "./obstacles";
import { RoadLayer } from "./roads";
import { Terrain } from "./terrain";
import type { ViewState } from "./view";

export class SceneryDrawing {
  readonly group = new Group();
  readonly uneven: boolean;
  readonly friction: { low: number; high: number; mu: number } | null;
  private readonly terrain: Terrain | null;
  private readonly obstacles: ObstacleLayer;
  private readonly roads: RoadLayer;

  constructor(tree: SceneryTree, relief: Relief | null, section: Readonly<Record<string, unknown>>) {
    const image = frictionImage(tree, section);
    this.uneven = relief !== null;
    this.friction = image && { low: image.least, high: image.most, mu: image.mu };
    this.terrain = relief || image ? new Terrain(relief, tree.ground_z, image) : null;
    this.obstacles = new ObstacleLayer(tree.obstacles);
    this.roads = new RoadLayer(tree.roads, relief, tree.ground_z);
    if (this.terrain) this.group.add(this.terrain.mesh);
    this.group.add(this.obstacles.group, ...this.roads.meshes);
  }

  view(view: ViewState, { grid, friction, obstacles, roads }: Layers): void {
    this.terrain?.view(view, grid, friction);
    this.obstacles.group.visible = obstacles;
    this.obstacles.view(view);
    this.roads.view(view, roads);
  }

  dispose(): void {
    this.terrain?.dispose();
    this.obstacles.dispose();
    this.roads.dispose();
  }
}
