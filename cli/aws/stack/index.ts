// The stack of an app: what stands in front of its function. Where to start reading is template.ts.
export { type EnsuredStack, ensureStage } from "./ensure-stage.ts";
export type { StackEvent } from "./operation.ts";
export type { StackInput } from "./resource.ts";
export { type DomainState, readStack, type StackState, type StageState, type ZoneState } from "./state.ts";
export { templateHash } from "./template.ts";
