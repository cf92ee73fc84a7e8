import { resolve } from "node:path";
import { didYouMean } from "../../grammar/did-you-mean.ts";
import { formatDuration } from "../../grammar/units/duration.ts";
import { visible } from "../../grammar/visible-text.ts";
import {
  type AlertPreview,
  AlertReplay,
  LATENESS_MS,
  plainGroup,
  type ReplayRange,
  RpcError,
} from "../../logservice/preview-entries.ts";
import { asConfig } from "../../schema/as-config.ts";
import type { LogAlert } from "../../schema/index.ts";
import { readLogsAsCode } from "../alerts/configured-alerts.ts";
import { allEntries, type EntryCounts, readEntries } from "../alerts/read-entries.ts";
import { alertInput } from "../alerts/records.ts";
import { allRecords } from "../alerts/stored-records.ts";
import { type Context, EXIT } from "../context.ts";
import { chooseSource } from "../logs/choose-source.ts";
import { readPeriod } from "../logs/read-period.ts";
import type { EntrySource } from "../logs/source.ts";
import { stopSignals } from "../logs/stop-signals.ts";
import { placeText, type ServiceAddress, serviceAddress } from "../service/service-address.ts";
import type { Options } from "../table.ts";
import { accountClient } from "../team/account-client.ts";
import { TeamError } from "../team/error.ts";

/**
 * `tool alerts test [name...]`: replays alerts of tool.json over a log (`--since`, `--file`, `--service`), and prints when each
 * would have been triggered and resolved. Without these it runs the tests beside the alerts: exit code 1 if one fails.
 */
export async function test(context: Context, options: Options<"alerts test">): Promise<number> {
  const { alerts } = await readLogsAsCode(context);
  const named = namedAlerts(context, alerts, options.name);
  const stop = stopSignals(context.io);
  try {
    const isReplay =
      options.since !== undefined ||
      options.until !== undefined ||
      options.file.length > 0 ||
      options.service !== undefined ||
      options.sandbox ||
      options.cloud;
    return isReplay ? await replay(context, named, options, stop.signal) : await runTests(context, named, stop.signal);
  } finally {
    stop.release();
  }
}

/** `tool alerts export`: prints what a project of a log service has as JSON that a tool.json may have, or include. */
export async function exportRecords(context: Context, options: Options<"alerts export">): Promise<number> {
  const { url, token, remedy, project } = await exportedPlace(context, options);
  const client = accountClient({ url, token, signIn: remedy, clock: context.io.clock });
  try {
    const records = await allRecords(client, project);
    const { logs, secrets, renamed } = asConfig(records);
    await context.print(JSON.stringify({ logs }, null, 2));
    for (const { kind, before, after } of renamed) {
      await context.say(`${kind} ${visible(before)} is named ${visible(after)} here`);
    }
    for (const { notification, name } of secrets) {
      await context.say(`${visible(notification)}: its secret is not exported: tool env add ${name} - -s _service`);
    }
    return EXIT.ok;
  } catch (error) {
    if (error instanceof TeamError) return context.fail(error.message, error.hint);
    throw error;
  }
}

/** The service of `--service`, else that of tool.json or of the sandbox, which is named on stderr. Ends the command without one. */
async function exportedPlace(context: Context, options: Options<"alerts export">): Promise<ServiceAddress> {
  if (options.service !== undefined) {
    const address = await serviceAddress(context, options.service, options.project ?? "");
    return address.ok ? address : context.misuse(address.problems[0].message, address.problems[0].hint);
  }
  const { configuredService } = await import("../logs/configured-service.ts");
  const configured = await configuredService(context, { query: { source: "", expr: undefined }, sandbox: false });
  if (configured.service === undefined) {
    if (configured.remark !== undefined) return context.fail(configured.remark);
    const hint = "name it: --service https://logs.example.com, or as logs.service in tool.json";
    return context.misuse("tool alerts export needs a log service", hint);
  }
  const { address } = configured.service;
  const place = { ...address, project: options.project ?? address.project };
  await context.say(`reading the ${placeText(place)}`);
  return place;
}

type Named = readonly (readonly [name: string, alert: LogAlert])[];

function namedAlerts(context: Context, alerts: ReadonlyMap<string, LogAlert>, names: readonly string[]): Named {
  if (alerts.size === 0) {
    const example =
      '"logs": { "alerts": { "errors": { "query": "status >= 500", "operator": ">", "notify": "ops" } } }';
    return context.misuse("tool.json has no alerts of the log service", `write ${example}`);
  }
  for (const name of names) {
    if (alerts.has(name)) continue;
    const near = didYouMean(name, [...alerts.keys()]);
    const hint =
      near === undefined ? `alerts are ${[...alerts.keys()].map(visible).join(", ")}` : `did you mean ${near}?`;
    return context.misuse(`there is no alert ${JSON.stringify(name)}`, hint);
  }
  return [...alerts].filter(([name]) => names.length === 0 || names.includes(name));
}

const replayOf = (context: Context, name: string, alert: LogAlert) =>
  new AlertReplay(alertInput(name, alert, NOBODY), context.io.nowMs());

/** A replay tells nobody. */
const NOBODY = { project: "", notificationId: "" };

async function replay(
  context: Context,
  alerts: Named,
  options: Options<"alerts test">,
  signal: AbortSignal,
): Promise<number> {
  const { sinceMs, untilMs } = readPeriod(context, options);
  const source = await sourceOf(context, { ...options, sinceMs, untilMs });
  if (source.note !== undefined) await context.say(source.note);
  const replays = alerts.map(([name, alert]) => ({ name, alert, of: replayOf(context, name, alert) }));
  const counts = await readEntries(context, source, { untilMs, signal }, (entry) => {
    for (const { of } of replays) of.add(entry);
  });
  if (signal.aborted) return EXIT.interrupted;
  if (options.file.length > 0) {
    const remark = await untimedRemark(context, options.file, counts, sinceMs !== undefined || untilMs !== undefined);
    if (remark !== undefined) await context.say(remark);
  }
  // A log has entries up to now, of which the last are still on their way; a file up to its last one.
  const nowMs = context.io.nowMs();
  const isFile = options.file.length > 0;
  const range: ReplayRange =
    source.sinceMs === undefined || isFile
      ? "entries"
      : { startMs: source.sinceMs, stopMs: Math.min(untilMs ?? nowMs, nowMs - LATENESS_MS) };
  const previews = [];
  for (const { name, alert, of } of replays) {
    previews.push({ name, alert, preview: await previewOf(context, { name, of }, range, signal) });
  }
  if (context.format === "json") {
    const documents = previews.map(({ name, preview }) => ({ name, ...previewDocument(preview) }));
    await context.print(JSON.stringify({ alerts: documents }, null, 2));
  } else for (const { name, alert, preview } of previews) await context.print(previewText(name, alert, preview));
  return EXIT.ok;
}

/**
 * Says that entries of files are in no interval, as they have no time. Ends the command if that is so of all of them: an alert
 * that stays silent would look tested. Within a period there may be others that are not in it.
 */
async function untimedRemark(
  context: Context,
  files: readonly string[],
  { timed, untimed }: EntryCounts,
  isPeriod: boolean,
): Promise<string | undefined> {
  const names = files.map((file) => JSON.stringify(file)).join(", ");
  if (timed === 0 && !isPeriod) {
    const hint = 'each has to have one: {"timestamp": "2026-01-15T12:00:00Z", "level": "error", "message": "failed"}';
    return context.misuse(
      untimed === 0 ? `there are no entries in ${names}` : `no entry in ${names} has a time`,
      untimed === 0 ? "name a file with entries of a log" : hint,
    );
  }
  if (untimed === 0) return undefined;
  return `${names}: ${untimed === 1 ? "1 entry has" : `${untimed} entries have`} no time, and ${untimed === 1 ? "is" : "are"} left out`;
}

async function sourceOf(
  context: Context,
  options: Options<"alerts test"> & {
    readonly sinceMs: number | undefined;
    readonly untilMs: number | undefined;
  },
): Promise<EntrySource> {
  const chosen = await chooseSource(context, {
    files: options.file,
    ...{ follow: false, live: false, sinceMs: options.sinceMs, untilMs: options.untilMs },
    ...{ query: allEntries(), limit: Number.POSITIVE_INFINITY },
    service: options.service ?? "",
    project: options.project ?? "",
    sandbox: options.sandbox,
    cloud: options.cloud,
  });
  if (!chosen.ok) return context.misuse(chosen.problems[0].message, chosen.problems[0].hint);
  // An alert that stays silent over a log without entries would look tested.
  if (chosen.source.isAbsent === true) {
    // It may say why the service was not asked.
    if (chosen.source.note !== undefined) await context.say(chosen.source.note);
    const hint =
      "name another one by --sandbox, --cloud, --service URL or --file; tool start writes that of development";
    return context.misuse("there is no log to replay", hint);
  }
  return chosen.source;
}

interface Replay {
  readonly name: string;
  readonly of: AlertReplay;
}

async function previewOf(
  context: Context,
  { name, of }: Replay,
  range: ReplayRange,
  signal: AbortSignal,
): Promise<AlertPreview> {
  try {
    return await of.preview(range, signal);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const hint = "give a shorter time by --since and --until, or the alert a longer interval";
    return context.fail(`cannot replay ${JSON.stringify(name)}: it has too many intervals in this time`, hint);
  }
}

/** As preview_alert answers it. */
function previewDocument({ episodes, intervals, missingBytes }: AlertPreview) {
  return {
    episodes: episodes.map(({ group, value, triggeredAt, resolvedAt }) => {
      return { group: plainGroup(group), value, triggered_at: triggeredAt, resolved_at: resolvedAt };
    }),
    ...{ intervals, missing_bytes: missingBytes },
  };
}

function previewText(name: string, { interval = "5m" }: LogAlert, { episodes, intervals }: AlertPreview): string {
  const times = count(episodes.length, "time");
  const head = `${visible(name)}: triggered ${times} in ${count(intervals, "interval")} of ${interval}`;
  const lines = episodes.map(({ group, value, triggeredAt, resolvedAt }) => {
    const where = group.map((one) => ` ${one.name}=${JSON.stringify(one.value)}`).join("");
    const lasted = resolvedAt === null ? "" : formatDuration(Date.parse(resolvedAt) - Date.parse(triggeredAt));
    const end = resolvedAt === null ? "not resolved" : `resolved ${seconds(resolvedAt)} (${lasted})`;
    return `  triggered ${seconds(triggeredAt)}, ${end}, by ${value}${visible(where)}`;
  });
  return [head, ...lines].join("\n");
}

/** Intervals end at whole minutes. */
const seconds = (time: string) => time.replace(".000Z", "Z");

const count = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? "" : "s"}`;

interface TestOutcome {
  readonly alert: string;
  readonly file: string;
  readonly expected: number;
  readonly preview: AlertPreview;
}

async function runTests(context: Context, alerts: Named, signal: AbortSignal): Promise<number> {
  const outcomes: TestOutcome[] = [];
  const remarks = new Set<string>();
  for (const [name, alert] of alerts) {
    for (const { file, triggers } of alert.tests ?? []) {
      const of = replayOf(context, name, alert);
      const path = resolve(context.directory, file);
      const source = await sourceOf(context, { ...NO_OPTIONS, file: [path], sinceMs: undefined, untilMs: undefined });
      const counts = await readEntries(context, source, { untilMs: undefined, signal }, (entry) => of.add(entry));
      if (signal.aborted) return EXIT.interrupted;
      const remark = await untimedRemark(context, [file], counts, false);
      // Several alerts may be tested on one file.
      if (remark !== undefined && !remarks.has(remark)) await context.say(remark);
      if (remark !== undefined) remarks.add(remark);
      const preview = await previewOf(context, { name, of }, "entries", signal);
      outcomes.push({ alert: name, file, expected: triggers, preview });
    }
  }
  if (outcomes.length === 0) {
    const hint =
      'give an alert "tests": [{ "file": "spike.ndjson", "triggers": 1 }], or replay all of them: tool alerts test --since 7d';
    return context.misuse("no alert has tests", hint);
  }
  const passes = ({ expected, preview }: TestOutcome) => preview.episodes.length === expected;
  if (context.format === "json") {
    const tests = outcomes.map((outcome) => ({
      ...{ alert: outcome.alert, file: outcome.file, passed: passes(outcome) },
      ...{ triggers: outcome.preview.episodes.length, expected: outcome.expected },
      ...previewDocument(outcome.preview),
    }));
    await context.print(JSON.stringify({ tests }, null, 2));
  } else {
    for (const outcome of outcomes) await context.print(testText(outcome, passes(outcome), alerts));
  }
  return outcomes.every(passes) ? EXIT.ok : EXIT.failed;
}

const NO_OPTIONS = {
  name: [],
  file: [],
  since: undefined,
  until: undefined,
  service: undefined,
  project: undefined,
  sandbox: false,
  cloud: false,
};

function testText({ alert, file, expected, preview }: TestOutcome, isPassed: boolean, alerts: Named): string {
  const place = `${visible(alert)} on ${visible(file)}`;
  const triggers = preview.episodes.length;
  if (isPassed) return `ok: ${place}: triggered ${count(triggers, "time")}`;
  const settings = alerts.find(([name]) => name === alert)![1];
  const details = previewText(alert, settings, preview);
  return `failed: ${place}: triggered ${count(triggers, "time")}, not ${expected}\n${details.replace(/^/gm, "  ")}`;
}
