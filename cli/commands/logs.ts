import { renderProblem } from "../../grammar/problem.ts";
import {
  completedMoment,
  fieldsNamed,
  parseMoment,
  parsePipeline,
  readFields,
  readsOfPipeline,
  withLeading,
} from "../../grammar/query/index.ts";
import { parseDuration } from "../../grammar/units/duration.ts";
import { type Context, EXIT } from "../context.ts";
import { chooseSource } from "../logs/choose-source.ts";
import { printAggregated } from "../logs/print-aggregated.ts";
import { progress } from "../logs/progress.ts";
import { namesInside, namesSavedQuery, notFirst, parseWithSaved, savedNames } from "../logs/saved-query.ts";
import { selectEntries } from "../logs/select-entries.ts";
import { nothingAmong, Survey } from "../logs/survey.ts";
import type { Options } from "../table.ts";

/** The number of past entries shown before a log is followed, as `tail -f` does; `--since` shows more. */
const PAST_ENTRIES = 10;

const STAGE_FOR = {
  count: "leave it out, and end the query with | count",
  limit: "leave it out, and end the query with | limit 10",
  expand: "leave it out",
} as const;

/** `tool logs [query]`: prints the entries that the query selects, as text on a terminal, else as JSON lines. */
export async function logs(context: Context, options: Options<"logs">): Promise<number> {
  const { io } = context;
  const bounds: Partial<Record<"since" | "until", number>> = {};
  for (const name of ["since", "until"] as const) {
    const written = options[name];
    if (written === undefined) continue;
    bounds[name] = timeOf(written, io.nowMs(), (message, hint) =>
      context.misuse(`--${name} ${JSON.stringify(written)}: ${message}`, hint),
    );
  }

  if (bounds.since !== undefined && bounds.until !== undefined && bounds.since >= bounds.until) {
    const said = `--since ${JSON.stringify(options.since)} is not before --until ${JSON.stringify(options.until)}`;
    const isSame = bounds.since === bounds.until;
    return context.misuse(
      said,
      isSame ? "give a later --until" : `write --since ${options.until} --until ${options.since}`,
    );
  }
  if (options.file.length > 0 && options.service !== undefined) {
    return context.misuse("--file and --service name two logs", "leave one of them out");
  }
  if (options.sandbox && (options.file.length > 0 || options.service !== undefined)) {
    return context.misuse(
      `--sandbox and ${options.file.length > 0 ? "--file" : "--service"} name two logs`,
      "leave one of them out",
    );
  }
  if (options.project !== undefined && options.service === undefined) {
    return context.misuse("--project names a project of a log service", "give --service, too");
  }
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  if (options.count && options.follow && limit === Number.POSITIVE_INFINITY) {
    return context.misuse("--count with -f never ends", "leave out -f, or give a --limit");
  }

  if (options.live && !options.follow) return context.misuse("--live needs -f", "write tool logs -f --live");

  const source = options.query ?? "";
  let saved: Readonly<Record<string, string>> = {};
  if (namesSavedQuery(source)) {
    // The checker of tool.json is larger than the rest of this command, and few queries need it.
    const { readSavedQueries } = await import("../config-file.ts");
    saved = await readSavedQueries(context, savedNames(source));
  }
  let parsed = namesSavedQuery(source) ? parseWithSaved(source, saved) : parsePipeline(source);
  const inside = parsed.ok ? namesInside(parsed.value) : [];
  if (parsed.ok && inside.length > 0 && !namesSavedQuery(source)) {
    const { savedQueriesIn } = await import("../config-file.ts");
    // With stages a field that is asked for by itself is hardly meant; without, it may be.
    const known = parsed.value.pipes.length > 0 ? undefined : await savedQueriesIn(context);
    const misplaced = inside.filter(({ name }) => known === undefined || Object.hasOwn(known, name));
    if (misplaced.length > 0) parsed = { ok: false, problems: misplaced.map((term) => notFirst(term, source)) };
  }
  if (!parsed.ok) {
    const { color, columns } = io.stderr;
    for (const problem of parsed.problems) await context.say(renderProblem(problem, { source, color, columns }));
    return EXIT.failed;
  }
  if (parsed.value.pipes.length > 0) {
    const flag = (["count", "limit", "expand"] as const).find(
      (name) => options[name] !== undefined && options[name] !== false,
    );
    if (flag !== undefined) return context.misuse(`--${flag} is of entries, and the query has stages`, STAGE_FOR[flag]);
  }
  const pipeline = withLeading(parsed.value);
  const { query, pipes } = pipeline;

  if (context.format === "csv" && readsOfPipeline(parsed.value) === undefined)
    return context.misuse(
      "--format csv is of rows, and the query gives entries",
      "choose columns, as in | fields timestamp, level, message, or write --format json",
    );

  const chosen = await chooseSource(context, {
    files: options.file,
    follow: options.follow,
    live: options.live,
    sinceMs: bounds.since,
    untilMs: bounds.until,
    query,
    limit,
    service: options.service ?? "",
    project: options.project ?? "",
    sandbox: options.sandbox,
  });
  if (!chosen.ok) return context.misuse(chosen.problems[0].message, chosen.problems[0].hint);
  if (chosen.source.note !== undefined) await context.say(chosen.source.note);

  const stop = new AbortController();
  let isInterrupted = false;
  const release = io.onSignal(() => {
    // A second signal means that the process is stuck: it ends at once.
    if (isInterrupted) io.exitNow(EXIT.interrupted);
    isInterrupted = true;
    stop.abort();
  });
  io.stdout.closed.addEventListener("abort", () => stop.abort(), { once: true });
  // If an editor crashes and no entry comes, no write would fail and show it.
  io.onParentGone(() => stop.abort());
  const nowMs = io.nowMs();
  const format = context.format ?? (io.stdout.isTerminal ? "text" : "json");
  let code: number = EXIT.ok;
  const wanted = { query, nowMs, sinceMs: chosen.source.sinceMs, untilMs: bounds.until };
  // If stderr is a terminal, it says why nothing was found, also if the entries go to a pipe or are only counted.
  const explains = io.stderr.isTerminal && !options.follow;
  const { evidence: known } = chosen.source;
  const survey = explains && known === "entries" ? new Survey(wanted, fieldsNamed(pipeline)) : undefined;
  const onError = async (error: { readonly message: string; readonly hint?: string | undefined }) => {
    await context.error(error.message, error.hint);
    code = EXIT.failed;
  };
  const untilEnd = options.follow ? undefined : chosen.source.totalBytes;
  const shownProgress = progress(io.stderr, untilEnd, io.clock.monotonicMs);
  try {
    if (pipes.length > 0) {
      await printAggregated(context, {
        source: chosen.source,
        isFollowed: options.follow,
        format,
        aggregation: {
          wanted,
          pipeline,
          survey,
          range: { fromMs: bounds.since, toMs: bounds.until === undefined ? undefined : bounds.until - 1 },
          progress: shownProgress,
          signal: stop.signal,
          clock: io.clock,
          onError,
        },
      });
      return isInterrupted ? EXIT.interrupted : code;
    }
    const count = await selectEntries(chosen.source, {
      wanted,
      lineOptions: { format, color: io.stdout.color, expand: options.expand, nowMs, countOnly: options.count },
      limit,
      pastLimit: options.since === undefined && !options.count ? PAST_ENTRIES : undefined,
      output: io.stdout,
      progress: shownProgress,
      signal: stop.signal,
      survey,
      onError,
    });
    // A partial count would be taken for the whole one.
    if (options.count && !isInterrupted)
      await context.print(context.format === "json" ? JSON.stringify({ count }) : `${count}`);
    if (explains && count === 0 && !isInterrupted && code === EXIT.ok) {
      const said: string[] = [];
      if (survey !== undefined) said.push(survey.explain(chosen.source.totalBytes));
      else {
        const hasFields = typeof known === "function" && readFields(query).length > 0;
        const names = hasFields ? await known(stop.signal) : [];
        said.push(nothingAmong(query, names, wanted));
      }
      if (chosen.source.unread !== undefined) said.push(chosen.source.unread);
      await context.say(said.join("; "));
    } else if (explains && survey !== undefined && !isInterrupted && code === EXIT.ok) {
      const said = survey.explainWords();
      if (said !== undefined) await context.say(said);
    }
  } finally {
    release();
  }
  return isInterrupted ? EXIT.interrupted : code;
}

/** The time that a flag names: a duration ago, or a time as queries write it. */
function timeOf(text: string, nowMs: number, refuse: (message: string, hint: string) => never): number {
  if (/^\d{4}-/.test(text)) {
    const timeMs = parseMoment(text);
    if (timeMs !== undefined) return timeMs;
    const completed = completedMoment(text);
    return completed === undefined
      ? refuse("no such time", "write 2025-06-30 or 2025-06-30T12:00:00Z")
      : refuse("a time without a zone", `write ${completed}, or the offset in place of the Z`);
  }
  const duration = parseDuration(text);
  if (duration.ok) return nowMs - duration.value;
  const { message, hint = "write a duration like 15m, 1d12h or 1M" } = duration.problems[0]!;
  return refuse(message, hint);
}
