import { type CheckReport, checkBackup, checkDataDirectory, type Finding } from "../../logservice/admin.ts";
import { type Context, EXIT } from "../context.ts";
import { byteSize } from "../output/byte-size.ts";
import { onDataDirectory } from "../service/data-flag.ts";
import type { Options } from "../table.ts";

/**
 * `tool service check`: reads every file of a data directory and says what is damaged or missing; exit code 1 if anything
 * is. With `--repair` it does what a start of the service would do about it, for all files at once.
 */
export async function check(context: Context, options: Options<"service check">): Promise<number> {
  if (options.backup !== undefined) return ofBackup(context, options);
  return onDataDirectory(context, options, async (folder, records) => {
    const report = await checkDataDirectory({
      folder,
      records,
      repair: options.repair,
      acceptedLosses: options["accept-loss"],
      nowMs: context.io.nowMs,
      reading: () => context.say("reading all files ..."),
      repaired: (level, message, fields) => void context.say(`${level}: ${message}${asText(fields)}`),
    });
    await tell(context, report);
    return report.findings.some(isWrong) ? EXIT.failed : EXIT.ok;
  });
}

/** `tool service check --backup`: says which files of a backup are not as they were. */
async function ofBackup(context: Context, options: Options<"service check">): Promise<number> {
  const { backup, data, repair } = options;
  if (data !== undefined || repair || options["accept-loss"].length > 0)
    return context.misuse("--backup is checked by itself", "leave out --data, --repair and --accept-loss");
  return onDataDirectory(context, { data: backup }, async (folder) => {
    const { isListed, files, bytes, findings, losses } = await checkBackup(folder);
    const isWhole = findings.length === 0;
    if (context.format === "json")
      await context.print(
        JSON.stringify({ whole: isWhole, listed: isListed, files, bytes, findings, losses: losses.map(lossJson) }),
      );
    else {
      for (const { file, state, detail } of findings) {
        await context.print(`${state.padEnd(WIDEST)} ${file}`);
        await context.print(`${" ".repeat(WIDEST + 1)}${detail}`);
      }
      const size = isListed && bytes > 0 ? `, ${byteSize(bytes)}` : "";
      const result = isWhole ? "no damage found" : withProblems(findings);
      await context.print(`${count(files, "file")}${size}: ${result}`);
    }
    if (!isListed)
      await context.say("warning: no list of files, as in those of older versions: one that is gone may not be missed");
    if (losses.length > 0 && context.format !== "json") {
      const isCertain = losses.some(({ isPossible }) => !isPossible);
      await context.print(
        `it ${isCertain ? "lacks events that were lost" : "may lack events that were lost"} before it was made (${sumOf(losses)}):`,
      );
      for (const loss of losses) await context.print(`  ${lossWords(loss).join(", ")}`);
    }
    if (!isWhole) await context.say("restore another backup, or take a new one of the data: tool service backup");
    return isWhole ? EXIT.ok : EXIT.failed;
  });
}

const isWrong = ({ remedy }: Finding) => remedy !== undefined;

/** The fields of a line of the log for people: ` (project my_app, file 17.parquet)`. */
function asText(fields: Record<string, unknown>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  const texts = present.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`);
  return texts.length === 0 ? "" : ` (${texts.join(", ")})`;
}

const count = (n: number, one: string) => `${n} ${one}${n === 1 ? "" : "s"}`;

async function tell(context: Context, report: CheckReport): Promise<void> {
  const { findings, projects, segments, bytes, journal, pid } = report;
  const wrong = findings.filter(isWrong);
  const losses = wrong.flatMap(({ loss }) => loss ?? []);
  if (context.format === "json") {
    const documents = findings.map(({ file, state, detail, project, loss }) => ({
      ...{ file, state, detail },
      ...(project !== undefined && { project }),
      ...(loss && { loss: lossJson(loss) }),
    }));
    await context.print(
      JSON.stringify({
        whole: wrong.length === 0,
        projects,
        segments,
        bytes,
        journal,
        running: pid !== undefined,
        findings: documents,
      }),
    );
    return;
  }
  let heading = "";
  for (const { file, state, detail, project, loss } of findings) {
    const [, folder = "", name = ""] = /^(projects\/[^/]+)\/?(.*)$/.exec(file) ?? [];
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
    await context.print(`${all}: ${withProblems(wrong)}, ${sumOf(losses)}`);
  }
  if (pid !== undefined)
    await context.say(`the service runs (process ${pid}): files that it is working on were left out`);
  const hints = hintsOf(wrong, pid !== undefined);
  for (const hint of hints) await context.say(hint);
}

const WIDEST = "rebuildable".length;

type FoundLoss = NonNullable<Finding["loss"]>;

/** How much is lost in all: `2 losses, 3.4 kB, and 1 possible loss`. */
function sumOf(losses: readonly FoundLoss[]): string {
  const certain = losses.filter(({ isPossible }) => !isPossible);
  const possible = losses.length - certain.length;
  const inWords = (n: number, one: string) => count(n, one).replace("losss", "losses");
  const parts = [
    ...(certain.length === 0 ? [] : [inWords(certain.length, "loss"), byteSize(bytesOf(certain))]),
    ...(possible === 0 ? [] : [`${certain.length === 0 ? "" : "and "}${inWords(possible, "possible loss")}`]),
  ];
  return parts.join(", ") || "no event is missing";
}

const bytesOf = (losses: readonly FoundLoss[]) => losses.reduce((sum, { bytes }) => sum + bytes, 0);

function lossWords(loss: FoundLoss): string[] {
  const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
  const range =
    loss.firstMs === undefined || loss.lastMs === undefined
      ? "time unknown"
      : `${time(loss.firstMs)} to ${time(loss.lastMs)}`;
  const events = loss.events === undefined ? "events" : count(loss.events, "event");
  const size = loss.bytes === 0 ? "size unknown" : byteSize(loss.bytes);
  return [`${events}, ${size}`, range, `loss ${loss.id}${loss.isAccepted ? ", accepted" : ""}`];
}

function lossJson({ id, bytes, events, firstMs, lastMs, isAccepted }: FoundLoss) {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return { id, bytes, events: events ?? null, first: time(firstMs), last: time(lastMs), accepted: isAccepted };
}

const withProblems = ({ length }: readonly unknown[]) =>
  `${count(length, "file")} ${length === 1 ? "has" : "have"} problems`;

function hintsOf(wrong: readonly Finding[], isRunning: boolean): string[] {
  const hints: string[] = [];
  const remedies = new Set(wrong.map(({ remedy }) => remedy));
  if (remedies.has("repair") && !isRunning)
    hints.push("--repair rebuilds manifests, summaries and filters, and quarantines damaged files");
  if (remedies.has("restore or accept")) {
    hints.push("restore a lost file from a backup to its path, and restart the service");
    hints.push("or --accept-loss <id>, if it cannot be restored: answers then stop reporting it");
  }
  if (remedies.has("put back events or records"))
    hints.push("put this service's events back, or the records of these events");
  if (remedies.has("put back newer records"))
    hints.push("the records may be older than the events: put newer ones back from a backup");
  if (remedies.has("write the row again"))
    hints.push("rows of the records: do what each line says, or restore a backup");
  if (remedies.has("put back the key"))
    hints.push("put secrets.key back from a backup, or set the secrets again by update_notification");
  return hints;
}
