import { isLoopback } from "../../grammar/address/loopback.ts";
import type { Context } from "../context.ts";
import { readCredentials, remedyOf, TOOL_CONFIG_REMEDY } from "./credentials.ts";
import { TeamError } from "./error.ts";
import { readOrigin } from "./origin.ts";

/** A token for a service, and what to do if the service refuses it. */
export interface ServiceToken {
  readonly token: string;
  readonly remedy: string;
  /** The team that it acts for; undefined if only the service knows. */
  readonly team: string | undefined;
}

/**
 * The token for the log service at an address: TOOL_LOGS_TOKEN if it is for this origin, else that of TOOL_CONFIG or of whoever
 * is signed in at this very origin. If several teams of it are signed in to, that is the current team's. TOOL_LOGS_TOKEN is for
 * the origin of TOOL_LOGS_URL; without that variable it is for the address that was given beside it, but for none that a file
 * names. Throws a TeamError if there is no token.
 */
export function tokenForService(
  context: Context,
  url: string,
  { isOfFile }: { readonly isOfFile: boolean } = { isOfFile: false },
): ServiceToken {
  const { TOOL_LOGS_TOKEN: own = "", TOOL_LOGS_URL: ofOwn = "" } = context.io.env;
  const { origin } = new URL(url);
  const isForOrigin = ofOwn === "" ? !isOfFile : URL.canParse(ofOwn) && new URL(ofOwn).origin === origin;
  if (own !== "" && isForOrigin) {
    return { token: own, remedy: "set TOOL_LOGS_TOKEN to what tool service token add prints", team: undefined };
  }
  const { source, config } = readCredentials(context);
  const some = config.credentials.filter((one) => one.url === origin);
  const chosen = some.find((one) => one === config.current) ?? (some.length === 1 ? some[0] : undefined);
  if (chosen !== undefined) {
    return { token: chosen.token, remedy: remedyOf(source, chosen), team: chosen.team };
  }
  if (some.length > 1) {
    const keys = some.map(({ key }) => key).join(", ");
    throw new TeamError(
      `you are in several teams at ${origin}, and none of them is the current one`,
      `choose one of ${keys}: tool team switch ${some[0]!.key}`,
    );
  }
  const elsewhere = [...new Set(config.credentials.map((one) => one.url))];
  const subject = source === "file" ? "you are signed in at" : "TOOL_CONFIG is for";
  const where = elsewhere.join(", ");
  const alias = elsewhere.find((one) => isSamePortHere(one, origin));
  const signIn = source === "file" ? `tool team login --email <address> --url ${origin}` : TOOL_CONFIG_REMEDY;
  const ofOther = own === "" ? undefined : remedyOfOther({ origin, ofOwn });
  throw new NoTokenError(
    where === "" ? "the log service needs a token" : `there is no token for ${origin}: ${subject} ${where}`,
    [
      ...(alias === undefined
        ? []
        : [`if that is the same service, write ${alias}: a token goes only where it came from`]),
      source === "file" ? `sign in: ${signIn}` : signIn,
      ofOther === undefined
        ? "or set TOOL_LOGS_TOKEN; tool service token add --data DIR --scope events:read makes one"
        : `or ${ofOther}`,
    ].join("\n"),
    { signIn, ownToken: ofOther },
  );
}

/** TOOL_LOGS_TOKEN is set, and goes to another origin. */
function remedyOfOther({ origin, ofOwn }: { readonly origin: string; readonly ofOwn: string }): string {
  const remedy = `set TOOL_LOGS_URL=${origin} if TOOL_LOGS_TOKEN is for it`;
  // An address in a file may be anybody's.
  if (ofOwn === "") return `${remedy} (a token is not sent to an address that only tool.json names)`;
  return URL.canParse(ofOwn)
    ? `${remedy} (TOOL_LOGS_URL is ${new URL(ofOwn).origin} now)`
    : `${remedy} (TOOL_LOGS_URL is not an address now)`;
}

/** There is no token for an origin. */
export class NoTokenError extends TeamError {
  /** The command by which there would be one. */
  readonly signIn: string;
  /** How TOOL_LOGS_TOKEN would be sent there; undefined if that is not set. */
  readonly ownToken: string | undefined;

  constructor(message: string, hint: string, { signIn, ownToken }: Pick<NoTokenError, "signIn" | "ownToken">) {
    super(message, hint);
    this.signIn = signIn;
    this.ownToken = ownToken;
  }
}

/** The token for an address that a file names. Throws a TeamError if it is not an origin that a token may be sent to. */
export function tokenForFile(context: Context, service: string): ServiceToken {
  const origin = readOrigin(service);
  if (!origin.ok) throw new TeamError(origin.problems[0].message, origin.problems[0].hint ?? "");
  return tokenForService(context, origin.value, { isOfFile: true });
}

/** Whether two origins are names of this machine with the same port: often the same service, but not certainly. */
function isSamePortHere(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  return isLoopback(a.hostname) && isLoopback(b.hostname) && a.port === b.port && a.protocol === b.protocol;
}
