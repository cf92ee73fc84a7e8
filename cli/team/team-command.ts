import { visible } from "../../grammar/visible-text.ts";
import type { Context } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { type DeployProgress, deployProgress } from "../output/deploy-progress.ts";
import { type AccountClient, accountClient } from "./account-client.ts";
import { currentCredential, readCredentials, remedyOf, type TeamCredentials } from "./credentials.ts";
import { TeamError } from "./error.ts";
import type { KeyedCredential } from "./team-config.ts";

interface Work {
  readonly signal: AbortSignal;
  readonly progress: DeployProgress;
}

/** Runs a command of `tool team`, until it ends, fails or is interrupted. */
export async function teamCommand(
  context: Context,
  { interrupted = "interrupted" }: { readonly interrupted?: string },
  work: (at: Work) => Promise<number>,
): Promise<number> {
  const progress = deployProgress(context);
  try {
    const options = { progress, interrupted: () => interrupted };
    return await interruptible(context, options, ({ signal }) => work({ signal, progress }));
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    // A service may answer anything.
    return context.fail(visible(error.message), error.hint.split("\n").map(visible).join("\n"));
  }
}

/** Runs a command that acts for the current team. */
export function forCurrentTeam(
  context: Context,
  work: (client: AccountClient, credential: KeyedCredential) => Promise<number>,
): Promise<number> {
  return forTeam(context, {}, currentCredential, ({ client, credential }) => work(client, credential));
}

/** The same for the team of another credential, of which the work also gets progress and the signal of an interruption. */
export function forTeam(
  context: Context,
  texts: { readonly interrupted?: string },
  choose: (credentials: TeamCredentials) => KeyedCredential,
  run: (at: {
    readonly client: AccountClient;
    readonly credential: KeyedCredential;
    readonly work: Work;
  }) => Promise<number>,
): Promise<number> {
  return teamCommand(context, texts, (work) => {
    const credentials = readCredentials(context);
    const credential = choose(credentials);
    const signIn = remedyOf(credentials.source, credential);
    const forbidden = credentials.source === "TOOL_CONFIG" ? { forbidden: CI_ONLY } : {};
    const { clock } = context.io;
    const client = accountClient({ ...credential, ...forbidden, signIn, signal: work.signal, clock });
    return run({ client, credential, work });
  });
}

const CI_ONLY = "TOOL_CONFIG may hold a token of CI: unset it and sign in: tool team login --email <address>";
