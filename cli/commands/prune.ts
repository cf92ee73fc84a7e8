import { type Context, EXIT } from "../context.ts";
import { interruption } from "../interruption.ts";
import { openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { sayPlatformError } from "../output/platform-error.ts";
import type { Options } from "../table.ts";

/** `tool prune`: removes the oldest deployments of a stage; the current one and the one before always stay. */
export async function prune(context: Context, options: Options<"prune">): Promise<number> {
  const opened = await openProjectTarget(context, options.stage);
  if (!opened.ok) return opened.code;
  const { stage, target } = opened;
  const stop = interruption(context);
  const progress = deployProgress(context);
  try {
    const result = await target.prune(
      { stage, retain: options.retain },
      { signal: stop.signal, report: progress.report },
    );
    if (context.format === "json") await context.print(JSON.stringify(result, null, 2));
    else {
      const { removed, kept } = result;
      const count = (amount: number) => `${amount} deployment${amount === 1 ? "" : "s"}`;
      await context.print(`${count(removed.length)} of ${stage} removed, ${kept} kept`);
    }
    return EXIT.ok;
  } catch (error) {
    progress.end();
    if (!stop.signal.aborted) return await sayPlatformError(context, error);
    await context.say("interrupted: tool prune removes the rest");
    return EXIT.interrupted;
  } finally {
    stop.release();
  }
}
