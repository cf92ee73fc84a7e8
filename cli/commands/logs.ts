import { lastInstantBefore, parseQuery, printQuery, type Query, withLeading } from "../../grammar/query/index.ts";
import { type Context, EXIT } from "../context.ts";
import { chooseSource } from "../logs/choose-source.ts";
import { explainSelection } from "../logs/explain-selection.ts";
import { printAggregated } from "../logs/print-aggregated.ts";
import { progress } from "../logs/progress.ts";
import { readPeriod } from "../logs/read-period.ts";
import { readLogsQuery } from "../logs/read-query.ts";
import { refuseConflicts, refuseForQuery } from "../logs/refuse-flags.ts";
import { selectEntries } from "../logs/select-entries.ts";
import { stopSignals } from "../logs/stop-signals.ts";
import { Survey } from "../logs/survey.ts";
import type { Options } from "../table.ts";

/** The number of past entries shown before a log is followed, as `tail -f` does; `--since` shows more. */
const PAST_ENTRIES = 10;

/** `tool logs [query]`: prints the entries that the query selects, as text on a terminal, else as JSON lines. */
export async function logs(context: Context, options: Options<"logs">): Promise<number> {
  const { io } = context;
  const { sinceMs, untilMs } = readPeriod(context, options);
  refuseConflicts(context, options);
  const written = await readLogsQuery(context, options.query ?? "");
  refuseForQuery(context, options, written);
  const pipeline = withLeading(written);
  const { pipes } = pipeline;
  const query = written.pipes.length === 0 ? pipeline.query : byItself(pipeline.query);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;

  const chosen = await chooseSource(context, {
    files: options.file,
    follow: options.follow,
    live: options.live,
    ...{ sinceMs, untilMs, query, limit },
    service: options.service ?? "",
    project: options.project ?? "",
    sandbox: options.sandbox,
    cloud: options.cloud,
  });
  if (!chosen.ok) return context.misuse(chosen.problems[0].message, chosen.problems[0].hint);
  const { source } = chosen;
  if (source.note !== undefined) await context.say(source.note);

  const stop = stopSignals(io);
  const nowMs = io.nowMs();
  const format = context.format ?? (io.stdout.isTerminal ? "text" : "json");
  const wanted = { query, nowMs, sinceMs: source.sinceMs, untilMs };
  // If stderr is a terminal, it says why nothing was found, also if the entries go to a pipe or are only counted.
  const explains = io.stderr.isTerminal && !options.follow;
  const survey = explains && source.evidence === "entries" ? new Survey(wanted, pipeline) : undefined;
  const untilEnd = options.follow ? undefined : source.totalBytes;
  let code: number = EXIT.ok;
  const reading = {
    ...{ wanted, survey, signal: stop.signal },
    progress: progress(io.stderr, { totalBytes: untilEnd, requests: source.requests }, io.clock.monotonicMs),
    async onError(error: { readonly message: string; readonly hint?: string | undefined }) {
      await context.error(error.message, error.hint);
      code = EXIT.failed;
    },
  };
  try {
    if (pipes.length > 0) {
      const range = { fromMs: sinceMs, toMs: untilMs === undefined ? undefined : lastInstantBefore(untilMs) };
      const aggregation = { ...reading, pipeline, range, clock: io.clock };
      await printAggregated(context, { source, isFollowed: options.follow, format, aggregation, explains });
    } else {
      const count = await selectEntries(source, {
        ...reading,
        lineOptions: { format, color: io.stdout.color, expand: options.expand, nowMs, countOnly: options.count },
        limit,
        pastLimit: options.since === undefined && !options.count ? PAST_ENTRIES : undefined,
        output: io.stdout,
      });
      // A partial count would be taken for the whole one.
      if (options.count && !stop.isInterrupted)
        await context.print(context.format === "json" ? JSON.stringify({ count }) : `${count}`);
      if (explains && !stop.isInterrupted && code === EXIT.ok) {
        const explanation = await explainSelection({ source, wanted, survey, signal: stop.signal, count });
        reading.progress.erase();
        // It may be of what was read until then.
        if (explanation !== undefined && !stop.isInterrupted) await context.say(explanation);
      }
    }
  } finally {
    stop.release();
  }
  return stop.isInterrupted ? EXIT.interrupted : code;
}

/** The same with a text of its own, which has no stages: what may have been meant is said by changing it. */
function byItself(query: Query): Query {
  const parsed = parseQuery(printQuery(query));
  return parsed.ok ? parsed.value : query;
}
