import { DEFAULT_STAGES } from "../../schema/index.ts";
import { copyToClipboard } from "../clipboard.ts";
import { type Context, EXIT } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import type { Options } from "../table.ts";

/** `tool url`: prints a stage's URL, and opens it in the browser or copies it. */
export async function url(context: Context, options: Options<"url">): Promise<number> {
  const { config, stage, target, sandbox } = await openProjectTarget(context, options.stage, {
    sandbox: options.sandbox,
    needsLittle: true,
  });
  const progress = deployProgress(context);
  return interruptible(context, { progress }, async ({ signal }) => {
    const url = await target.url(stage, { signal, report: progress.report });
    if (url === undefined) {
      return context.fail(`${stage} is not deployed and has no URL`, howToDeploy(stage));
    }
    if (context.format === "json") await context.print(JSON.stringify({ stage, url }, null, 2));
    else await context.print(url);
    if (options.copy && !(await copyToClipboard(context.io, url))) {
      return context.fail(
        "there is no clipboard to copy to",
        "on Linux, copying needs wl-copy, xclip or xsel, and a display",
      );
    }
    const inBrowser = sandbox?.browserUrlOf(config.name, stage) ?? url;
    if (options.open && !(await openInBrowser(context.io, inBrowser))) {
      return context.fail("there is no display to open a browser on", `visit ${inBrowser}`);
    }
    return EXIT.ok;
  });
}

/** Only the stages that every app has are made by a deploy. */
function howToDeploy(stage: string): string {
  const isUsual = (DEFAULT_STAGES as readonly string[]).includes(stage);
  const deploy = `tool deploy ${stage} deploys it`;
  return isUsual ? deploy : `if the stage is new, tool stack apply makes it first; ${deploy}`;
}
