import { renderProblem } from "../../grammar/problem.ts";
import { compilePredicate, parseQuery } from "../../grammar/query/index.ts";
import { parseDuration } from "../../grammar/units/duration.ts";
import { type Context, EXIT } from "../context.ts";
import { namesSavedQuery, parseWithSaved } from "../logs/saved-query.ts";
import { selectEntries } from "../logs/select-entries.ts";
import { chooseSource } from "../logs/sources.ts";

export interface LogsFlags {
  readonly follow: boolean;
  readonly since: string;
  readonly until: string;
  readonly expand: boolean;
  /** sade answers one path as text, several as an array. */
  readonly file: string | readonly string[];
}

/** `tool logs [query]`: the entries that the query selects, as text on a terminal, else as JSON lines. */
export async function logs(context: Context, words: string | undefined, flags: LogsFlags): Promise<number> {
  const { io } = context;
  const bounds: Partial<Record<"since" | "until", number>> = {};
  for (const name of ["since", "until"] as const) {
    if (flags[name] === "") continue;
    const bound = timeOf(flags[name], io.nowMs());
    if ("hint" in bound)
      return context.misuse(`--${name} ${JSON.stringify(flags[name])}: ${bound.message}`, bound.hint);
    bounds[name] = bound.timeMs;
  }

  const source = words ?? "";
  let saved: Readonly<Record<string, string>> = {};
  if (namesSavedQuery(source)) {
    // The checker of tool.json is larger than all the rest, and few queries need it.
    const { readConfigFile } = await import("../config-file.ts");
    const file = await readConfigFile(context);
    if (file.code !== undefined) return file.code;
    saved = file.config.logs?.queries ?? {};
  }
  const query = namesSavedQuery(source) ? parseWithSaved(source, saved) : parseQuery(source);
  if (!query.ok) {
    const { color, columns } = io.stderr;
    for (const problem of query.problems) await context.say(renderProblem(problem, { source, color, columns }));
    return EXIT.failed;
  }

  const files = flags.file === "" ? [] : [flags.file].flat();
  const chosen = await chooseSource(context, { files, follow: flags.follow, sinceMs: bounds.since });
  if ("message" in chosen) return context.misuse(chosen.message, chosen.hint);
  if (chosen.source.note !== undefined) await context.say(chosen.source.note);

  const stop = new AbortController();
  let isInterrupted = false;
  const release = io.onSignal(() => {
    // The second one finds the process stuck in something: it ends as if nobody listened.
    if (isInterrupted) io.exitNow(EXIT.interrupted);
    isInterrupted = true;
    stop.abort();
  });
  io.stdout.closed.addEventListener("abort", () => stop.abort(), { once: true });
  try {
    await selectEntries(chosen.source, {
      matches: query.value.expr === undefined ? undefined : compilePredicate(query.value, { nowMs: io.nowMs() }),
      untilMs: bounds.until,
      format: context.format ?? (io.stdout.isTerminal ? "text" : "json"),
      expand: flags.expand,
      nowMs: io.nowMs(),
      output: io.stdout,
      signal: stop.signal,
    });
  } finally {
    release();
  }
  return isInterrupted ? EXIT.interrupted : EXIT.ok;
}

/** A duration ago, or a moment as RFC 3339 writes it. */
function timeOf(text: string, nowMs: number): { timeMs: number } | { message: string; hint: string } {
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    const timeMs = Date.parse(text);
    return Number.isNaN(timeMs)
      ? { message: "no such time", hint: "write 2025-06-30 or 2025-06-30T12:00:00Z" }
      : { timeMs };
  }
  const duration = parseDuration(text);
  if (duration.ok) return { timeMs: nowMs - duration.value };
  const { message, hint = "write a duration like 15m, 1d12h or 1M" } = duration.problems[0]!;
  return { message, hint };
}
