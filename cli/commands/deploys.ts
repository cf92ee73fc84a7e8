import { type Context, EXIT } from "../context.ts";
import { DEFAULT_STAGE } from "../default-stage.ts";
import { interruptible } from "../interruption.ts";
import { openProjectTarget } from "../open-project.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { listText } from "../output/list-text.ts";
import type { Deployment } from "../platform/target.ts";
import type { Options } from "../table.ts";

/** `tool deploys`: lists the deployments that are kept, newest first, of all stages or of one. */
export async function deploys(context: Context, { stage, sandbox }: Options<"deploys">): Promise<number> {
  const { config, target } = await openProjectTarget(context, stage ?? DEFAULT_STAGE, { sandbox, needsLittle: true });
  const progress = deployProgress(context);
  return interruptible(context, { progress }, async ({ signal }) => {
    const all = await target.deploys({ signal, report: progress.report });
    const deployments = stage === undefined ? all : all.filter((deployment) => deployment.stage === stage);
    if (context.format === "json") {
      const rows = deployments.map(({ commit, author, ...row }) => ({
        ...row,
        commit: commit ?? null,
        author: author ?? null,
      }));
      await context.print(JSON.stringify({ deployments: rows }, null, 2));
    } else if (deployments.length === 0) {
      await context.say(`${stage ?? config.name} is not deployed`);
    } else {
      await context.print(renderTable(deployments));
    }
    return EXIT.ok;
  });
}

const STATES: Readonly<Record<Deployment["state"], string>> = {
  current: "current",
  previous: "previous",
  kept: "",
  failed: "did not start",
};

function renderTable(deployments: readonly Deployment[]): string {
  const head = ["STAGE", "VERSION", "COMMIT", "AUTHOR", "DATE", ""];
  const rows = deployments.map(({ stage, version, commit, author, date, state }) => [
    stage,
    version,
    commit ?? "-",
    author ?? "-",
    `${date.slice(0, 10)} ${date.slice(11, 16)} UTC`,
    STATES[state],
  ]);
  return listText(head, rows);
}
