import { join, resolve } from "node:path";
import type { EventsStore } from "../../logservice/events/store.ts";
import type { Records } from "../../logservice/records/open.ts";
import { type RunningService, startService } from "../../logservice/start.ts";
import type { Scope } from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { type Context, EXIT } from "../context.ts";
import { type Copied, copyService } from "../service/copy.ts";
import {
  EVENTS_FOLDER,
  isServiceFolder,
  lostEvents,
  lostRecords,
  makeDataFolder,
  notOpened,
  openServiceRecords,
  type Wrong,
  wrongFolder,
} from "../service/data-folder.ts";
import { makePrivate } from "../service/private-files.ts";
import { tlsFiles } from "../service/tls-files.ts";
import { unopenedSecrets } from "../service/unopened-secrets.ts";
import { type Address, parseAddress } from "../start/address.ts";
import type { Options } from "../table.ts";
import { version } from "../version.ts";

/** `tool service init`: the data directory with its records, and the owner's token, which is shown here and nowhere else. */
export async function init(context: Context, flags: Options<"service init">): Promise<number> {
  const folder = dataFolder(context, flags);
  if (folder === undefined) return withoutData(context);
  if (isServiceFolder(folder)) {
    return context.fail(
      `${folder} is already the data directory of a log service`,
      "tool service token add makes more tokens",
    );
  }
  context.io.keepFilesPrivate();
  const lost = await lostRecords(folder);
  if (lost !== undefined) return context.fail(lost.message, lost.hint);
  const unmade = await makeDataFolder(folder);
  if (unmade !== undefined) return context.fail(unmade.message, unmade.hint);
  const { makeInstanceId } = await import("../../logservice/records/instance.ts");
  const { addToken } = await import("../../logservice/access/tokens.ts");
  const records = await openServiceRecords(folder);
  if ("message" in records) return context.fail(records.message, records.hint);
  try {
    const secret = await records.db.transaction().execute(async (db) => {
      await makeInstanceId(db);
      const owner = { description: "owner", scopes: SCOPES };
      return (await addToken(db, owner, new Date(context.io.nowMs()).toISOString())).secret;
    });
    if (context.format === "json") await context.print(JSON.stringify({ token: secret }));
    else {
      await context.say(`${folder} is ready. The owner's token may do everything, and is shown only once:`);
      await context.print(secret);
    }
  } finally {
    await records.close();
  }
  return EXIT.ok;
}

const DEFAULT_ADDRESS = ":5000";
/** How far the default address moves on where ports are taken, as that of tool start does. */
const PORT_TRIES = 20;

/** `tool service start`: the log service until a signal. */
export async function start(context: Context, flags: Options<"service start">): Promise<number> {
  const { io } = context;
  const folder = dataFolder(context, flags);
  if (folder === undefined) return withoutData(context);
  const address = parseAddress(flags.address ?? DEFAULT_ADDRESS);
  if (address === undefined) {
    const written = JSON.stringify(flags.address);
    return context.misuse(`${written} is not an address`, "write :5000, 127.0.0.1:8080, 0.0.0.0:443 or [::1]:5000");
  }
  const tls = await tlsFiles(context, flags["tls-cert"], flags["tls-key"]);
  if (tls !== undefined && "message" in tls) return context.misuse(tls.message, tls.hint);
  if (address.isExposed && tls === undefined) {
    return context.misuse(
      `${flags.address} can be reached by other machines, and plain HTTP would show them every token`,
      "give --tls-cert and --tls-key, or listen on loopback behind a proxy that speaks TLS",
    );
  }
  io.keepFilesPrivate();
  const wrong = (await wrongDataFolder(folder, flags)) ?? (await lostEvents(folder));
  if (wrong !== undefined) return context.fail(wrong.message, wrong.hint);
  const open = await makePrivate(folder);
  if (open !== undefined) {
    await context.say(`warn: others can read ${open}, and only its owner can change that: chmod -R go= ${folder}`);
  }

  const stopped = new Promise<"SIGINT" | "SIGTERM" | "SIGHUP">((done) => {
    let isStopping = false;
    io.onSignal((signal) => {
      if (isStopping) io.exitNow(EXIT.interrupted);
      isStopping = true;
      done(signal);
    });
    io.onParentGone(() => done("SIGTERM"));
  });
  const say = (text: string) => void context.say(text);
  const { openEventsStore } = await import("../../logservice/events/open.ts");
  const { instanceId } = await import("../../logservice/records/instance.ts");
  const { projectNames } = await import("../../logservice/records/projects.ts");
  const records = await openServiceRecords(folder);
  if ("message" in records) return context.fail(records.message, records.hint);
  const names = await projectNames(records.db);
  let events: EventsStore;
  try {
    events = await openEventsStore({
      directory: join(folder, EVENTS_FOLDER),
      owner: await instanceId(records.db),
      log: (level, message, { project, ...fields }) => {
        // Nobody has seen the key under which the store knows it. A project that was added since has no other name here.
        const id = typeof project === "string" ? { project: names.get(project) ?? project } : {};
        say(`${level}: ${message} ${JSON.stringify({ ...id, ...fields })}`);
      },
    });
  } catch (error) {
    await records.close();
    const { message, hint } = notOpened(join(folder, EVENTS_FOLDER), error);
    return context.fail(message, hint);
  }
  const unknown = [...events.heldProjects()].filter((key) => !names.has(key));
  if (unknown.length > 0) {
    const text = "there are events of projects that the records do not have; they are kept, but cannot be queried";
    say(`warn: ${text}. The records may be older than the events ${JSON.stringify({ projects: unknown.length })}`);
  }
  const unopened = await unopenedSecrets(folder, records);
  if (unopened !== undefined) say(unopened);
  const log = {
    error: (message: string, error: unknown) => say(`error: ${message}: ${(error as Error).stack ?? error}`),
  };
  const running = await listen(address, flags.address === undefined, (at) =>
    startService({ ...at, records, events, version, tls, log, nowMs: io.nowMs }),
  ).catch(async (error: NodeJS.ErrnoException) => {
    await events.close();
    await records.close();
    return error;
  });
  if (running instanceof Error) {
    const { code } = running as NodeJS.ErrnoException;
    const reason = REASONS[code ?? ""];
    if (reason === undefined) throw running;
    return context.fail(`cannot listen on ${address.host}:${address.port}: ${reason}`, "name another --address");
  }
  await context.print(
    context.format === "json" ? JSON.stringify({ url: running.url }) : `The log service is at ${running.url}`,
  );
  io.notifyParent({ type: "listening", url: running.url });
  const signal = await stopped;
  await running.close();
  return signal === "SIGTERM" ? EXIT.ok : EXIT.interrupted;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "it is taken",
  EACCES: "permission denied",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "this machine has no such address",
};

async function listen(
  { host, port }: Address,
  isDefault: boolean,
  open: (at: { host: string; port: number }) => Promise<RunningService>,
): Promise<RunningService> {
  for (let tries = 0; ; tries++) {
    try {
      return await open({ host, port: port + tries });
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!isTaken || !isDefault || tries === PORT_TRIES) throw error;
    }
  }
}

/** `tool service token add|ls|rm`: the tokens, also while the service runs; who may read the directory is its owner. */
export async function token(context: Context, { do: action, id, ...flags }: Options<"service token">): Promise<number> {
  if (!["add", "ls", "rm"].includes(action)) {
    return context.misuse(`tool service token has no action ${JSON.stringify(action)}`, "write add, ls or rm");
  }
  if ((action === "rm") !== (id !== undefined)) {
    return action === "rm"
      ? context.misuse("tool service token rm needs an id", "tool service token ls shows their ids")
      : context.misuse(`tool service token ${action} takes no id`);
  }
  const folder = dataFolder(context, flags);
  if (folder === undefined) return withoutData(context);
  context.io.keepFilesPrivate();
  const wrong = await wrongDataFolder(folder, flags);
  if (wrong !== undefined) return context.fail(wrong.message, wrong.hint);
  const scopes = readScopes(flags.scope);
  if (action === "add" && typeof scopes === "string") {
    return context.misuse(scopes, `write --scope all, or some of ${SCOPES.join(", ")}`);
  }
  const records = await openServiceRecords(folder);
  if ("message" in records) return context.fail(records.message, records.hint);
  try {
    return await changeTokens(context, records, {
      action,
      id,
      scopes: scopes as readonly Scope[],
      description: flags.description,
    });
  } finally {
    await records.close();
  }
}

async function changeTokens(
  context: Context,
  { db }: Records,
  asked: {
    readonly action: string;
    readonly id: string | undefined;
    readonly scopes: readonly Scope[];
    readonly description: string | undefined;
  },
): Promise<number> {
  const { addToken, listTokens, removeToken } = await import("../../logservice/access/tokens.ts");
  const { writeAudit } = await import("../../logservice/records/audit.ts");
  const { RpcError } = await import("../../logservice/rpc/error.ts");
  const at = new Date(context.io.nowMs()).toISOString();
  const audit = { at, actor: "terminal", address: "", project_id: "", result: "done" } as const;
  if (asked.action === "add") {
    const { scopes, description = "" } = asked;
    const { secret, id } = await db.transaction().execute(async (db) => {
      const added = await addToken(db, { scopes, description }, at);
      await writeAudit(db, { ...audit, operation: "add_token", target_id: added.id });
      return added;
    });
    if (context.format === "json") await context.print(JSON.stringify({ id, token: secret }));
    else {
      await context.say(`The token ${id} is shown only once:`);
      await context.print(secret);
    }
    return EXIT.ok;
  }
  if (asked.action === "ls") {
    const tokens = await listTokens(db);
    if (context.format === "json") await context.print(JSON.stringify(tokens));
    for (const one of context.format === "json" ? [] : tokens) {
      const used = one.last_used_at === null ? "never used" : `used ${one.last_used_at}`;
      await context.print([one.id, one.scopes.join(","), used, one.description].join("  ").trimEnd());
    }
    return EXIT.ok;
  }
  try {
    await db.transaction().execute(async (db) => {
      const { id } = await removeToken(db, asked.id!);
      await writeAudit(db, { ...audit, operation: "remove_token", target_id: id });
    });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return context.fail(error.message, "tool service token ls shows them");
  }
  return EXIT.ok;
}

const SCOPES = rpcSchema.definitions.Scope!.enum as readonly Scope[];

/** The scopes, or what is wrong with them. */
function readScopes(words: readonly string[]): readonly Scope[] | string {
  const scopes = words.flatMap((word) => word.split(",")).map((word) => word.trim());
  if (scopes.length === 0) return "a token needs scopes";
  if (scopes.includes("all")) return SCOPES;
  const unknown = scopes.find((scope) => !SCOPES.includes(scope as Scope));
  return unknown === undefined ? (scopes as Scope[]) : `there is no scope ${JSON.stringify(unknown)}`;
}

/** `tool service backup`: a copy that `restore` makes a data directory of; the service may run meanwhile. */
export async function backup(context: Context, { to, ...flags }: Options<"service backup">): Promise<number> {
  const data = dataFolder(context, flags);
  if (data === undefined) return withoutData(context);
  return copied(context, "data directory", data, resolve(context.directory, to));
}

/** `tool service restore`: a data directory of a backup, which is looked at first. */
export async function restore(context: Context, { from, ...flags }: Options<"service restore">): Promise<number> {
  const data = dataFolder(context, flags);
  if (data === undefined) return withoutData(context);
  return copied(context, "backup", resolve(context.directory, from), data);
}

/** How often a copy that takes long says how far it is. */
const PROGRESS_MS = 2_000;

async function copied(context: Context, kind: "data directory" | "backup", from: string, to: string): Promise<number> {
  const { io } = context;
  io.keepFilesPrivate();
  const said = ({ files, bytes }: Copied) =>
    `${files} event ${files === 1 ? "file" : "files"}, ${(bytes / 1e6).toFixed(1)} MB`;
  let saidMs = io.nowMs();
  const result = await copyService(kind, from, to, (sofar) => {
    if (Math.abs(io.nowMs() - saidMs) < PROGRESS_MS) return;
    saidMs = io.nowMs();
    void context.say(`copied ${said(sofar)} so far`);
  });
  if ("message" in result) return context.fail(result.message, result.hint);
  if (context.format === "json") await context.print(JSON.stringify({ path: to, ...result }));
  else await context.say(`${to} holds a copy of ${from}: ${said(result)}`);
  return EXIT.ok;
}

type DataOption = Pick<Options<"service init">, "data">;

function wrongDataFolder(folder: string, { data }: DataOption): Promise<Wrong | undefined> {
  return wrongFolder(folder, "data directory", `tool service init --data ${data} creates one`);
}

function dataFolder({ directory }: Context, { data }: DataOption): string | undefined {
  return data === undefined ? undefined : resolve(directory, data);
}

function withoutData(context: Context): Promise<number> {
  return context.misuse("--data is missing", "write --data and the data directory of the log service");
}
