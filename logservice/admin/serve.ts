import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { systemClock } from "../../grammar/units/clock.ts";
import { ProviderFailure } from "../billing/provider.ts";
import { OperatorError } from "../error.ts";
import type { EventsStore } from "../events/store.ts";
import { MailFailure } from "../mail/failure.ts";
import { missingSettings, type NotifySettings } from "../notify/settings.ts";
import { listAcceptedLosses } from "../records/accepted-losses.ts";
import { RecordsAway } from "../records/away.ts";
import { isRecordsFull } from "../records/check.ts";
import { eventsPosition, instanceId } from "../records/instance.ts";
import { KEY_FILE } from "../records/key-file.ts";
import { listUnopened } from "../records/notifications.ts";
import { unconfirmedOf } from "../records/number-states.ts";
import type { Records } from "../records/open.ts";
import { noteInUse } from "../records/postgres/copy-rows.ts";
import { projectNames } from "../records/projects.ts";
import { damagedRows } from "../records/row-sums.ts";
import { type RunningService, type StartOptions, startService } from "../start.ts";
import { BACKUP_LIST } from "./backup-list.ts";
import { type BillingOptions, readBilling } from "./billing.ts";
import {
  EVENTS_FOLDER,
  noteElsewhere,
  openServiceRecords,
  operatorErrorOf,
  type RecordsPlace,
  refuseLostEvents,
  requireDataDirectory,
} from "./data-directory.ts";
import { type NotifyOptions, readNotify } from "./notify-settings.ts";
import { type PeopleOptions, readPeople } from "./people.ts";
import { makePrivate } from "./private-files.ts";

export interface ServeCommandOptions
  extends Pick<StartOptions, "host" | "port" | "tls" | "version" | "limits" | "hstsSeconds"> {
  readonly folder: string;
  /** Where the records are, if not in the folder. */
  readonly records?: RecordsPlace | undefined;
  /** How many ports after `port` may be tried if it is in use. */
  readonly morePorts: number;
  readonly people: PeopleOptions;
  readonly notify: NotifyOptions;
  readonly billing: BillingOptions;
  /** The command to type on this machine for a link to sign in, for people who have no other way. */
  readonly signInCommand: string;
  readonly nowMs: () => number;
  /** Takes a line for the operators of the service. */
  readonly say: (line: string) => void;
}

/** Starts the service on a data directory. Throws an OperatorError if the directory cannot be used or nobody can listen. */
export async function serveDataDirectory(options: ServeCommandOptions): Promise<RunningService> {
  const { folder, records: place, version, tls, nowMs, say, hstsSeconds, limits = {} } = options;
  const people = await readPeople(options.people);
  const notify = readNotify(options.notify, people.mailer);
  const { billing, lines } = await readBilling(options.billing, { host: options.host, publicUrl: people.publicUrl });
  await requireDataDirectory(folder, place);
  await refuseLostEvents(folder, place);
  const open = await makePrivate(folder);
  if (open !== undefined) {
    say(`warn: others can read ${open}, and only its owner can change that: chmod -R go= ${folder}`);
  }
  // A backup that is served is none any more. On a disk that is read-only it stays one.
  await rm(join(folder, BACKUP_LIST), { force: true }).catch(() => {});
  const records = await openServiceRecords(folder, { records: place });
  if (place !== undefined) {
    await noteElsewhere(folder, place);
    await noteInUse(records.db);
  }
  const events = await openEvents(folder, records, say).catch(async (error: unknown) => {
    await records.close();
    throw error;
  });
  if (!records.isShared) say(NOT_SHARED);
  for (const line of lines) say(line);
  for (const line of await peopleWarnings(records, options)) say(line);
  for (const line of await alertWarnings(records, notify)) say(line);
  for (const { name, detail } of await damagedRows(records.db)) say(`error: ${name}: ${detail}`);
  if (people.signUp?.kind === "open") for (const line of await unconfirmedWarning(records)) say(line);
  const unopened = await unopenedSecrets(place?.keyFile ?? join(folder, KEY_FILE), records);
  if (unopened !== undefined) say(unopened);
  const clock = { ...systemClock, nowMs };
  const log = {
    error: (message: string, error: unknown) => say(`error: ${message}: ${textOf(error)}`),
    warn: (message: string) => say(`warn: ${message}`),
  };
  try {
    return await listening(options, (port) =>
      startService({
        ...{
          host: options.host,
          port,
          records,
          events,
          version,
          tls,
          hstsSeconds,
          log,
          clock,
          notify,
          limits,
          billing,
        },
        ...people,
      }),
    );
  } catch (error) {
    await events.close();
    await records.close();
    throw error;
  }
}

const NOT_SHARED =
  "warn: the disk is so full that other commands cannot open the records: make room, and start the service again to use them";

/** A mail server, a database or Stripe that refuses is no fault of ours: where in our sources that was found says nothing to operators. */
function textOf(error: unknown): string {
  if (error instanceof MailFailure || error instanceof ProviderFailure || isOfFullDisk(error)) return error.message;
  if (error instanceof RecordsAway) return `${error.message}: ${error.reason}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A disk without room is known where it is: the line says so alone. */
const isOfFullDisk = (error: unknown): error is Error => error instanceof Error && isRecordsFull(error);

/** The kinds of notifications that there are, and that the settings cannot deliver. */
async function alertWarnings({ db }: Records, settings: NotifySettings): Promise<string[]> {
  const rows = await db.selectFrom("notifications").select("type").distinct().execute();
  const used = new Set(rows.map(({ type }) => type));
  return missingSettings(settings)
    .filter((text) => used.has(text.slice(0, text.indexOf(":"))))
    .map((text) => `warn: alerts cannot be told by ${text}`);
}

/** Warns of numbers that were told alerts before everybody could sign up, and are not any more. */
async function unconfirmedWarning({ db }: Records): Promise<string[]> {
  const rows = await db
    .selectFrom("notifications")
    .select(["type", "sms_numbers", "number_states"])
    .where("type", "=", "sms")
    .execute();
  const count = rows.flatMap((row) => unconfirmedOf(row.type, JSON.parse(row.sms_numbers), row.number_states)).length;
  if (count === 0) return [];
  const what = count === 1 ? "1 number of a notification is" : `${count} numbers of notifications are`;
  return [
    `warn: ${what} not confirmed and told no alerts, since everybody may sign up: the page of each notification sends codes`,
  ];
}

/** Warns of what keeps people from signing in, if there are any. */
async function peopleWarnings(
  { db }: Records,
  { host, people, signInCommand }: ServeCommandOptions,
): Promise<string[]> {
  if ((await db.selectFrom("users").select("id").limit(1).executeTakeFirst()) === undefined) return [];
  if (people.publicUrl === undefined && !isLoopback(host))
    return ["warn: nobody can sign in: name the address for people with --public-url or TOOL_PUBLIC_URL"];
  if (people.smtp !== undefined) return [];
  return [`no mail server is set (--smtp): this prints the links for signing in:\n  ${signInCommand}`];
}

async function openEvents(folder: string, records: Records, say: (line: string) => void): Promise<EventsStore> {
  const directory = join(folder, EVENTS_FOLDER);
  const { openEventsStore } = await import("../events/open.ts");
  const names = await projectNames(records.db);
  const owner = await instanceId(records.db);
  const log = (level: string, message: string, { project, ...fields }: Record<string, unknown>) => {
    // Nobody has seen the key under which the store knows the project. One that was added since has no other name here.
    const id = typeof project === "string" ? { project: names.get(project) ?? project } : {};
    say(`${level}: ${message} ${JSON.stringify({ ...id, ...fields })}`);
  };
  const accepted = await listAcceptedLosses(records.db);
  const position = await eventsPosition(records.db);
  const events = await openEventsStore({ directory, owner, position, accepted, log }).catch((error: unknown) => {
    throw operatorErrorOf(directory, error);
  });
  const unknown = [...events.heldProjects()].filter((key) => !names.has(key));
  if (unknown.length > 0) {
    const text = "there are events of projects that the records do not have; they are kept, but cannot be queried";
    say(`warn: ${text}. The records may be older than the events ${JSON.stringify({ projects: unknown.length })}`);
  }
  return events;
}

/** A warning about the notifications that reach nobody because their secrets do not open; undefined if all open. */
async function unopenedSecrets(path: string, records: Records): Promise<string | undefined> {
  const unopened = await listUnopened(records);
  if (unopened.length === 0) return undefined;
  return [
    `warning: ${path} does not open the secrets of these notifications:`,
    ...unopened.map(({ project_id, name, type }) => `  ${project_id}: ${JSON.stringify(name)} (${type})`),
    "  put the old file back from a backup, or set the secrets again by update_notification",
  ].join("\n");
}

/** Starts on the port, or on one of those after it. */
async function listening(
  { host, port, morePorts }: ServeCommandOptions,
  start: (port: number) => Promise<RunningService>,
): Promise<RunningService> {
  for (let tries = 0; ; tries++) {
    try {
      return await start(port + tries);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && tries < morePorts) continue;
      const reason = REASONS[code];
      if (reason === undefined) throw error;
      throw new OperatorError(`cannot listen on ${host}:${port}: ${reason}`, {
        hint: "name another --address",
        cause: error,
      });
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "it is taken",
  EACCES: "permission denied",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "this machine has no such address",
};
