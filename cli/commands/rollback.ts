import { type Context, EXIT } from "../context.ts";
import { interruption } from "../interruption.ts";
import { openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { sayPlatformError } from "../output/platform-error.ts";
import type { Options } from "../table.ts";

/** `tool rollback [version]`: an earlier deployment of a stage in force again; without a version the one before. */
export async function rollback(context: Context, options: Options<"rollback">): Promise<number> {
  const opened = await openProjectTarget(context, options.stage);
  if (!opened.ok) return opened.code;
  const { stage, target } = opened;
  const stop = interruption(context);
  try {
    const result = await target.rollback(
      { stage, to: options.version },
      { signal: stop.signal, report: deployProgress(context).report },
    );
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
    if (result.differingVariables.length > 0) {
      await context.say(
        `it runs with the variables of its own deploy; these differ: ${result.differingVariables.join(", ")}`,
      );
    }
    return EXIT.ok;
  } catch (error) {
    if (!stop.signal.aborted) return await sayPlatformError(context, error);
    await context.say(`interrupted: tool deploys -s ${stage} shows which one is active`);
    return EXIT.interrupted;
  } finally {
    stop.release();
  }
}
