import { existsSync } from "node:fs";
import { join } from "node:path";
import { NotAFile } from "../data-file.ts";
import { OperatorError } from "../error.ts";
import type { EventsFinding, EventsReport } from "../events/check.ts";
import { FOLDER_LIST } from "../events/duckdb/folder-list.ts";
import type { EventsStoreOptions } from "../events/settings.ts";
import { acceptLosses, listAcceptedLosses } from "../records/accepted-losses.ts";
import { eventsPosition, instanceId } from "../records/instance.ts";
import { KEY_FILE } from "../records/key-file.ts";
import { listUnopened } from "../records/notifications.ts";
import { RECORDS_FILE, type Records } from "../records/open.ts";
import { placeName } from "../records/postgres/place.ts";
import { projectNames } from "../records/projects.ts";
import { damagedRows } from "../records/row-sums.ts";
import { BACKUP_LIST } from "./backup-list.ts";
import {
  EVENTS_FOLDER,
  operatorErrorOf,
  type RecordsPlace,
  refuseLostEvents,
  requireDataDirectory,
  withRecords,
} from "./data-directory.ts";

export interface DataCheckOptions {
  readonly folder: string;
  /** Where the records are, if not in the folder. */
  readonly records?: RecordsPlace | undefined;
  /** Does first what a start of the service would do about damage, for all files at once. */
  readonly repair: boolean;
  /** Ids of losses that answers are to report no longer. */
  readonly acceptedLosses: readonly string[];
  readonly nowMs: () => number;
  /** Called when the directory was found to be one, before its files are read. */
  readonly reading: () => Promise<void>;
  /** Takes what the repair does, line by line. */
  readonly repaired: (level: string, message: string, fields: Record<string, unknown>) => void;
}

export interface CheckReport extends Omit<EventsReport, "findings"> {
  readonly findings: readonly Finding[];
}

export interface Finding extends EventsFinding {
  /** Below the folder of the events, except for the records and their key, which are beside it or elsewhere. */
  readonly file: string;
  /** The id of the project whose file it is. */
  readonly project: string | undefined;
  /** Undefined if nothing is wrong except what the next start of the service repairs. */
  readonly remedy: FindingRemedy | undefined;
}

export type FindingRemedy =
  | "repair"
  /** Restore the lost file from a backup, or accept the loss. */
  | "restore or accept"
  /** The events are those of another service: put the own ones back, or the records of these. */
  | "put back events or records"
  /** The records may be older than the events: put newer ones back. */
  | "put back newer records"
  /** Restore the key, or set the secrets again. */
  | "put back the key"
  /** Each finding says how its row is written again. */
  | "write the row again";

/**
 * Reads every file of a data directory. Throws an OperatorError if the directory cannot be used, a running service keeps it
 * from being repaired, or there is no loss of an id to accept.
 */
export async function checkDataDirectory(options: DataCheckOptions): Promise<CheckReport> {
  const { folder, records: place } = options;
  await requireDataDirectory(folder, place);
  if (existsSync(join(folder, BACKUP_LIST)))
    throw new OperatorError(`${folder} is a backup`, { hint: `tool service check --backup ${folder}` });
  await refuseLostEvents(folder, place);
  const check = async (records: Records) => {
    await options.reading();
    const directory = join(folder, EVENTS_FOLDER);
    try {
      const report = await checked(records, directory, options);
      const own = [...(await rowFindings(records, place)), ...(await keyFindings(records, folder, place))];
      return { ...report, findings: [...report.findings, ...own] };
    } catch (error) {
      const { NewerVersion, PlaceTaken } = await import("../events/durable.ts");
      const { ForeignEvents } = await import("../events/duckdb/find-folders.ts");
      if ([NewerVersion, PlaceTaken, ForeignEvents, NotAFile].some((type) => error instanceof type))
        throw new OperatorError((error as Error).message, { cause: error });
      if (!["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      throw operatorErrorOf(directory, error);
    }
  };
  return withRecords(folder, check, { makesKey: false, records: place });
}

/** Rows of the records that are not as they were written. */
async function rowFindings({ db }: Records, place: RecordsPlace | undefined): Promise<Finding[]> {
  return (await damagedRows(db)).map(({ name, detail }) => ({
    file: place === undefined ? RECORDS_FILE : placeName(place.postgres),
    state: "damaged",
    detail: `${name}: ${detail}`,
    project: undefined,
    remedy: "write the row again",
  }));
}

/** A key that is lost or damaged, if that costs secrets of notifications. */
async function keyFindings(records: Records, folder: string, place: RecordsPlace | undefined): Promise<Finding[]> {
  const unopened = await listUnopened(records);
  if (unopened.length === 0) return [];
  const names = unopened.map(({ project_id, name, type }) => `${project_id}: ${JSON.stringify(name)} (${type})`);
  const path = place?.keyFile ?? join(folder, KEY_FILE);
  const state = existsSync(path) ? "damaged" : "missing";
  const detail = `does not open the secrets of these notifications: ${names.join(", ")}`;
  return [{ file: place?.keyFile ?? KEY_FILE, state, detail, project: undefined, remedy: "put back the key" }];
}

async function checked(records: Records, directory: string, options: DataCheckOptions): Promise<CheckReport> {
  const { checkEvents, isWrong } = await import("../events/check.ts");
  const { db } = records;
  const { acceptedLosses, nowMs } = options;
  const owner = await instanceId(db);
  // Before the events are read, as a service that runs goes on.
  const position = await eventsPosition(db);
  const look = async () => {
    const accepted = await listAcceptedLosses(db);
    const projects = new Set((await projectNames(db)).keys());
    return checkEvents(directory, { nowMs: nowMs(), accepted, owner, position, projects });
  };
  if (options.repair) await repair(records, { directory, owner, position, repaired: options.repaired });
  let report = await look();
  if (acceptedLosses.length > 0) {
    const lossIds = new Set(report.findings.flatMap(({ loss }) => loss?.id ?? []));
    const unknown = acceptedLosses.find((id) => !lossIds.has(id));
    if (unknown !== undefined) {
      const hint = lossIds.size === 0 ? "nothing is lost" : `there are ${[...lossIds].join(", ")}`;
      throw new OperatorError(`there is no loss ${JSON.stringify(unknown)}`, { hint });
    }
    await acceptLosses(db, acceptedLosses, new Date(nowMs()).toISOString());
    report = await look();
  }
  const names = await projectNames(db);
  const findings = report.findings.map((finding) => ({
    ...finding,
    project: names.get(keyOf(finding.file)),
    remedy: isWrong(finding) ? remedyOf(finding) : undefined,
  }));
  return { ...report, findings };
}

/** The key of the project that a file belongs to: the part of its folder's name before "~". */
const keyOf = (file: string) => /^projects\/([A-Za-z0-9_-]+)~/.exec(file)?.[1] ?? "";

function remedyOf({ state, file, loss }: EventsFinding): FindingRemedy {
  if (loss !== undefined) return "restore or accept";
  if (state === "unknown") return "put back newer records";
  return state === "foreign" && file === FOLDER_LIST ? "put back events or records" : "repair";
}

/** A start reads only what shows that files were changed; the scrub that follows reads everything. */
async function repair(
  { db }: Records,
  {
    directory,
    repaired,
    ...facts
  }: Pick<DataCheckOptions, "repaired"> & Pick<EventsStoreOptions, "owner" | "position"> & { directory: string },
): Promise<void> {
  const { openEventsStore } = await import("../events/open.ts");
  const names = await projectNames(db);
  const log = (level: string, message: string, { project, ...fields }: Record<string, unknown>) => {
    const id = project === undefined ? {} : { project: names.get(String(project)) ?? project };
    repaired(level, message, { ...id, ...fields });
  };
  const store = await openEventsStore({ directory, ...facts, log }).catch((error: Error) => {
    if (!/is in use by process/.test(error.message)) throw error;
    const pid = /process (\d+)/.exec(error.message)?.[1];
    const hint = `the service runs (process ${pid}) and repairs what it finds itself; stop it first, or check without --repair`;
    throw new OperatorError(hint, { cause: error });
  });
  try {
    await store.scrub();
  } finally {
    await store.close();
  }
}
