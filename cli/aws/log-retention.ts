import type { Config } from "../../schema/index.ts";
import type { StackChange } from "../platform/stack.ts";
import type { Cloud } from "./clients.ts";
import { logGroupName, TAGS } from "./names.ts";

/** A log that nobody thought of is not kept, and paid, for ever. */
const DEFAULT_DAYS = 30;

/** Days; undefined is for ever. */
type Retention = number | undefined;

/** `30d` or `forever` of tool.json. */
const retentionOf = (text: string): Retention => (text === "forever" ? undefined : Number.parseInt(text, 10));

/** How long a new log is kept, in days; undefined is for ever. */
export const retentionDays = ({ logs }: Pick<Config, "logs">): Retention =>
  logs?.retention === undefined ? DEFAULT_DAYS : retentionOf(logs.retention);

/**
 * Makes the log group of a new function, before the platform does, which would keep it for ever: one that is kept for ever is left
 * to the platform, unless something needs it before. A group that exists stays as it is: `stack apply` changes it.
 */
export async function makeLogGroup(
  cloud: Cloud,
  app: Pick<Config, "name" | "logs">,
  { signal, isNeeded = false }: { readonly signal: AbortSignal; readonly isNeeded?: boolean },
): Promise<void> {
  const days = retentionDays(app);
  if (days === undefined && !isNeeded) return;
  const client = await cloud.logs();
  const logGroup = logGroupName(app.name);
  try {
    await client.createLogGroup({ logGroupName: logGroup, tags: { [TAGS.app]: app.name } }, { abortSignal: signal });
  } catch (error) {
    if ((error as Error).name === "ResourceAlreadyExistsException") return;
    throw error;
  }
  if (days === undefined) return;
  await client.putRetentionPolicy({ logGroupName: logGroup, retentionInDays: days }, { abortSignal: signal });
}

export interface RetentionChange {
  readonly before: Retention;
  readonly after: Retention;
}

/** The change that tool.json asks for; undefined if it says nothing, or what is there, or there is no log yet. */
export async function retentionChange(
  cloud: Cloud,
  { name, logs }: Pick<Config, "name" | "logs">,
  signal: AbortSignal,
): Promise<RetentionChange | undefined> {
  if (logs?.retention === undefined) return undefined;
  const client = await cloud.logs();
  const logGroup = logGroupName(name);
  const { logGroups = [] } = await client.describeLogGroups({ logGroupNamePrefix: logGroup }, { abortSignal: signal });
  const group = logGroups.find(({ logGroupName }) => logGroupName === logGroup);
  const after = retentionOf(logs.retention);
  if (group === undefined || group.retentionInDays === after) return undefined;
  return { before: group.retentionInDays, after };
}

/** The change as a plan shows it. What is older than the new time is gone soon after: that is asked like a removal. */
export function retentionInPlan(name: string, { before, after }: RetentionChange): StackChange {
  const isShorter = after !== undefined && (before === undefined || after < before);
  const json = (days: Retention) => (days === undefined ? undefined : JSON.stringify(days));
  return {
    action: "change",
    id: logGroupName(name),
    type: LOG_GROUP,
    about: "retention of the log",
    stage: undefined,
    replaced: "no",
    isKept: false,
    needsConfirmation: isShorter,
    properties: [{ path: "RetentionInDays", before: json(before), after: json(after) }],
  };
}

const LOG_GROUP = "AWS::Logs::LogGroup";

export async function changeRetention(
  cloud: Cloud,
  name: string,
  { after }: RetentionChange,
  signal: AbortSignal,
): Promise<void> {
  const client = await cloud.logs();
  const group = { logGroupName: logGroupName(name) };
  const options = { abortSignal: signal };
  if (after === undefined) await client.deleteRetentionPolicy(group, options);
  else await client.putRetentionPolicy({ ...group, retentionInDays: after }, options);
}
