import { isLoopback } from "../../grammar/address/loopback.ts";
import type { Config } from "../../schema/index.ts";
import { projectIdOf } from "../../schema/project-id.ts";
import type { Context } from "../context.ts";
import { ALL_OF_APP, usesFirehose } from "../platform/log-tokens.ts";
import { type LogServiceHere, SandboxFolder } from "../sandbox/folder.ts";
import { accountClient } from "../team/account-client.ts";
import { TeamError } from "../team/error.ts";
import { endToken, joinStage } from "../team/stage-token.ts";
import type { ServiceAddress } from "./service-address.ts";

/**
 * Joins a stage in the sandbox with the log service of `npm start`, if that runs: its functions get a token that was made for the
 * stage, or the app's stream one of the app. Returns where to look at its log in a browser; undefined without a service. A deploy never fails by it.
 */
export async function joinLogService(
  context: Context,
  request: { readonly config: Config; readonly stage: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { config, signal } = request;
  const app = config.name;
  // Firehose sends what all stages log.
  const stage = usesFirehose(config) ? ALL_OF_APP : request.stage;
  const folder = SandboxFolder.of(context.io.env);
  const here = logServiceHere(context.io.env);
  if (here === undefined) return undefined;
  try {
    const request = { app, stage, signal, clock: context.io.clock };
    return pageOf(here, await joinStage(folder, here, request), projectIdOf(app)!);
  } catch (error) {
    // The file is that of an `npm start` which was killed.
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

/** The stages of an app that have a token for the log service of `npm start`, as people name them. */
export const stagesWithToken = (env: Context["io"]["env"], app: string): string[] =>
  SandboxFolder.of(env)
    .tokensOf(app)
    .map(({ stage }) => (stage === ALL_OF_APP ? "Firehose" : stage));

/**
 * Ends the tokens of an app that was removed from the sandbox. Before that, a request would have made another one. Those that
 * are left, `stagesWithToken` still has.
 */
export async function endTokensHere(context: Context, app: string, signal: AbortSignal): Promise<void> {
  const { env, clock } = context.io;
  const [folder, here] = [SandboxFolder.of(env), logServiceHere(env)];
  if (here === undefined) return;
  const owner = accountClient({ url: here.url, token: here.token, signIn: "npm start", signal, clock });
  try {
    for (const { stage, token } of folder.tokensOf(app)) {
      await endToken(owner, token);
      folder.removeStageToken(app, stage, token);
    }
  } catch (error) {
    // The file is that of an `npm start` which was killed.
    if (!(error instanceof TeamError) || signal.aborted) throw error;
  }
}

/** The log service of `npm start` as its file says; it may be that of one which was killed. */
export function logServiceHere(env: Context["io"]["env"]): LogServiceHere | undefined {
  const here = SandboxFolder.of(env).logService();
  return here === undefined || !isLoopback(new URL(here.url).hostname) ? undefined : here;
}

/**
 * The log service of `npm start`, if it runs and a stage of the app in the sandbox sends its entries there; otherwise the
 * sandbox's own log is all there is.
 */
export async function logServiceOfSandbox(context: Context, app: string): Promise<ServiceAddress | undefined> {
  const here = logServiceHere(context.io.env);
  const project = projectIdOf(app);
  if (here === undefined || project === undefined) return undefined;
  if (!SandboxFolder.of(context.io.env).sendsTo(app, project)) return undefined;
  const { url, token } = here;
  try {
    const client = accountClient({ url, token, signIn: "npm start", clock: context.io.clock });
    const { projects } = await client.call("get_projects", {});
    if (!projects.some(({ id }) => id === project)) return undefined;
  } catch (error) {
    // The file is that of an `npm start` which was killed.
    if (error instanceof TeamError) return undefined;
    throw error;
  }
  const otherwise = "or add --cloud, which asks the sandbox itself";
  return { url, token, project, remedy: "start it again: npm start", team: undefined, otherwise };
}

const pageOf = ({ pageUrl }: LogServiceHere, team: string, project: string) =>
  `${pageUrl}/t/${encodeURIComponent(team)}/p/${encodeURIComponent(project)}/events`;
