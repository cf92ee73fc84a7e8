import { parseJson } from "../../schema/json.ts";
import { type FailedResult, refused } from "../refused.ts";
import { readOrigin } from "./origin.ts";

/** A token of the command line, or of CI, with what it is for. */
export interface Credential {
  /** The id of the team that the token acts for. */
  readonly team: string;
  /** The person that signed in, or that made the CI token. */
  readonly email: string;
  /** The origin that the token came from, the only one that it is sent to. */
  readonly url: string;
  readonly token: string;
}

/** A credential with its key in the file: the team's id, or `<id>@<host>` if a team of another service has that. */
export interface KeyedCredential extends Credential {
  readonly key: string;
}

/** The contents of config.json and TOOL_CONFIG. */
export interface TeamConfig {
  readonly credentials: readonly KeyedCredential[];
  /** The credential that commands use. */
  readonly current: KeyedCredential | undefined;
  /** All of it, with the members that this version does not know. */
  readonly document: Document;
}

interface Document {
  readonly team?: unknown;
  readonly teams?: Readonly<Record<string, object>>;
}

type Read = { readonly ok: true; readonly value: TeamConfig } | FailedResult;

export const NO_TEAMS: TeamConfig = configOf({}, []);

/** Reads `{"team": "acme", "teams": {"acme": {"team", "email", "url", "token"}}}`. Messages quote nothing but keys of teams. */
export function readTeamConfig(text: string): Read {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return refused(`is not valid JSON${placeOf(text)}`);
  }
  if (!isObject(document)) return refused("is not a JSON object");
  const { team, teams = {} } = document as { team?: unknown; teams?: unknown };
  if (team !== undefined && team !== null && typeof team !== "string") {
    return refused('has a "team" that is not a string');
  }
  if (!isObject(teams)) return refused('has "teams" that are not an object');
  const credentials: KeyedCredential[] = [];
  for (const [key, entry] of Object.entries(teams)) {
    const read = readCredential(entry);
    if (!read.ok) return refused(`has ${read.problems[0].message} for the team ${JSON.stringify(key)}`);
    credentials.push({ key, ...read.value });
  }
  return { ok: true, value: configOf(document, credentials) };
}

export function printTeamConfig({ document }: TeamConfig): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Adds a credential, in place of an older one of the same team, and makes it the current one. */
export function withCredential(config: TeamConfig, credential: Credential): TeamConfig {
  const { team, email, url, token } = credential;
  const isFree = (key: string) => {
    const there = config.credentials.find((one) => one.key === key);
    return there === undefined || (there.team === team && there.url === url);
  };
  const old = config.credentials.find((one) => one.team === team && one.url === url);
  const keys = [team, `${team}@${new URL(url).host}`, `${team}@${url}`];
  // The last one is taken only if somebody wrote it by hand for another team.
  const key = old?.key ?? keys.find(isFree) ?? keys[2]!;
  const { teams = {} } = config.document;
  const entry = { ...teams[key], team, email, url, token };
  const others = config.credentials.filter((one) => one.key !== key);
  const document = { ...config.document, team: key, teams: { ...teams, [key]: entry } };
  return configOf(document, [...others, { key, team, email, url, token }]);
}

/** Removes a credential. If no current one is left, the only one that is becomes that. */
export function withoutCredential(config: TeamConfig, key: string): TeamConfig {
  const { [key]: _, ...teams } = config.document.teams ?? {};
  const credentials = config.credentials.filter((one) => one.key !== key);
  const { team: __, ...rest } = config.document;
  const onlyOne = credentials.length === 1 ? credentials[0] : undefined;
  const next = credentials.find((one) => one === config.current) ?? onlyOne;
  return configOf({ ...(next !== undefined && { team: next.key }), ...rest, teams }, credentials);
}

export function withCurrent(config: TeamConfig, key: string): TeamConfig {
  return configOf({ ...config.document, team: key }, config.credentials);
}

function configOf(document: Document, credentials: readonly KeyedCredential[]): TeamConfig {
  return { document, credentials, current: credentials.find(({ key }) => key === document.team) };
}

/** Reads an entry of the file, or what is about to become one: what the file refuses must not get into it. */
export function readCredential(entry: unknown) {
  if (!isObject(entry)) return refused("no object");
  const { team, email, url, token } = entry as Record<string, unknown>;
  if (!isTeamId(team)) return refused('no valid "team"');
  if (typeof email !== "string") return refused('no "email"');
  const origin = typeof url === "string" ? readOrigin(url) : undefined;
  if (!origin?.ok) return refused('no valid "url"');
  if (!isToken(token)) return refused('no valid "token"');
  return { ok: true, value: { team, email, url: origin.value, token } } as const;
}

/** Whether a value is the id of a team, as TeamId of the schema has it. */
export function isTeamId(value: unknown): value is string {
  return typeof value === "string" && /^[a-z0-9][a-z0-9-]{0,39}$/.test(value);
}

/** Whether a text can be sent as a token: longer ones, and other characters, are not valid in a header. */
export function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[!-~]{1,1000}$/.test(value);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The line of the error. Its message is left out, as it may quote a token. */
function placeOf(text: string): string {
  const [problem] = parseJson(text).problems;
  return problem === undefined ? "" : `: see line ${text.slice(0, problem.span.start).split("\n").length}`;
}
