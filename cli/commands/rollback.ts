import { type Context, EXIT } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { openLogTokens } from "../open-platform.ts";
import { type OpenedProject, openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { shortList } from "../output/short-list.ts";
import { usesFirehose } from "../platform/log-tokens.ts";
import type { Options } from "../table.ts";

/** `tool rollback [version]`: activates an earlier deployment of a stage; without a version, the previous one. */
export async function rollback(context: Context, options: Options<"rollback">): Promise<number> {
  const project = await openProjectTarget(context, options.stage, { sandbox: options.sandbox, needsLittle: true });
  const { stage, target } = project;
  const progress = deployProgress(context);
  const interrupted = () => `interrupted: tool deploys -s ${stage} shows which one is active`;
  return interruptible(context, { progress, interrupted }, async ({ signal }) => {
    const result = await target.rollback({ stage, to: options.version }, { signal, report: progress.report });
    if (context.format === "json") {
      await context.print(JSON.stringify({ ...result, commit: result.commit ?? null }, null, 2));
      return EXIT.ok;
    }
    const what = `version ${result.version}${result.commit === undefined ? "" : ` (${result.commit})`}`;
    if (result.outcome === "unchanged") {
      await context.print(`${stage} is unchanged: ${what} is already active`);
      return EXIT.ok;
    }
    await context.print(`${stage} is rolled back to ${what}, from version ${result.previousVersion}`);
    if (options.version === undefined && Number(result.version) > Number(result.previousVersion)) {
      await context.say(
        `version ${result.version} is newer: without a version, tool rollback toggles between the last two; tool rollback VERSION --stage ${stage} activates another one of tool deploys`,
      );
    }
    if (result.wasFailed) {
      await context.say(
        `version ${result.version} did not start when it was deployed: tool rollback ${result.previousVersion} --stage ${stage} restores version ${result.previousVersion}`,
      );
    }
    if (result.differingVariables.length > 0) {
      await context.say(
        `it has the variables of its own deploy; other than version ${result.previousVersion} had: ${shortList(result.differingVariables)}`,
      );
    }
    const ended = await endedToken(context, project, { version: result.version, signal });
    if (ended !== undefined) await context.say(ended);
    return EXIT.ok;
  });
}

/** Says that the version sends nothing to the log service of tool.json, if that is so. */
async function endedToken(
  context: Context,
  { config, resolved, stage, sandbox }: OpenedProject,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (config.logs?.service === undefined || sandbox !== undefined || usesFirehose(config)) return undefined;
  const { env, clock } = context.io;
  const tokens = await openLogTokens({ env, clock, config, resolved, sandbox });
  const { endedTokenOf } = await import("../service/log-delivery.ts");
  return endedTokenOf({ config, stage, tokens, watched: { signal, report() {} } }, version);
}
