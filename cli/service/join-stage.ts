import type { Clock } from "../../grammar/units/clock.ts";
import { projectIdOf } from "../../schema/project-id.ts";
import { RpcFailure } from "../../schema/rpc-client.ts";
import type { LogServiceHere, SandboxFolder } from "../sandbox/folder.ts";
import { type AccountClient, accountClient } from "../team/account-client.ts";
import { TeamError } from "../team/error.ts";
import { endToken, makeToken } from "./log-delivery.ts";

export interface JoinRequest {
  readonly app: string;
  /** Or `ALL_OF_APP`. */
  readonly stage: string;
  readonly signal?: AbortSignal;
  readonly clock: Clock;
}

/**
 * Sees that a stage in the sandbox has a token that the log service of `npm start` knows. Returns the service's team. Throws a
 * TeamError if the service does not answer as one.
 */
export async function joinStage(folder: SandboxFolder, here: LogServiceHere, request: JoinRequest): Promise<string> {
  const { app, stage, signal, clock } = request;
  const project = projectIdOf(app)!;
  const client = (token: string): AccountClient =>
    accountClient({ url: here.url, token, signIn: "npm start", ...(signal && { signal }), clock });
  const owner = client(here.token);
  const { account } = await owner.call("get_account", {});
  const stored = folder.stageToken(app, stage);
  if (stored?.project === project && (await knows(client(stored.token)))) return account.team_id;
  const token = await makeToken(owner, { service: { origin: here.url, project }, app, stage });
  // A deploy and a request may find at once that there is none: one is enough.
  if (folder.stageToken(app, stage)?.token === stored?.token) folder.writeStageToken(app, stage, { project, token });
  else await endToken(owner, token);
  return account.team_id;
}

/** Whether the service knows a token: it may have been begun anew. */
async function knows(client: AccountClient): Promise<boolean> {
  try {
    return (await client.call("get_account", {})).account.kind === "app";
  } catch (error) {
    if (error instanceof TeamError && error.cause instanceof RpcFailure && error.cause.status === 401) return false;
    throw error;
  }
}
