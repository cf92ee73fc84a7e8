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
 * The token for the log service at an address: TOOL_LOGS_TOKEN for any, else that of TOOL_CONFIG or of whoever is signed in at
 * this very origin. If several teams of it are signed in to, that is the current team's. Throws a TeamError if there is none.
 */
export function tokenForService(context: Context, url: string): ServiceToken {
  const token = context.io.env.TOOL_LOGS_TOKEN ?? "";
  if (token !== "")
    return { token, remedy: "set TOOL_LOGS_TOKEN to what tool service token add prints", team: undefined };
  const { source, config } = readCredentials(context);
  const { origin } = new URL(url);
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
  throw new TeamError(
    where === "" ? "the log service needs a token" : `there is no token for ${origin}: ${subject} ${where}`,
    [
      ...(alias === undefined
        ? []
        : [`if that is the same service, write ${alias}: a token goes only where it came from`]),
      source === "file" ? `sign in: tool team login --email <address> --url ${origin}` : TOOL_CONFIG_REMEDY,
      "or set TOOL_LOGS_TOKEN; tool service token add makes one",
    ].join("\n"),
  );
}

/**
 * The token for an address that a file names: that of whoever is signed in at this very origin. TOOL_LOGS_TOKEN is for the origin
 * that TOOL_LOGS_URL names, and for no address of a file else. Throws a TeamError if there is none.
 */
export function tokenOfOrigin(context: Context, service: string): ServiceToken {
  const origin = readOrigin(service);
  if (!origin.ok) throw new TeamError(origin.problems[0].message, origin.problems[0].hint ?? "");
  const { io } = context;
  const { TOOL_LOGS_URL: url = "", TOOL_LOGS_TOKEN: own, ...env } = io.env;
  const isFor = own !== undefined && URL.canParse(url) && new URL(url).origin === origin.value;
  const ofOrigin = { ...env, ...(isFor && { TOOL_LOGS_TOKEN: own }) };
  return tokenForService({ ...context, io: { ...io, env: ofOrigin } }, origin.value);
}

/** Whether two origins are names of this machine with the same port: often the same service, but not certainly. */
function isSamePortHere(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  return isLoopback(a.hostname) && isLoopback(b.hostname) && a.port === b.port && a.protocol === b.protocol;
}
