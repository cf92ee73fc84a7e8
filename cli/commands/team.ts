import { hostname } from "node:os";
import { didYouMean } from "../../grammar/did-you-mean.ts";
import { visible } from "../../grammar/visible-text.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { type Context, EXIT } from "../context.ts";
import { releaseAccount } from "../edition.ts";
import { alignedTable } from "../output/aligned-table.ts";
import { shellWord } from "../shell-word.ts";
import type { Options } from "../table.ts";
import { accountClient, isTokenRefused, notUnderstood } from "../team/account-client.ts";
import {
  changeableCredentials,
  currentCredential,
  readCredentials,
  remedyOf,
  TOOL_CONFIG_REMEDY,
} from "../team/credentials.ts";
import { isEmailAddress } from "../team/email-address.ts";
import { TeamError } from "../team/error.ts";
import { LOGIN, loginCommand } from "../team/login-command.ts";
import { readOrigin } from "../team/origin.ts";
import { runSignIn, type SignInOptions, type Team } from "../team/sign-in.ts";
import { forCurrentTeam, teamCommand } from "../team/team-command.ts";
import {
  type Credential,
  isTeamId,
  type KeyedCredential,
  type TeamConfig,
  withCredential,
  withCurrent,
  withoutCredential,
} from "../team/team-config.ts";
import { version } from "../version.ts";

// In the same bundle, as they need the same.
export * as ci from "../team/ci.ts";
export * as members from "../team/members.ts";
export * as subscription from "../team/subscription.ts";

/** `tool team`, `tool team status`: who is signed in where, and what each service says of it. */
export function status(context: Context): Promise<number> {
  return teamCommand(context, {}, async ({ signal }) => {
    const { source, config } = readCredentials(context);
    const credentials = await Promise.all(
      config.credentials.map(async (one) => ({ ...one, ...(await stateOf(context, one, { source, signal })) })),
    );
    if (context.format === "json") {
      const teams = credentials.map(({ key, team, email, url, account, trouble, state }) => ({
        key,
        team,
        name: teamIn(account, team)?.name ?? null,
        role: account?.role || null,
        kind: account?.kind ?? null,
        email,
        url,
        current: key === config.current?.key,
        state,
        message: trouble?.message ?? null,
      }));
      await context.print(JSON.stringify({ source, current: config.current?.key ?? null, teams }, null, 2));
      return EXIT.ok;
    }
    if (credentials.length === 0) {
      await context.print(source === "file" ? "nobody is signed in" : "TOOL_CONFIG holds no team");
      await context.say(`  ${source === "file" ? LOGIN : TOOL_CONFIG_REMEDY}`);
      return EXIT.ok;
    }
    const rows = credentials.map(({ key, email, url, account, state }) => [
      key === config.current?.key ? "*" : "",
      key,
      STATES[state] ?? (account?.kind === "ci" ? "CI" : account?.role || "-"),
      email,
      url,
    ]);
    await context.print(alignedTable(["", "TEAM", "ROLE", "EMAIL", "SERVICE"], rows, context.io.stdout));
    if (source === "TOOL_CONFIG") await context.say("this is from TOOL_CONFIG, which wins over who is signed in here");
    for (const { trouble } of credentials) {
      if (trouble === undefined) continue;
      await context.say([trouble.message, ...trouble.hint.split("\n")].map(visible).join("\n  "));
    }
    if (config.current === undefined) await context.say(`no team is chosen: tool team switch ${credentials[0]!.key}`);
    return EXIT.ok;
  });
}

/** Longer than a service takes, and short enough to wait for. */
const STATUS_MS = 3_000;

const STATES: Readonly<Record<string, string>> = { refused: "signed out", unknown: "no answer" };

type Account = Operations["get_account"]["output"]["account"];

interface State {
  readonly state: "ok" | "refused" | "unknown";
  readonly account?: Account;
  readonly trouble?: TeamError;
}

/** The service's answer about a credential, requested within the time that a person waits. */
async function stateOf(
  context: Context,
  credential: KeyedCredential,
  { source, signal }: { readonly source: "TOOL_CONFIG" | "file"; readonly signal: AbortSignal },
): Promise<State> {
  const remedy = remedyOf(source, credential);
  try {
    const client = accountClient({
      ...credential,
      signIn: remedy,
      signal,
      answerMs: STATUS_MS,
      clock: context.io.clock,
    });
    return { state: "ok", account: (await client.call("get_account", {})).account };
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return { state: isTokenRefused(error) ? "refused" : "unknown", trouble: error };
  }
}

const teamIn = (account: Account | undefined, id: string) => account?.teams.find((one) => one.id === id);

/** `tool team login`: signs in by a mail's link and keeps the token that the service answers. */
export function login(context: Context, options: Options<"team login">): Promise<number> {
  return teamCommand(context, { interrupted: "interrupted: nobody was signed in" }, async (work) => {
    const { config, file } = changeableCredentials(context);
    const url = addressOf(context, options, config);
    const email = options.email ?? (await askForAddress(context, config, url));
    if (!isEmailAddress(email))
      context.misuse(`${JSON.stringify(email)} is not an email address`, "write ann@example.com");
    await file.checkChangeable();
    // The key of a team of another service is not its id.
    const team = config.credentials.find(({ key }) => key === options.team)?.team ?? options.team;
    const { key, teams, ...kept } = await signInAndKeep(context, { ...work, url, email, team });
    if (context.format === "json") {
      await context.print(JSON.stringify({ key, ...kept, url, teams }, null, 2));
      return EXIT.ok;
    }
    await context.print(
      `signed in to ${visible(teams.find(({ id }) => id === kept.team)?.name ?? kept.team)} as ${kept.email}`,
    );
    const others = teams.filter(({ id }) => id !== kept.team);
    if (others.length > 0) {
      await context.say(`this token acts for ${kept.team} only; you are in other teams, too:`);
      for (const { id } of others) {
        const existing = config.credentials.find(
          (one) => one.url === url && one.team === id && one.email === kept.email,
        );
        const command =
          existing === undefined ? loginCommand({ url, email: kept.email, team: id }) : switchTo(existing.key);
        await context.say(`  ${visible(command)}`);
      }
    }
    return EXIT.ok;
  });
}

const switchTo = (key: string) => `tool team switch ${shellWord(key)}`;

type SignInRequest = Pick<SignInOptions, "url" | "email" | "team" | "progress" | "signal">;

/** Signs in and writes the token into the file. A token that cannot be kept is ended again. */
async function signInAndKeep(context: Context, request: SignInRequest) {
  const { url, team: wanted } = request;
  const { credential, email, teams } = await runSignIn(context, {
    ...request,
    device: `tool ${version} on ${hostname()}`,
  });
  if (credential === undefined) {
    if (teams.length > 0) throw notIn(wanted ?? "", { url, email, teams });
    throw new TeamError(
      `${email} is signed in, but in no team of ${url}`,
      [
        "if you are invited, accept it by the link of that mail, or name the team:",
        loginCommand({ url, email, team: "TEAM" }),
        `else somebody has to invite you: tool team members add ${shellWord(email)}`,
        "or add a team on the page that the link opened",
      ].join("\n"),
    );
  }
  const { team, token } = credential;
  if (wanted !== undefined && wanted !== team) {
    await end(context, credential);
    throw notIn(wanted, { url, email, teams });
  }
  const { file } = changeableCredentials(context);
  let replaced: KeyedCredential | undefined;
  try {
    const config = await file.change((now) => {
      replaced = now.credentials.find((one) => one.team === team && one.url === url);
      return withCredential(now, credential);
    });
    if (replaced !== undefined && replaced.token !== token) await end(context, replaced);
    return { key: config.current!.key, team, email, teams };
  } catch (error) {
    await end(context, credential);
    throw error;
  }
}

function notIn(
  wanted: string,
  { url, email, teams }: { readonly url: string; readonly email: string; readonly teams: readonly Team[] },
): TeamError {
  const ids = teams.map(({ id }) => id);
  const hint = loginCommand({ url, email, team: ids[0] });
  return new TeamError(`${email} is not in the team ${JSON.stringify(wanted)}, but in ${ids.join(", ")}`, hint);
}

/** Ends a token. False if the service did not say that it has ended. */
async function end(context: Context, credential: Credential, signal?: AbortSignal): Promise<boolean> {
  const options = { signIn: loginCommand(credential), ...(signal !== undefined && { signal }) };
  try {
    await accountClient({ ...credential, ...options, answerMs: STATUS_MS, clock: context.io.clock }).call(
      "sign_out",
      {},
    );
    return true;
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return isTokenRefused(error);
  }
}

/** Where to sign in: `--url`, TOOL_ACCOUNT_URL, the service of the team that is named, or that of the current team. */
function addressOf(context: Context, { url, team }: Options<"team login">, config: TeamConfig): string {
  const written = url ?? (context.io.env.TOOL_ACCOUNT_URL || undefined);
  if (written !== undefined) {
    const origin = readOrigin(written);
    if (origin.ok) return origin.value;
    const [{ message, hint }] = origin.problems;
    return context.misuse(url === undefined ? `TOOL_ACCOUNT_URL: ${message}` : message, hint);
  }
  const credential = config.credentials.find(({ key }) => key === team) ?? config.current;
  if (credential !== undefined) return credential.url;
  if (releaseAccount !== undefined) return releaseAccount.url;
  return context.misuse(
    "the log service to sign in to is not known",
    "write --url https://logs.example.com, or set TOOL_ACCOUNT_URL",
  );
}

async function askForAddress(context: Context, config: TeamConfig, url: string): Promise<string> {
  const { io } = context;
  if (io.stdin.isTTY !== true) {
    return context.misuse("tool team login needs an email address", "write --email you@example.com");
  }
  const suggestion = (config.current?.url === url ? config.current : config.credentials.find((one) => one.url === url))
    ?.email;
  const answer = await io.ask(`Email address${suggestion === undefined ? "" : ` (${suggestion})`}: `);
  if (answer === undefined) {
    await context.say("interrupted: nobody was signed in");
    return context.exit(EXIT.interrupted);
  }
  return answer.trim() || (suggestion ?? "");
}

/** `tool team switch`: makes another team the current one. */
export function switchTeam(context: Context, options: Options<"team switch">): Promise<number> {
  return teamCommand(context, {}, async () => {
    const { config, file } = changeableCredentials(context);
    if (config.credentials.length === 0) throw new TeamError("nobody is signed in", LOGIN);
    const wanted = options.team ?? (await askForTeam(context, config));
    const chosen = named(context, config, wanted);
    await file.change((now) => withCurrent(now, named(context, now, chosen.key).key));
    if (context.format === "json") await context.print(JSON.stringify({ current: chosen.key }));
    else await context.print(`commands act for ${chosen.key} now, as ${chosen.email} at ${chosen.url}`);
    return EXIT.ok;
  });
}

async function askForTeam(context: Context, config: TeamConfig): Promise<string> {
  const { io } = context;
  const keys = config.credentials.map(({ key }) => key);
  if (io.stdin.isTTY !== true) {
    return context.misuse("tool team switch needs a team", `write tool team switch ${keys.join(", or ")}`);
  }
  for (const one of config.credentials) {
    await context.say(`${one === config.current ? "*" : " "} ${one.key}  ${one.email} at ${one.url}`);
  }
  const answer = await io.ask("Team: ");
  return answer === undefined ? context.exit(EXIT.interrupted) : answer.trim();
}

/** The credential of a team, by its key. */
function named(context: Context, config: TeamConfig, key: string): KeyedCredential {
  const credential = config.credentials.find((one) => one.key === key);
  if (credential !== undefined) return credential;
  const keys = config.credentials.map((one) => one.key);
  const near = didYouMean(key, keys);
  const signIn = `tool team login --email <address> --team ${/^[a-z0-9][a-z0-9-]*$/.test(key) ? key : "<team>"}`;
  const hint = near === undefined ? `signed in: ${keys.join(", ") || "nobody"}\n${signIn}` : `did you mean ${near}?`;
  return context.fail(`nobody is signed in to ${JSON.stringify(key)}`, hint);
}

/** `tool team logout`: ends the token and forgets it, also if the service does not answer. */
export function logout(context: Context, options: Options<"team logout">): Promise<number> {
  return teamCommand(context, {}, async ({ signal }) => {
    const credentials = changeableCredentials(context);
    const { config, file } = credentials;
    const chosen = options.team === undefined ? currentCredential(credentials) : named(context, config, options.team);
    await file.checkChangeable();
    const isEnded = await end(context, chosen, signal);
    const left = await file.change((now) => {
      // Somebody may have signed in again meanwhile.
      const isSame = now.credentials.some(({ key, token }) => key === chosen.key && token === chosen.token);
      return isSame ? withoutCredential(now, chosen.key) : now;
    });
    if (context.format === "json") {
      const document = { team: chosen.key, ended: isEnded, current: left.current?.key ?? null };
      await context.print(JSON.stringify(document, null, 2));
      return EXIT.ok;
    }
    await context.print(`signed out of ${chosen.key}`);
    if (!isEnded) {
      await context.say(`warning: ${chosen.url} did not confirm it: the token is gone from this machine,`);
      await context.say("  and ends there after 90 days without use");
    }
    if (left.current !== undefined && left.current.key !== config.current?.key) {
      await context.say(`commands act for ${left.current.key} now`);
    } else if (left.current === undefined && left.credentials.length > 0) {
      const keys = left.credentials.map(({ key }) => key);
      await context.say(`no team is chosen now: ${keys.length === 1 ? switchTo(keys[0]!) : "tool team switch <team>"}`);
      if (keys.length > 1) await context.say(`  you are signed in to ${keys.join(", ")}`);
    }
    return EXIT.ok;
  });
}

/** `tool team add`: adds a team; on a terminal the sign-in to it follows, as a token acts for one team. */
export function add(context: Context, { name, id }: Options<"team add">): Promise<number> {
  if (name.trim() === "" || name.length > MAX_NAME_LENGTH) {
    const wrong = name.trim() === "" ? "the team has no name" : "the name of the team is too long";
    context.misuse(wrong, `write tool team add 'Night shift', with at most ${MAX_NAME_LENGTH} characters`);
  }
  if (id !== undefined && !isTeamId(id)) {
    const rule = "an id has up to 40 characters of a-z, 0-9 and -, and does not begin with -";
    context.misuse(`${JSON.stringify(id)} is not a team's id`, rule);
  }
  let newTeam: Pick<SignInRequest, "url" | "email" | "team"> | undefined;
  const added = forCurrentTeam(context, async (client, { url, email }) => {
    const taken = `choose another id: tool team add ${shellWord(name)} --id <id>`;
    const misread = `the team may be there: ${loginCommand({ url, email })} says which teams you are in`;
    const remedies = { 409: taken, 400: taken, misread };
    const answer = await client.call("add_team", { name, ...(id !== undefined && { id }) }, remedies);
    if (!isTeamId(answer.id)) throw notUnderstood(url, misread);
    newTeam = { url, email, team: answer.id };
    if (context.format === "json") await context.print(JSON.stringify({ id: answer.id, name }, null, 2));
    else await context.print(`added the team ${answer.id}`);
    return EXIT.ok;
  });
  return added.then(async (code) => {
    if (newTeam === undefined) return code;
    const command = loginCommand(newTeam);
    const { io } = context;
    const isAnswered = io.stdin.isTTY === true && io.stderr.isTerminal && context.format === undefined;
    if (!isAnswered || (io.env.TOOL_CONFIG ?? "") !== "") {
      await context.say(`a token acts for one team; sign in to this one:\n  ${command}`);
      return code;
    }
    const about = newTeam;
    await context.say("A token acts for one team. Sign in to this one:\n");
    const interrupted = `interrupted: the team is there; sign in to it later:\n  ${command}`;
    return teamCommand(context, { interrupted }, async (work) => {
      await signInAndKeep(context, { ...work, ...about });
      await context.print(`commands act for ${about.team} now`);
      return EXIT.ok;
    });
  });
}

/** The schema's limit. */
const MAX_NAME_LENGTH = 100;
