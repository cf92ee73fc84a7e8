import type { Config, ResolvedConfig } from "../schema/index.ts";
import { readConfigFile } from "./config-file.ts";
import type { Context } from "./context.ts";
import { openTarget } from "./open-platform.ts";
import type { Target } from "./platform/target.ts";
import { resolveProject } from "./project/resolve-config.ts";
import { explainStage } from "./project/stage-word.ts";

/** A project and the target that it is deployed to, or the exit code after its problems were printed. */
export type Opened =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly resolved: ResolvedConfig;
      readonly stage: string;
      readonly target: Target;
    }
  | { readonly ok: false; readonly code: number };

/** Reads tool.json, checks the stage's name, and opens the target. Makes no call yet. */
export async function openProjectTarget(
  context: Context,
  stage: string,
  options: { readonly sizes?: boolean } = {},
): Promise<Opened> {
  const file = await readConfigFile(context, options);
  if (!file.ok) return file;
  const wrong = explainStage(stage, file.config);
  if (wrong !== undefined) return { ok: false, code: await context.misuse(wrong.message, wrong.hint) };
  const { config: resolved } = resolveProject(context, file.config, { development: false });
  const target = await openTarget({ env: context.io.env, config: file.config, resolved });
  return { ok: true, config: file.config, resolved, stage, target };
}
