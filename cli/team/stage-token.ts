import type { Clock } from "../../grammar/units/clock.ts";
import { projectIdOf } from "../../schema/project-id.ts";
import { RpcFailure } from "../../schema/rpc-client.ts";
import { ALL_OF_APP } from "../platform/log-tokens.ts";
import { type AccountClient, accountClient } from "./account-client.ts";
import { TeamError } from "./error.ts";

/** The token by which a stage in the sandbox sends entries to a project of the log service here. */
export interface StageToken {
  readonly project: string;
  readonly token: string;
}

/** The sandbox's folder, which keeps them. */
interface TokenFolder {
  stageToken(app: string, stage: string): StageToken | undefined;
  writeStageToken(app: string, stage: string, token: StageToken): void;
}

/** The log service of `npm start`, and a token of its owner. */
interface Here {
  readonly url: string;
  readonly token: string;
}

/** Makes the token of a stage, and the project if it does not exist. Throws a TeamError. */
export async function makeToken(
  person: AccountClient,
  { project, app, stage }: { readonly project: string; readonly app: string; readonly stage: string },
): Promise<string> {
  // Firehose sends what all stages log: each entry has its own.
  const whose = stage === ALL_OF_APP ? { description: `${app}, Firehose` } : { description: `${app}, ${stage}`, stage };
  const token = { ...whose, scopes: ["events:write" as const], project_id: project };
  const add = async () => usable((await person.call("add_token", { token })).id);
  try {
    return await add();
  } catch (error) {
    if (!isMissing(error)) throw error;
    try {
      await person.call("add_project", { project: { id: project, name: app } });
    } catch (error) {
      // Made since then, by another first deploy of the app.
      if (!hasStatus(error, 409)) throw error;
    }
    return add();
  }
}

/** A token is sent in a header, and is a variable of the function, which has 4 KB for all of them. Throws a TeamError. */
function usable(token: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(token)) return token;
  throw new TeamError("the log service answered something that is no token", "see whether its address is right");
}

const hasStatus = (error: unknown, status: number) =>
  error instanceof TeamError && error.cause instanceof RpcFailure && error.cause.status === status;

const isMissing = (error: unknown) => hasStatus(error, 404);

/** Ends a token, whose text is its id, as one of its owners. Throws a TeamError. */
export async function endToken(person: AccountClient, token: string): Promise<void> {
  try {
    await person.call("remove_token", { token_id: token });
  } catch (error) {
    // Somebody ended it before.
    if (!isMissing(error)) throw error;
  }
}

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
export async function joinStage(folder: TokenFolder, here: Here, request: JoinRequest): Promise<string> {
  const { app, stage, signal, clock } = request;
  const project = projectIdOf(app)!;
  const client = (token: string): AccountClient =>
    accountClient({ url: here.url, token, signIn: "npm start", ...(signal && { signal }), clock });
  const owner = client(here.token);
  const { account } = await owner.call("get_account", {});
  const stored = folder.stageToken(app, stage);
  if (stored?.project === project && (await knows(client(stored.token)))) return account.team_id;
  const token = await makeToken(owner, { project, app, stage });
  // A deploy and a request may find at once that there is none: one is enough.
  let isStored = false;
  try {
    if (folder.stageToken(app, stage)?.token === stored?.token) {
      folder.writeStageToken(app, stage, { project, token });
      isStored = true;
    }
  } finally {
    if (!isStored) await endToken(owner, token);
  }
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
