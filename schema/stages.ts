import type { Config, Hooks } from "./config.generated.ts";
import type { ResolvedConfig } from "./resolved-config.ts";

/** The stages that exist without being written (specification, "stages"). `development` is the local one. */
export const DEFAULT_STAGES = ["development", "staging", "production"] as const;

/**
 * The configuration as one stage has it: `hooks` replaced hook by hook, `function` merged field by field,
 * `proxy.command` replaced. Pure; a stage that is not written changes nothing.
 */
export function forStage<T extends Config | ResolvedConfig>(config: T, stage: string): T {
  const stages = config.stages ?? {};
  const overrides = Object.hasOwn(stages, stage) ? stages[stage]! : {};
  const result = { ...config };
  if (overrides.hooks !== undefined) result.hooks = { ...config.hooks, ...overrides.hooks };
  if (overrides.function !== undefined) result.function = { ...config.function, ...overrides.function };
  const command = overrides.proxy?.command;
  if (command !== undefined) result.proxy = { ...config.proxy, command };
  return result;
}

/** A hook's commands in order, however it is written. */
export function hookCommands(hooks: Hooks | undefined, name: keyof Hooks): string[] {
  const hook = hooks?.[name];
  return hook === undefined ? [] : [hook].flat();
}
