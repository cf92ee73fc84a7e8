import { type Context, EXIT } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { shortList } from "../output/short-list.ts";
import type { Options } from "../table.ts";

/** `tool rollback [version]`: activates an earlier deployment of a stage; without a version, the previous one. */
export async function rollback(context: Context, options: Options<"rollback">): Promise<number> {
  const { stage, target } = await openProjectTarget(context, options.stage, { sandbox: options.sandbox });
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
    return EXIT.ok;
  });
}
