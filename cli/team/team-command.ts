import type { Context } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { type DeployProgress, deployProgress } from "../output/deploy-progress.ts";
import { visible } from "../output/display-width.ts";
import { type AccountClient, accountClient } from "./account-client.ts";
import { currentCredential, readCredentials, remedyOf } from "./credentials.ts";
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
  return teamCommand(context, {}, ({ signal }) => {
    const credentials = readCredentials(context);
    const credential = currentCredential(credentials);
    const signIn = remedyOf(credentials.source, credential);
    const forbidden = credentials.source === "TOOL_CONFIG" ? { forbidden: CI_ONLY } : {};
    return work(accountClient({ ...credential, ...forbidden, signIn, signal, clock: context.io.clock }), credential);
  });
}

const CI_ONLY = "TOOL_CONFIG may hold a token of CI: unset it and sign in: tool team login --email <address>";
