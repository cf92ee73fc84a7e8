import { join, resolve } from "node:path";
import {
  addToken,
  type Copied,
  type CopyOptions,
  copyDataDirectory,
  createDataDirectory,
  listTokens,
  migrateRecords,
  type RecordsPlace,
  readTeamLimits,
  removeToken,
  serveDataDirectory,
  TEAM_LIMITS_FORM,
} from "../../logservice/admin.ts";
import type { Scope } from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { type Context, EXIT } from "../context.ts";
import { byteSize } from "../output/byte-size.ts";
import { listText } from "../output/list-text.ts";
import { type FailedResult, refused } from "../refused.ts";
import { billingOptions, wrongBillingFlags } from "../service/billing-options.ts";
import { onDataDirectory } from "../service/data-flag.ts";
import { flagPeriod } from "../service/flag-period.ts";
import { peopleOptions, wrongPeopleFlags } from "../service/people-options.ts";
import { printLink } from "../service/print-link.ts";
import { smsSettings } from "../service/sms-settings.ts";
import { tlsFiles } from "../service/tls-files.ts";
import { shellWord } from "../shell-word.ts";
import { parseAddress } from "../start/address.ts";
import type { Options } from "../table.ts";
import { version } from "../version.ts";

/** `tool service init`: the data directory with its records, and the owner's token, which is shown here and nowhere else. */
export async function init(context: Context, flags: Options<"service init">): Promise<number> {
  return onDataDirectory(context, flags, async (folder, records) => {
    const { nowMs, env } = context.io;
    const { owner } = flags;
    const publicUrl = flags["public-url"] ?? (env.TOOL_PUBLIC_URL || undefined);
    const team = async () => flags.team ?? (await askForTeam(context));
    const { secret, link } = await createDataDirectory(folder, { nowMs: nowMs(), team, owner, publicUrl, records });
    if (context.format === "json") {
      const person = link && { owner, sign_in_url: link.link, expires_at: link.expires_at };
      await context.print(JSON.stringify({ token: secret, ...person }));
    } else {
      await context.say(`${folder} is ready. The owner's token may do everything, and is shown only once:`);
      await context.print(secret);
      if (link !== undefined && owner !== undefined) {
        await printLink(context, link, `${owner} signs in`);
        if (publicUrl === undefined) await sayWhereTo(context, link.link, { owner, data: flags.data ?? folder });
      }
    }
    return EXIT.ok;
  });
}

const DEFAULT_TEAM = "default";

/** The name of the first team, from a person at a terminal. */
async function askForTeam(context: Context): Promise<string> {
  const { io, format } = context;
  if (format === "json" || io.stdin.isTTY !== true || !io.stderr.isTerminal) return DEFAULT_TEAM;
  const answer = await io.ask(`Name of the first team (${DEFAULT_TEAM}): `);
  if (answer === undefined) {
    await context.say("interrupted: nothing was created");
    return context.exit(EXIT.interrupted);
  }
  return answer.trim() || DEFAULT_TEAM;
}

/** The link works only where the service says that it is. */
function sayWhereTo(context: Context, link: string, { owner, data }: { owner: string; data: string }): Promise<void> {
  const command = signInCommand(shellWord(owner), data);
  return context.say(
    `The link leads to ${new URL(link).origin}. If people reach the service elsewhere, --public-url (or TOOL_PUBLIC_URL)\n` +
      `says where; this makes another link:\n  ${command} --public-url https://logs.example.com`,
  );
}

const signInCommand = (email: string, data: string) => `tool service sign-in ${email} --data ${shellWord(data)}`;

const DEFAULT_ADDRESS = ":5000";
/** How far the default address moves on when ports are taken, as that of tool start does. */
const PORT_TRIES = 20;

/** A supervisor kills what is not gone ten seconds after it was told to stop. */
const STOP_MS = 9_500;

/** `tool service start`: the log service until a signal. */
export async function start(context: Context, flags: Options<"service start">): Promise<number> {
  return onDataDirectory(context, flags, async (folder, records) => {
    const { io } = context;
    const wrong = wrongPeopleFlags(flags) ?? wrongBillingFlags(flags);
    if (wrong !== undefined) return context.misuse(wrong.message, wrong.hint);
    const address = parseAddress(flags.address ?? DEFAULT_ADDRESS);
    if (address === undefined) {
      const written = JSON.stringify(flags.address);
      return context.misuse(`${written} is not an address`, "write :5000, 127.0.0.1:8080, 0.0.0.0:443 or [::1]:5000");
    }
    const tls = await tlsFiles(context, flags["tls-cert"], flags["tls-key"]);
    if (!tls.ok) return context.misuse(tls.problems[0].message, tls.problems[0].hint);
    if (address.isExposed && tls.value === undefined && io.env.TOOL_PLAIN_HTTP !== "1") {
      return context.misuse(
        `${flags.address} can be reached by other machines, and plain HTTP would show them every token`,
        "give --tls-cert and --tls-key, or listen on loopback behind a proxy that speaks TLS",
      );
    }
    const limits = readTeamLimits(io.env.TOOL_TEAM_LIMITS ?? "");
    const hsts = flagPeriod("--hsts", flags.hsts, "write --hsts 1d, or --hsts 0s for none");
    if (!hsts.ok) return context.misuse(hsts.problems[0].message, hsts.problems[0].hint);
    if (!limits.ok) return context.misuse(`TOOL_TEAM_LIMITS: ${limits.problems.join("; ")}`, TEAM_LIMITS_FORM);
    const stopped = new Promise<"SIGINT" | "SIGTERM" | "SIGHUP">((done) => {
      let isStopping = false;
      io.onSignal((signal) => {
        if (isStopping) io.exitNow(EXIT.interrupted);
        isStopping = true;
        done(signal);
      });
      io.onParentGone(() => done("SIGTERM"));
    });
    const people = peopleOptions(flags, io.env);
    const notify = {
      sms: await smsSettings(context, flags.sms),
      pagerdutyUrl: flags["pagerduty-url"],
      allowsPrivate: flags["allow-private-targets"],
    };
    const running = await serveDataDirectory({
      folder,
      records,
      host: address.host,
      port: address.port,
      morePorts: flags.address === undefined ? PORT_TRIES : 0,
      tls: tls.value,
      version,
      nowMs: io.nowMs,
      say: (line) => void context.say(line),
      people,
      notify,
      billing: billingOptions(flags, io.env, context.directory),
      limits: limits.value,
      hstsSeconds: hsts.value === undefined ? undefined : Math.floor(hsts.value / 1000),
      signInCommand: signInCommand("<email>", flags.data ?? folder),
    });
    const { url, webUrl } = running;
    const publicUrl = people.publicUrl === undefined ? undefined : new URL(people.publicUrl).origin;
    if (context.format === "json") await context.print(JSON.stringify({ url, public_url: publicUrl }));
    else if (webUrl === undefined) await context.print(`The log service is at ${url}`);
    else if (webUrl === url) await context.print(`The log service and its web UI are at ${url}`);
    else await context.print(`The log service and its web UI are at ${webUrl}, and listen on ${url}`);
    io.notifyParent({ type: "listening", url: running.url });
    const signal = await stopped;
    const code = signal === "SIGTERM" ? EXIT.ok : EXIT.interrupted;
    const late = io.clock.after(STOP_MS, () => {
      const exit = () => io.exitNow(code);
      context.say("warn: not all work could be stopped; what was accepted is in the journal").then(exit, exit);
    });
    await running.close();
    late.stop();
    return code;
  });
}

/**
 * `tool service token add|ls|rm`, also while the service runs. Needs no token: only its owner can read the data directory.
 */
export async function token(context: Context, options: Options<"service token">): Promise<number> {
  const { do: action, id } = options;
  if (!["add", "ls", "rm"].includes(action)) {
    return context.misuse(`tool service token has no action ${JSON.stringify(action)}`, "write add, ls or rm");
  }
  if ((action === "rm") !== (id !== undefined)) {
    return action === "rm"
      ? context.misuse("tool service token rm needs an id", "tool service token ls shows their ids")
      : context.misuse(`tool service token ${action} takes no id`);
  }
  return onDataDirectory(context, options, async (folder, records) => {
    if (id !== undefined) {
      await removeToken(folder, id, context.io.nowMs(), records);
      return EXIT.ok;
    }
    return action === "add" ? added(context, folder, options, records) : listed(context, folder, records);
  });
}

async function added(
  context: Context,
  folder: string,
  options: Options<"service token">,
  records: RecordsPlace | undefined,
): Promise<number> {
  const scopes = readScopes(options.scope);
  if (!scopes.ok) return context.misuse(scopes.problems[0].message, scopes.problems[0].hint);
  const nowMs = context.io.nowMs();
  const expires = readExpires(options.expires, nowMs);
  if (!expires.ok) return context.misuse(expires.problems[0].message, expires.problems[0].hint);
  const expiresAt = expires.value;
  const token = {
    ...{ scopes: scopes.value, description: options.description ?? "", team: options.team },
    ...(expiresAt !== undefined && { expiresAt }),
  };
  const { secret, id } = await addToken(folder, token, nowMs, records);
  if (context.format === "json")
    await context.print(
      JSON.stringify({ id, token: secret, ...(expiresAt !== undefined && { expires_at: expiresAt }) }),
    );
  else {
    const until = expiresAt === undefined ? "" : `, ends ${expiresAt},`;
    await context.say(`The token ${id}${until} is shown only once:`);
    await context.print(secret);
  }
  return EXIT.ok;
}

async function listed(context: Context, folder: string, records: RecordsPlace | undefined): Promise<number> {
  const tokens = await listTokens(folder, records);
  if (context.format === "json") {
    await context.print(JSON.stringify(tokens));
    return EXIT.ok;
  }
  const hasTeams = new Set(tokens.map(({ team }) => team)).size > 1;
  const rows = tokens.map(({ id, team, scopes, last_used_at, expires_at, description }) => {
    const allowed = SCOPES.every((scope) => scopes.includes(scope)) ? "all" : scopes.join(",");
    const isOver = expires_at !== null && Date.parse(expires_at) <= context.io.nowMs();
    const ends = expires_at === null ? "never" : `${isOver ? "ended " : ""}${expires_at}`;
    return [id, ...(hasTeams ? [team] : []), allowed, last_used_at ?? "never", ends, description];
  });
  const titles = ["ID", ...(hasTeams ? ["TEAM"] : []), "SCOPES", "USED", "ENDS", "DESCRIPTION"];
  await context.print(listText(titles, rows));
  return EXIT.ok;
}

const SCOPES = rpcSchema.definitions.Scope!.enum as readonly Scope[];
const SCOPES_HINT = `write --scope all, or some of ${SCOPES.join(", ")}`;

function readScopes(words: readonly string[]): { readonly ok: true; readonly value: readonly Scope[] } | FailedResult {
  const scopes = words.flatMap((word) => word.split(",")).map((word) => word.trim());
  if (scopes.length === 0) return refused("a token needs scopes", SCOPES_HINT);
  const unknown = scopes.find((scope) => scope !== "all" && !SCOPES.includes(scope as Scope));
  if (unknown !== undefined) return refused(`there is no scope ${JSON.stringify(unknown)}`, SCOPES_HINT);
  if (scopes.includes("all")) return { ok: true, value: SCOPES };
  return { ok: true, value: scopes as Scope[] };
}

/** The time of `--expires`, as records keep it; undefined without the flag. */
function readExpires(
  written: string | undefined,
  nowMs: number,
): { readonly ok: true; readonly value: string | undefined } | FailedResult {
  const period = flagPeriod("--expires", written, "write --expires 30d");
  if (!period.ok) return period;
  if (period.value === undefined) return { ok: true, value: undefined };
  const at = new Date(nowMs + period.value);
  if (period.value === 0 || Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999)
    return refused(`--expires ${written} is ${period.value === 0 ? "now" : "too late"}`, "write --expires 30d");
  return { ok: true, value: at.toISOString() };
}

/** `tool service backup`: makes a copy for `restore`; the service may run meanwhile. */
export async function backup(context: Context, { to, data }: Options<"service backup">): Promise<number> {
  return onDataDirectory(context, { data }, (folder) =>
    copied(context, { kind: "data directory", from: folder, to: resolve(context.directory, to) }),
  );
}

/** `tool service restore`: makes a data directory from a backup, which is checked first. */
export async function restore(context: Context, { from, data }: Options<"service restore">): Promise<number> {
  return onDataDirectory(context, { data }, async (folder) => {
    const code = await copied(context, { kind: "backup", from: resolve(context.directory, from), to: folder });
    await context.say("everybody is signed out; members, roles and tokens are as they were then: look at them again");
    await context.say(`  tool team members ls; tool service token ls --data ${shellWord(folder)}`);
    return code;
  });
}

/** How often a slow copy reports its progress. */
const PROGRESS_MS = 2_000;

async function copied(context: Context, copy: Omit<CopyOptions, "progress" | "warn">): Promise<number> {
  const { io } = context;
  const said = ({ files, bytes }: Copied) => `${files} event ${files === 1 ? "file" : "files"}, ${byteSize(bytes)}`;
  let saidMs = io.nowMs();
  const progress = (sofar: Copied) => {
    if (Math.abs(io.nowMs() - saidMs) < PROGRESS_MS) return;
    saidMs = io.nowMs();
    void context.say(`copied ${said(sofar)} so far`);
  };
  const result = await copyDataDirectory({
    ...copy,
    progress,
    warn: (message) => void context.say(`warning: ${message}`),
  });
  if (context.format === "json") await context.print(JSON.stringify({ path: copy.to, ...result }));
  else await context.say(`${copy.to} holds a copy of ${copy.from}: ${said(result)}`);
  return EXIT.ok;
}

/** `tool service migrate`: copies records into a database, from which a service can be started over the same events. */
export async function migrate(context: Context, { from, ...flags }: Options<"service migrate">): Promise<number> {
  if (from === undefined) return context.misuse("--from is missing", "write --from and the data directory to copy");
  return onDataDirectory(context, { data: from, ...flags }, async (folder, records) => {
    if (records === undefined)
      return context.misuse("--records is missing", "add --records postgres://user@host/database");
    const { tables, rows } = await migrateRecords(folder, records, context.io.nowMs());
    if (context.format === "json") {
      await context.print(JSON.stringify({ tables, rows }));
      return EXIT.ok;
    }
    await context.say(`copied ${rows} rows of ${tables} tables; ${folder} is as it was`);
    await context.say(`Move ${join(folder, "records.sqlite")} away, then start the service with the same --records.`);
    return EXIT.ok;
  });
}
