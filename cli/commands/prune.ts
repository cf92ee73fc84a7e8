import { type Context, EXIT } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import type { Options } from "../table.ts";

/** `tool prune`: removes the oldest deployments of a stage; the current and the previous one always stay. */
export async function prune(context: Context, options: Options<"prune">): Promise<number> {
  const { retain } = options;
  const { stage, target } = await openProjectTarget(context, options.stage, { sandbox: options.sandbox });
  const progress = deployProgress(context);
  const interrupted = () => "interrupted: tool prune removes the rest";
  return interruptible(context, { progress, interrupted }, async ({ signal }) => {
    const result = await target.prune({ stage, retain }, { signal, report: progress.report });
    if (context.format === "json") await context.print(JSON.stringify(result, null, 2));
    else {
      const { removed, kept } = result;
      const count = (amount: number) => `${amount} deployment${amount === 1 ? "" : "s"}`;
      await context.print(`${count(removed.length)} of ${stage} removed, ${kept} kept`);
    }
    return EXIT.ok;
  });
}
