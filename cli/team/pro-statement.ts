import { RpcFailure } from "../../schema/rpc-client.ts";
import { type Statement, type StatementResult, verifyStatement } from "../../schema/statement.ts";
import type { Context } from "../context.ts";
import type { ReleaseAccount } from "../edition.ts";
import { accountClient, isPassing } from "./account-client.ts";
import { payingCredential } from "./account-of-release.ts";
import { readCredentials, remedyOf } from "./credentials.ts";
import { dayOf } from "./day-of.ts";
import { TeamError } from "./error.ts";
import { StatementFile } from "./statement-file.ts";
import type { KeyedCredential } from "./team-config.ts";

/** A team that has just paid or cancelled is known a day later at the latest; a "no" is asked for anew each time. */
const KEPT_MS = 86_400_000;
/** A person waits for it before each Pro command of the day without a network. */
const ANSWER_MS = 5_000;

/**
 * Makes sure that the team which is signed in at the account service has Pro, by `askStatement`. Returns a warning if the
 * service does not answer and the command goes on all the same: with a statement that has not expired, and in CI, which must
 * not fail with us. Throws a TeamError for a "no", and if nobody is signed in.
 */
export async function provePro(context: Context, account: ReleaseAccount): Promise<string | undefined> {
  const { statement, team, warning } = await askStatement(context, account);
  if (statement === undefined) return `${warning}; going on without knowing whether ${team} has Pro`;
  if (statement.edition !== "pro") throw withoutPro(statement, account);
  return warning;
}

export interface StatementAnswer {
  /** Verified. Undefined only in CI, if the service does not answer and no statement is kept. */
  readonly statement: Statement | undefined;
  readonly team: string;
  /** Set if the service did not answer: how, and until when the statement that is kept is good. */
  readonly warning: string | undefined;
}

/**
 * The statement about the team which is signed in at the account service: the one that is kept, if it is a good one of this
 * day, or a new one; without the service, the one that is kept until it expires. Throws a TeamError if nobody is signed in, if
 * the service does not answer and nothing is kept, and if what it states is not to be believed.
 */
export async function askStatement(context: Context, account: ReleaseAccount): Promise<StatementAnswer> {
  const credentials = readCredentials(context);
  const credential = payingCredential(credentials, account);
  const { team } = credential;
  const file = credentials.source === "file" ? new StatementFile(credentials.file.path) : undefined;
  const { clock } = context.io;
  const read = (text: string) => readStatement(text, { account, credential, nowMs: clock.nowMs() });
  const keptText = file?.read(credential);
  const kept = keptText === undefined ? undefined : read(keptText);
  if (kept?.ok === false) file?.write(credential, undefined);
  if (kept?.ok && kept.value.edition === "pro" && clock.nowMs() - Date.parse(kept.value.issued_at) < KEPT_MS)
    return { statement: kept.value, team, warning: undefined };

  const signIn = remedyOf(credentials.source, credential);
  let text: string | undefined;
  try {
    const client = accountClient({ ...credential, signIn, answerMs: ANSWER_MS, clock });
    text = (await client.call("get_subscription", {}, { 404: OLD, 405: OLD })).statement;
  } catch (error) {
    if (!(error instanceof TeamError) || !isUnreachable(error)) throw error;
    if (kept?.ok) {
      const { issued_at, expires_at } = kept.value;
      const warning = `${error.message}; the answer of ${dayOf(issued_at)} is good until ${dayOf(expires_at)}`;
      return { statement: kept.value, team, warning };
    }
    if (credentials.source === "TOOL_CONFIG") return { statement: undefined, team, warning: error.message };
    throw error;
  }
  if (text === undefined) throw new TeamError(`${account.url} does not sign who has Pro`, NO_KEY);
  const answer = read(text);
  if (!answer.ok) throw unbelieved(account, answer.problems[0].message);
  file?.write(credential, text);
  return { statement: answer.value, team, warning: undefined };
}

/** Also if something else answers in its place: the proxy of a company, or the page of a network that wants a sign-in. */
function isUnreachable(error: TeamError): boolean {
  const { cause } = error;
  return isPassing(error) || cause instanceof SyntaxError || (cause instanceof RpcFailure && cause.type === "unknown");
}

/** Keeps what the service has just stated, such as after a payment. A statement that is not valid is not kept. */
export function keepStatement(
  context: Context,
  credential: KeyedCredential,
  account: ReleaseAccount,
  text: string,
): void {
  const credentials = readCredentials(context);
  if (credentials.source !== "file") return;
  if (readStatement(text, { account, credential, nowMs: context.io.nowMs() }).ok) {
    new StatementFile(credentials.file.path).write(credential, text);
  }
}

interface About {
  readonly account: ReleaseAccount;
  readonly credential: KeyedCredential;
  readonly nowMs: number;
}

function readStatement(text: string, { account, credential, nowMs }: About): StatementResult {
  return verifyStatement(text, { key: account.key, service: account.url, team: credential.team, nowMs });
}

/** Why a team without Pro has none. */
export function withoutPro({ team, reason }: Statement, { url }: ReleaseAccount): TeamError {
  const why = reason === "none" ? "has no subscription" : `has a subscription that is ${reason.replaceAll("_", " ")}`;
  return new TeamError(`the team ${team} ${why} at ${url}`, "tool team subscribe gets Pro for it");
}

/** The machine's clock is the usual reason. */
function unbelieved({ url }: ReleaseAccount, why: string): TeamError {
  return new TeamError(
    `what ${url} states about Pro is not valid: it ${why}`,
    "check the clock of this machine, and that nothing changes answers on the way; then run this again",
  );
}

const OLD = "that service knows nothing of subscriptions: whoever runs it has to update it";
const NO_KEY = "whoever runs it starts it with --statement-key";
