import type { LogRecords } from "../../schema/as-config.ts";
import { RpcFailure } from "../../schema/rpc-client.ts";
import type { AccountClient } from "../team/account-client.ts";
import { TeamError } from "../team/error.ts";

/** The records of a project of a log service. Throws a TeamError. */
export async function allRecords(client: AccountClient, project: string): Promise<LogRecords> {
  const input = { project_id: project };
  const [{ alerts }, { notifications }, { searches }] = await Promise.all([
    client.call("get_alerts", input),
    client.call("get_notifications", input),
    client.call("get_searches", input),
  ]);
  return { alerts, notifications, searches };
}

/** The same, undefined if there is no such project. */
export async function storedRecords(client: AccountClient, project: string): Promise<LogRecords | undefined> {
  try {
    return await allRecords(client, project);
  } catch (error) {
    if (error instanceof TeamError && error.cause instanceof RpcFailure && error.cause.status === 404) return undefined;
    throw error;
  }
}
