import { visible } from "../../grammar/visible-text.ts";
import type { Config } from "../../schema/index.ts";
import { projectIdOf } from "../../schema/project-id.ts";
import type { Context } from "../context.ts";
import { PlatformError } from "../platform/error.ts";
import { ALL_OF_APP, type LogToken, type LogTokens } from "../platform/log-tokens.ts";
import type { Watched } from "../platform/progress.ts";
import { type AccountClient, accountClient, isTokenRefused } from "../team/account-client.ts";
import { readCredentials, remedyOf } from "../team/credentials.ts";
import { TeamError } from "../team/error.ts";
import { endToken, makeToken } from "../team/stage-token.ts";

/** Where versions of a stage send their entries, and by which token. */
export interface LogDelivery {
  /** The whole address: `https://logs.example.com/ingest/shop`. */
  readonly url: string;
  readonly token: string;
}

export interface DeliveryRequest {
  readonly config: Config;
  readonly stage: string;
  readonly tokens: LogTokens;
  readonly watched: Watched;
}

/** `logs.service` of tool.json, in the form that a token goes with. */
interface LogService {
  readonly origin: string;
  readonly project: string;
}

/** Undefined if tool.json names no service. */
function logServiceOf({ name, logs }: Pick<Config, "name" | "logs">): LogService | undefined {
  if (logs?.service === undefined) return undefined;
  return { origin: new URL(logs.service).origin, project: logs.project ?? projectIdOf(name)! };
}

/**
 * The delivery of a stage that is about to be deployed: by the token that is stored for it, else by a new one if this person is
 * signed in to the service. CI makes none. Without a token the app is deployed all the same: `remark` says what to do.
 */
export async function deliveryFor(
  context: Context,
  request: DeliveryRequest,
): Promise<{ readonly delivery?: LogDelivery; readonly token?: LogToken; readonly remark?: string }> {
  const { config, stage } = request;
  if (config.logs?.service === undefined) return {};
  const { token, reason, remedy } = await tokenFor(context, request, `tool deploy ${stage}`);
  return token === undefined ? { remark: remarkOf(reason, remedy) } : { delivery: deliveryBy(token), token };
}

/** A deploy waits no longer for an answer that is only a remark. */
const ANSWER_MS = 2_000;

/**
 * Asks the service whether it knows the token of a stage. Returns why it does not take the stage's entries, and what to do: it
 * refuses the token, or its certificate is none that the deployed app accepts. Undefined for all that may be otherwise for the app.
 */
export async function whyRefused(
  context: Context,
  {
    stage,
    watched,
    trustsOthers,
  }: Pick<DeliveryRequest, "stage" | "watched"> & {
    /** Whether the app trusts certificates of its own, which are not known here. */
    readonly trustsOthers: boolean;
  },
  { service, token }: LogToken,
): Promise<string | undefined> {
  const { signal } = watched;
  const { clock } = context.io;
  if (!trustsOthers) {
    const { certificateForApp } = await import("./certificate-for-app.ts");
    const failure = await certificateForApp(service, { limitMs: ANSWER_MS, signal, clock });
    if (failure !== undefined) {
      const { reason, hint = `${TRUST}, then tool deploy ${stage}` } = failure;
      const so = `entries of ${stage} do not get to ${service}: the app does not accept its certificate, as it is seen from here`;
      return `${so}: ${visible(reason)}\n  ${hint}\n  tool logs --cloud warn shows whether that is so`;
    }
  }
  const rotate = `tool stack rotate-logs-token -s ${stage}, then tool deploy ${stage}`;
  const client = accountClient({ url: service, token, signIn: rotate, signal, answerMs: ANSWER_MS, clock });
  try {
    await client.call("get_account", {});
    return undefined;
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    if (!isTokenRefused(error)) return undefined;
    return `the log service takes no entries of ${stage}: ${service} does not know its token any more\n  ${rotate}`;
  }
}

const TRUST =
  "put a file with that certificate, or its issuer's (PEM), into the app's folder: tool env add NODE_EXTRA_CA_CERTS=/var/task/ca.pem";

/** Says that a version which a rollback has activated sends nothing, as its token was ended. Undefined if that is not so, or not seen. */
export async function endedTokenOf(
  { config, stage, tokens, watched }: DeliveryRequest,
  version: string,
): Promise<string | undefined> {
  try {
    const stored = await tokens.read(stage, watched);
    if (stored === undefined) return undefined;
    const own = await tokens.ofVersion(version, watched);
    if (own === undefined || [stored, ...stored.retired].some(({ token }) => token === own)) return undefined;
    const { origin } = new URL(config.logs?.service ?? stored.service);
    return `version ${version} sends no entries to ${origin}: its token was ended; the next tool deploy ${stage} sends them again`;
  } catch (error) {
    // The stage is rolled back; this would only be a remark.
    if (!(error instanceof PlatformError)) throw error;
    return undefined;
  }
}

/** Why entries do not get to the service. It may answer anything. */
const remarkOf = (reason: string, remedy: string) =>
  `entries go to CloudWatch alone: ${visible(reason)}\n  ${remedy.split("\n").map(visible).join("\n  ")}`;

type FoundToken =
  | { readonly token: LogToken; readonly reason?: undefined; readonly remedy?: undefined }
  | { readonly token?: undefined; readonly reason: string; readonly remedy: string };

/** The token of a stage, or of the app's stream; `again` is the command that tries it again. */
async function tokenFor(
  context: Context,
  { config, stage, tokens, watched }: DeliveryRequest,
  again: string,
): Promise<FoundToken> {
  const service = logServiceOf(config)!;
  const { origin, project } = service;
  const stored = await tokens.read(stage, watched);
  if (stored !== undefined && isFor(stored, service)) return { token: stored };
  try {
    const person = personAt(context, origin, watched.signal);
    if (person === undefined) {
      const whose = stage === ALL_OF_APP ? `of ${config.name} for Firehose at` : `of ${stage} for`;
      return {
        reason: `there is no token ${whose} ${origin}, and nobody is signed in there who could make one`,
        remedy: `tool team login --email <address> --url ${origin}, then ${again}; CI uses that token then`,
      };
    }
    const token = await makeToken(person, { project: service.project, app: config.name, stage });
    const latest = await orEnded(person, token, () => tokens.read(stage, watched));
    // Another deploy was faster: nobody would end a token that is not stored.
    if (latest !== undefined && isFor(latest, service)) {
      await endToken(person, token).catch(() => {});
      return { token: latest };
    }
    const fresh: LogToken = { service: origin, project, token, retired: retiredOf(latest) };
    await tokens.write(stage, fresh, watched);
    return { token: fresh };
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return { reason: error.message, remedy: error.hint ?? `${again} tries it again` };
  }
}

type StreamRequest = Omit<DeliveryRequest, "stage">;

/** The token of the app's stream for a first deploy, which goes on without one: `remark` says what to do. */
export async function streamKeyFor(
  context: Context,
  request: StreamRequest,
  again: string,
): Promise<{ readonly key?: string; readonly remark?: string }> {
  const { token, reason, remedy } = await tokenFor(context, { ...request, stage: ALL_OF_APP }, again);
  return token === undefined ? { remark: remarkOf(reason, remedy) } : { key: token.token };
}

/** The same for `tool stack apply`, which makes no stream that could deliver nothing. Throws a PlatformError. */
export async function requireStreamToken(context: Context, request: StreamRequest): Promise<LogToken> {
  const { token, reason, remedy } = await tokenFor(context, { ...request, stage: ALL_OF_APP }, "tool stack apply");
  if (token === undefined) throw new PlatformError("stack/stream-key", visible(reason), visible(remedy));
  return token;
}

/** A token goes to the origin that made it, and is for one project there. */
const isFor = (token: LogToken, { origin, project }: LogService) =>
  token.service === origin && token.project === project;

const deliveryBy = ({ service, project, token }: LogToken): LogDelivery => ({
  url: `${service}/ingest/${encodeURIComponent(project)}`,
  token,
});

const retiredOf = (token: LogToken | undefined): LogToken["retired"] =>
  token === undefined ? [] : [...token.retired, { service: token.service, token: token.token }];

/**
 * The client of whoever is signed in at this very origin on this machine; undefined if nobody is, or if this is CI: its tokens
 * may not make others. Throws a TeamError if that cannot be read.
 */
function personAt(context: Context, origin: string, signal: AbortSignal): AccountClient | undefined {
  const { source, config } = readCredentials(context);
  if (source !== "file") return undefined;
  const some = config.credentials.filter(({ url }) => url === origin);
  const chosen = some.find((one) => one === config.current) ?? (some.length === 1 ? some[0] : undefined);
  if (chosen === undefined) {
    if (some.length === 0) return undefined;
    throw new TeamError(
      `you are in several teams at ${origin}, and none of them is the current one`,
      `choose one of ${some.map(({ key }) => key).join(", ")}: tool team switch ${some[0]!.key}`,
    );
  }
  const { token } = chosen;
  return accountClient({ url: origin, token, signIn: remedyOf(source, chosen), signal, clock: context.io.clock });
}

export interface Rotation {
  /** Versions that aliases name and that have an old token. */
  readonly versions: readonly string[];
  readonly ended: number;
}

/**
 * Makes a new token for a stage. The old one ends with the deploy after which no version has it that an alias names, or `now`.
 * Ends the command if that fails.
 */
export async function rotateToken(
  context: Context,
  request: DeliveryRequest,
  { now }: { readonly now: boolean },
): Promise<Rotation> {
  try {
    return await rotate(context, request, now);
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    // A service may answer anything.
    return context.fail(visible(error.message), error.hint.split("\n").map(visible).join("\n"));
  }
}

/** Throws a TeamError. */
async function rotate(
  context: Context,
  { config, stage, tokens, watched }: DeliveryRequest,
  now: boolean,
): Promise<Rotation> {
  const service = logServiceOf(config);
  if (service === undefined) {
    throw new TeamError(
      "tool.json names no log service",
      'write "logs": { "service": "https://logs.example.com" } first',
    );
  }
  const { origin } = service;
  const person = personAt(context, origin, watched.signal);
  if (person === undefined) throw nobodyAt(origin);
  const fresh = await freshToken(person, { service, app: config.name, stage }, { tokens, watched });
  const old = new Set(fresh.retired.map((one) => one.token));
  const versions = (await tokens.versions(watched)).filter((version) => old.has(version.token));
  const kept = now ? new Set<string>() : new Set(versions.map((version) => version.token));
  const ended = await endTokens(person, fresh, { stage, kept, tokens, watched });
  return { versions: versions.map(({ version }) => version), ended };
}

/** Makes a token, and stores it in the place of the one that is stored by then: somebody else may rotate it, too. */
async function freshToken(
  person: AccountClient,
  made: { readonly service: LogService; readonly app: string; readonly stage: string },
  { tokens, watched }: Pick<DeliveryRequest, "tokens" | "watched">,
): Promise<LogToken> {
  const { service, app, stage } = made;
  const token = await makeToken(person, { project: service.project, app, stage });
  const retired = retiredOf(await orEnded(person, token, () => tokens.read(stage, watched)));
  const fresh: LogToken = { service: service.origin, project: service.project, token, retired };
  await tokens.write(stage, fresh, watched);
  return fresh;
}

/** Does what comes between making a token and storing it. If that fails, the token is ended: nobody would know of it. */
async function orEnded<T>(person: AccountClient, token: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await endToken(person, token).catch(() => {});
    throw error;
  }
}

/**
 * Makes a new token for the app's stream, which gets it by `change`; false if there is no stream yet. The old one ends at once:
 * what is refused while the stream changes is sent again with the new one. Ends the command if that fails.
 */
export async function rotateStreamToken(
  context: Context,
  request: StreamRequest,
  change: (key: string) => Promise<boolean>,
): Promise<{ readonly isChanged: boolean; readonly ended: number }> {
  const { config, tokens, watched } = request;
  const { origin, project } = logServiceOf(config)!;
  try {
    const person = personAt(context, origin, watched.signal);
    if (person === undefined) throw nobodyAt(origin);
    const made = { service: { origin, project }, app: config.name, stage: ALL_OF_APP };
    const fresh = await freshToken(person, made, { tokens, watched });
    const isChanged = await change(fresh.token);
    const ended = await endTokens(person, fresh, { stage: ALL_OF_APP, kept: new Set(), tokens, watched });
    return { isChanged, ended };
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return context.fail(visible(error.message), error.hint.split("\n").map(visible).join("\n"));
  }
}

const nobodyAt = (origin: string) =>
  new TeamError(`nobody is signed in at ${origin}`, `tool team login --email <address> --url ${origin}`);

/**
 * Ends the earlier tokens of a stage that no version has any more. Called after a deploy with its token; what fails is tried by
 * the next one.
 */
export async function endRetired(
  context: Context,
  { stage, tokens, watched }: Omit<DeliveryRequest, "config">,
  stored: LogToken,
): Promise<void> {
  if (stored.retired.length === 0) return;
  try {
    const person = personAt(context, stored.service, watched.signal);
    if (person === undefined) return;
    const kept = new Set((await tokens.versions(watched)).map(({ token }) => token));
    await endTokens(person, stored, { stage, kept, tokens, watched });
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
  }
}

/** Ends the retired tokens of a person's service that are not kept. Returns how many. */
async function endTokens(
  person: AccountClient,
  stored: LogToken,
  {
    stage,
    kept,
    tokens,
    watched,
  }: Pick<DeliveryRequest, "stage" | "tokens" | "watched"> & { readonly kept: ReadonlySet<string> },
): Promise<number> {
  const ending = stored.retired.filter(({ service, token }) => service === stored.service && !kept.has(token));
  for (const { token } of ending) await endToken(person, token);
  if (ending.length === 0) return 0;
  // A deploy takes minutes: somebody may have rotated the token since it was read, or removed the app.
  const latest = await tokens.read(stage, watched);
  if (latest === undefined) return ending.length;
  const isEnded = ({ service, token }: LogToken["retired"][number]) =>
    ending.some((one) => one.service === service && one.token === token);
  await tokens.write(stage, { ...latest, retired: latest.retired.filter((one) => !isEnded(one)) }, watched);
  return ending.length;
}

/**
 * Ends the tokens of an app that is about to be removed, as far as this person is signed in where they are from. Returns the
 * origins of those that are left.
 */
export async function endAll(
  context: Context,
  { tokens, watched }: Pick<DeliveryRequest, "tokens" | "watched">,
): Promise<readonly string[]> {
  const left = new Set<string>();
  for (const stored of (await tokens.all(watched)).values()) {
    for (const { service, token } of [...stored.retired, stored]) {
      try {
        const person = personAt(context, service, watched.signal);
        if (person === undefined) left.add(service);
        else await endToken(person, token);
      } catch (error) {
        if (!(error instanceof TeamError)) throw error;
        left.add(service);
      }
    }
  }
  return [...left];
}
