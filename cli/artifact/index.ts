// What is deployed: build steps, files, zip. Where to start reading is artifact.ts.
export {
  type Artifact,
  type ArtifactFile,
  type BuildEvent,
  type BuildOptions,
  type BuildResult,
  buildArtifact,
} from "./artifact.ts";
export type { LeftOut } from "./collect.ts";
export { type Delivery, deliveryOf } from "./delivery.ts";
export { bySize } from "./limits.ts";
export type { BuildProblem } from "./problem.ts";
