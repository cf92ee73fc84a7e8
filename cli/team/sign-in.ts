import type { Clock } from "../../grammar/units/clock.ts";
import { visible } from "../../grammar/visible-text.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { RpcFailure } from "../../schema/rpc-client.ts";
import type { Context } from "../context.ts";
import type { DeployProgress } from "../output/deploy-progress.ts";
import { shellWord } from "../shell-word.ts";
import { type AccountClient, accountClient, isPassing, notUnderstood } from "./account-client.ts";
import { isEmailAddress } from "./email-address.ts";
import { TeamError } from "./error.ts";
import { loginCommand } from "./login-command.ts";
import { type Credential, isTeamId, readCredential } from "./team-config.ts";

export interface SignInOptions {
  /** The service's origin. */
  readonly url: string;
  readonly email: string;
  /** The team to act for; undefined leaves it to the service. */
  readonly team: string | undefined;
  /** The program and the machine that ask, as the mail says. */
  readonly device: string;
  readonly progress: DeployProgress;
  readonly signal: AbortSignal;
}

/** How a sign-in ended. */
export interface SignedIn {
  readonly email: string;
  readonly teams: readonly Team[];
  /** Undefined if the person has no team. */
  readonly credential: Credential | undefined;
}

export type Team = NonNullable<Operations["poll_sign_in"]["output"]["teams"]>[number];
type Started = Operations["start_sign_in"]["output"];

/**
 * Signs in: asks the service to send a mail, shows the code that the mail's link asks for, and waits until the link is
 * confirmed with it. Throws a TeamError if that is denied or expires, and if the service stays away.
 */
export async function runSignIn(context: Context, options: SignInOptions): Promise<SignedIn> {
  const { url, email, team, device, progress, signal } = options;
  const again = `run it again: ${loginCommand({ url, email, team })}`;
  const client = accountClient({ url, signIn: again, signal, clock: context.io.clock });
  const started = await client.call("start_sign_in", {
    email,
    device: device.slice(0, MAX_DEVICE),
    ...(team !== undefined && { team_id: team }),
  });
  if (!/^\d{6}$/.test(started.code)) throw notUnderstood(url);
  await showCode(context, options, started);
  progress.report({ kind: "begin", phase: "waiting for the code to be typed there" });
  const answer = await pollUntilEnd(client, started, { ...options, clock: context.io.clock });
  progress.end();
  if (answer.status !== "confirmed") throw new TeamError("the sign-in was denied, or has expired", again);
  const { token, team_id, email: confirmed, teams = [] } = answer;
  if (confirmed === undefined || !isEmailAddress(confirmed)) throw notUnderstood(url);
  if (!teams.every(({ id }) => isTeamId(id))) throw notUnderstood(url);
  if (token === undefined) return { email: confirmed, teams, credential: undefined };
  const read = readCredential({ team: team_id, email: confirmed, url, token });
  if (!read.ok) throw notUnderstood(url);
  return { email: confirmed, teams, credential: read.value };
}

/** The schema's limit. */
const MAX_DEVICE = 100;
/** Used if the service asks for less or for nonsense. */
const LEAST_POLL_MS = 500;
const MOST_POLL_MS = 30_000;
/** A restart takes seconds, a network that is away perhaps minutes. */
const GIVE_UP_MS = 5 * 60_000;

async function showCode(context: Context, { url, email }: SignInOptions, started: Started): Promise<void> {
  const { color } = context.io.stderr;
  const code = `${started.code.slice(0, 3)} ${started.code.slice(3)}`;
  const leftMs = Date.parse(started.expires_at) - context.io.nowMs();
  // The clocks of two machines may differ by more.
  const until = leftMs > 60_000 && leftMs < DAY_MS ? ` within ${Math.round(leftMs / 60_000)} minutes` : "";
  const lines = started.mailed
    ? [`If ${email} may sign in at ${url},`, "a mail with a link is on its way to it."]
    : [
        `${url} sends no mails. Whoever runs it prints the link for you:`,
        `  tool service sign-in ${shellWord(email)} --data DIR`,
        "In a browser that is signed in already, the page is",
        `  ${url}/account`,
      ];
  for (const line of lines) await context.say(line);
  await context.say(`\nType this code on the page${started.mailed ? " that the link opens" : ""}${until}:\n`);
  await context.say(`    ${color ? `\u001b[1m${code}\u001b[0m` : code}\n`);
}

const DAY_MS = 86_400_000;

/** Asks until the sign-in is no longer waiting, also while the service restarts or the network is away for a while. */
async function pollUntilEnd(
  client: AccountClient,
  { secret, interval }: Started,
  { progress, signal, clock }: Pick<SignInOptions, "progress" | "signal"> & { readonly clock: Clock },
) {
  const pollMs = Math.min(Math.max(interval * 1000 || 0, LEAST_POLL_MS), MOST_POLL_MS);
  let silentSinceMs: number | undefined;
  for (;;) {
    let waitMs = pollMs;
    try {
      const answer = await client.call("poll_sign_in", { secret });
      if (answer.status !== "waiting") return answer;
      if (silentSinceMs !== undefined) {
        progress.report({ kind: "note", phase: "waiting", text: "the service answers again", isDetail: true });
      }
      silentSinceMs = undefined;
    } catch (error) {
      if (!(error instanceof TeamError) || !isPassing(error)) throw error;
      silentSinceMs ??= clock.monotonicMs();
      if (clock.monotonicMs() - silentSinceMs > GIVE_UP_MS) throw error;
      const { cause } = error;
      if (cause instanceof RpcFailure) waitMs = Math.min(Math.max(pollMs, cause.retryAfterMs ?? 0), MOST_POLL_MS);
      const text = `${visible(error.message)}; trying again`;
      progress.report({ kind: "note", phase: "waiting", text });
    }
    await clock.sleep(waitMs, signal);
  }
}
