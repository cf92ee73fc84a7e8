import { type Context, EXIT } from "../context.ts";
import { interruption } from "../interruption.ts";
import { openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { sayPlatformError } from "../output/platform-error.ts";
import { DEFAULT_STAGE } from "../project/stage-word.ts";

const DEFAULT_RETAIN = 30;

/** `tool prune`: removes the oldest deployments of a stage; the current one and the one before always stay. */
export async function prune(
  context: Context,
  flags: { readonly stage: string; readonly retain: string },
): Promise<number> {
  const retain = flags.retain === "" ? DEFAULT_RETAIN : Number(flags.retain);
  if (!Number.isInteger(retain) || retain < 0 || !/^\d*$/.test(flags.retain)) {
    return context.misuse(`--retain ${flags.retain} is not a number of deployments`, "write --retain 30");
  }
  const opened = await openProjectTarget(context, flags.stage || DEFAULT_STAGE);
  if (!opened.ok) return opened.code;
  const { stage, target } = opened;
  const stop = interruption(context);
  const progress = deployProgress(context);
  try {
    const result = await target.prune({ stage, retain }, { signal: stop.signal, report: progress.report });
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
