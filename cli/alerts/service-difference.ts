import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../schema/index.ts";
import { projectIdOf } from "../../schema/project-id.ts";
import { CONFIG_FILE } from "../config-file.ts";
import type { Context } from "../context.ts";
import { accountClient } from "../team/account-client.ts";
import { tokenForFile } from "../team/token-for-service.ts";
import { logsAsCode } from "./configured-alerts.ts";
import { planRecords, type RecordKind } from "./plan-records.ts";
import { storedRecords } from "./stored-records.ts";

/** A deploy waits no longer for an answer that is only a remark. */
const ANSWER_MS = 2_000;

/**
 * Says in a line that the log service has other searches, alerts or notifications than tool.json. Undefined if it has the same,
 * and if it cannot be asked: nobody is signed in there, or it does not answer soon. Secrets are not compared.
 */
export async function serviceDifference(
  context: Context,
  { config, signal }: { readonly config: Config; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { service, project = projectIdOf(config.name)! } = config.logs ?? {};
  if (service === undefined) return undefined;
  try {
    const text = await readFile(join(context.directory, CONFIG_FILE), "utf8");
    const code = logsAsCode(context, { config, text });
    if (code.queries.size + code.alerts.size + code.notifications.size === 0) return undefined;
    const { origin } = new URL(service);
    const { token, remedy } = tokenForFile(context, origin);
    const { clock } = context.io;
    const client = accountClient({ url: origin, token, signIn: remedy, signal, answerMs: ANSWER_MS, clock });
    const there = (await storedRecords(client, project)) ?? { alerts: [], notifications: [], searches: [] };
    const { changes } = planRecords({ app: config.name, project, ...code }, there, () => true);
    if (changes.length === 0) return undefined;
    const kinds = countsOf(changes.map(({ kind }) => kind));
    const isNew = changes.every(({ action }) => action === "add");
    const are = changes.length === 1 ? "is" : "are";
    return isNew
      ? `${kinds} of tool.json ${are} not in the log service yet: tool stack apply`
      : `the log service differs from tool.json (${kinds}): tool stack apply`;
  } catch (error) {
    // The stage is deployed; whatever is wrong there, `tool stack apply` says it.
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** `2 alerts and 1 search` */
function countsOf(kinds: readonly RecordKind[]): string {
  const words = { alert: "alerts", search: "searches", notification: "notifications" };
  const counts = (["alert", "search", "notification"] as const).flatMap((kind) => {
    const count = kinds.filter((one) => one === kind).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? kind : words[kind]}`];
  });
  return counts.length > 1 ? `${counts.slice(0, -1).join(", ")} and ${counts.at(-1)}` : counts.join("");
}
