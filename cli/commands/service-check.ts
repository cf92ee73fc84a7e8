import { join, resolve } from "node:path";
import type { CheckReport, Finding } from "../../logservice/events/check.ts";
import { FOLDER_LIST } from "../../logservice/events/duckdb/folder-list.ts";
import type { Records } from "../../logservice/records/open.ts";
import { type Context, EXIT } from "../context.ts";
import { byteSize } from "../output/byte-size.ts";
import { EVENTS_FOLDER, lostEvents, notOpened, openServiceRecords, wrongFolder } from "../service/data-folder.ts";

interface CheckFlags {
  readonly data: string;
  readonly repair: boolean;
  /** sade answers one as text, several as an array. */
  readonly "accept-loss": string | readonly string[];
}

/**
 * `tool service check`: reads every file of a data directory and says what is damaged or missing; exit code 1 if anything
 * is. With `--repair` it does what a start of the service would do about it, for all files at once.
 */
export async function check(context: Context, flags: CheckFlags): Promise<number> {
  if (flags.data === "")
    return context.misuse("--data is missing", "write --data and the data directory of the log service");
  const folder = resolve(context.directory, flags.data);
  context.io.keepFilesPrivate();
  const hint = `tool service init --data ${flags.data} creates one`;
  const wrong = (await wrongFolder(folder, "data directory", hint)) ?? (await lostEvents(folder));
  if (wrong !== undefined) return context.fail(wrong.message, wrong.hint);
  const records = await openServiceRecords(folder);
  if ("message" in records) return context.fail(records.message, records.hint);
  try {
    return await checked(context, records, join(folder, EVENTS_FOLDER), flags);
  } finally {
    await records.close();
  }
}

async function checked(context: Context, records: Records, events: string, flags: CheckFlags): Promise<number> {
  const { acceptLosses, listAcceptedLosses } = await import("../../logservice/records/accepted-losses.ts");
  const { checkEvents, isWrong } = await import("../../logservice/events/check.ts");
  const { projectNames } = await import("../../logservice/records/projects.ts");
  const { instanceId } = await import("../../logservice/records/instance.ts");
  const { ForeignEvents } = await import("../../logservice/events/duckdb/find-folders.ts");
  const { NewerVersion } = await import("../../logservice/events/durable.ts");
  const owner = await instanceId(records.db);
  const look = async () => {
    const projects = new Set((await projectNames(records.db)).keys());
    return checkEvents(events, {
      nowMs: context.io.nowMs(),
      accepted: await listAcceptedLosses(records.db),
      owner,
      projects,
    });
  };
  await context.say("reading all files ...");
  try {
    if (flags.repair) await repair(context, events, { owner, names: await projectNames(records.db) });
    let report = await look();
    const ids = [flags["accept-loss"]].flat().filter((id) => id !== "");
    if (ids.length > 0) {
      const known = new Set(report.findings.flatMap(({ loss }) => loss?.id ?? []));
      const unknown = ids.find((id) => !known.has(id));
      if (unknown !== undefined) {
        const hint = known.size === 0 ? "nothing is lost" : `there are ${[...known].join(", ")}`;
        return await context.fail(`there is no loss ${JSON.stringify(unknown)}`, hint);
      }
      await acceptLosses(records.db, ids, new Date(context.io.nowMs()).toISOString());
      report = await look();
    }
    await tell(context, report, await projectNames(records.db), isWrong);
    return report.findings.some(isWrong) ? EXIT.failed : EXIT.ok;
  } catch (error) {
    if ([NewerVersion, ForeignEvents, InUse].some((type) => error instanceof type))
      return context.fail((error as Error).message);
    if (!["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    const { message, hint } = notOpened(events, error);
    return context.fail(message, hint);
  }
}

/** The service runs, and mends what it finds by itself. */
class InUse extends Error {}

/** A start reads only what tells that files were changed; the scrub that follows reads all. */
async function repair(
  context: Context,
  directory: string,
  { owner, names }: { readonly owner: string | undefined; readonly names: ReadonlyMap<string, string> },
): Promise<void> {
  const { openEventsStore } = await import("../../logservice/events/open.ts");
  const log = (level: string, message: string, { project, ...fields }: Record<string, unknown>) => {
    const id = project === undefined ? {} : { project: names.get(String(project)) ?? project };
    void context.say(`${level}: ${message}${asText({ ...id, ...fields })}`);
  };
  const store = await openEventsStore({ directory, owner, log }).catch((error: Error) => {
    if (!/is in use by the process/.test(error.message)) throw error;
    const pid = /process (\d+)/.exec(error.message)?.[1];
    throw new InUse(
      `the service runs (process ${pid}) and repairs what it finds itself; stop it first, or check without --repair`,
    );
  });
  try {
    await store.scrub();
  } finally {
    await store.close();
  }
}

/** The fields of a line of the log for people: ` (project my_app, file 17.parquet)`. */
function asText(fields: Record<string, unknown>): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  const texts = shown.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`);
  return texts.length === 0 ? "" : ` (${texts.join(", ")})`;
}

const count = (n: number, one: string) => `${n} ${one}${n === 1 ? "" : "s"}`;

async function tell(
  context: Context,
  report: CheckReport,
  names: ReadonlyMap<string, string>,
  isWrong: (finding: Finding) => boolean,
): Promise<void> {
  const { findings, projects, segments, bytes, journal, pid } = report;
  // The part before "~" of a folder's name is a key that nobody has seen.
  const projectOf = (file: string) => names.get(/^projects\/([A-Za-z0-9_-]+)~/.exec(file)?.[1] ?? "");
  const wrong = findings.filter(isWrong);
  const losses = wrong.flatMap(({ loss }) => loss ?? []);
  if (context.format === "json") {
    const told = findings.map(({ loss, ...finding }) => {
      const project = projectOf(finding.file);
      return { ...finding, ...(project !== undefined && { project }), ...(loss && { loss: lossJson(loss) }) };
    });
    await context.print(
      JSON.stringify({
        whole: wrong.length === 0,
        projects,
        segments,
        bytes,
        journal,
        running: pid !== undefined,
        findings: told,
      }),
    );
    return;
  }
  let heading = "";
  for (const { file, state, detail, loss } of findings) {
    const [, folder = "", name = ""] = /^(projects\/[^/]+)\/?(.*)$/.exec(file) ?? [];
    const project = projectOf(file);
    if (folder !== heading && folder !== "")
      await context.print(`${folder}${project === undefined ? "" : ` (project ${project})`}`);
    heading = folder;
    const words = state.padEnd(WIDEST);
    await context.print(folder === "" ? `${words} ${file}` : `  ${words} ${name || "the folder"}`);
    for (const line of [detail, ...(loss === undefined ? [] : lossWords(loss))])
      await context.print(`${" ".repeat(WIDEST + (folder === "" ? 1 : 3))}${line}`);
  }
  const waiting =
    journal.events === 0 ? "" : `, ${count(journal.events, "event")} in the journal (${byteSize(journal.bytes)})`;
  const all = `${count(projects, "project")}, ${count(segments, "segment")}, ${byteSize(bytes)}${waiting}`;
  if (findings.length === 0) await context.print(`${all}: no damage found`);
  else if (wrong.length === 0) await context.print(`${all}: only known losses, and faults that the next start repairs`);
  else {
    const lost = losses.reduce((sum, loss) => sum + loss.bytes, 0);
    const events =
      losses.length === 0
        ? "no event is missing"
        : `${count(losses.length, "loss").replace("losss", "losses")}, ${byteSize(lost)}`;
    await context.print(`${all}: ${count(wrong.length, "file")} wrong, ${events}`);
  }
  if (pid !== undefined)
    await context.say(`the service runs (process ${pid}): files that it is working on were left out`);
  const hints = hintsOf(wrong, pid !== undefined);
  for (const hint of hints) await context.say(hint);
}

const WIDEST = "rebuildable".length;

function lossWords(loss: NonNullable<Finding["loss"]>): string[] {
  const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
  const range =
    loss.firstMs === undefined || loss.lastMs === undefined
      ? "time unknown"
      : `${time(loss.firstMs)} to ${time(loss.lastMs)}`;
  const events = loss.events === undefined ? "events" : count(loss.events, "event");
  const size = loss.bytes === 0 ? "size unknown" : byteSize(loss.bytes);
  return [`${events}, ${size}`, range, `loss ${loss.id}${loss.isAccepted ? ", accepted" : ""}`];
}

function lossJson({ id, bytes, events, firstMs, lastMs, isAccepted }: NonNullable<Finding["loss"]>) {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return { id, bytes, events: events ?? null, first: time(firstMs), last: time(lastMs), accepted: isAccepted };
}

function hintsOf(wrong: readonly Finding[], isRunning: boolean): string[] {
  const hints: string[] = [];
  const isMendable = ({ state, loss, file }: Finding) =>
    loss === undefined && state !== "unknown" && !(state === "foreign" && file === FOLDER_LIST);
  if (wrong.some(isMendable) && !isRunning)
    hints.push("--repair rebuilds manifests, summaries and filters, and quarantines damaged files");
  if (wrong.some(({ loss }) => loss !== undefined)) {
    hints.push("restore a lost file from a backup to its path, and restart the service");
    hints.push("or --accept-loss <id>, if it cannot be restored: answers then stop reporting it");
  }
  if (wrong.some(({ state, file }) => state === "foreign" && file === FOLDER_LIST))
    hints.push("put this service's events back, or the records of these events");
  if (wrong.some(({ state }) => state === "unknown"))
    hints.push("the records may be older than the events: put newer ones back from a backup");
  return hints;
}
