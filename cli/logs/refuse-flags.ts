import { type Pipeline, readsOfPipeline } from "../../grammar/query/index.ts";
import type { Context } from "../context.ts";
import type { Options } from "../table.ts";

/** Ends the command if flags contradict each other: two logs, or an output that never comes. */
export function refuseConflicts(context: Context, options: Options<"logs">): void {
  const isOfFiles = options.file.length > 0;
  const isOfService = options.service !== undefined;
  if (isOfFiles && isOfService) {
    context.misuse("--file and --service name two logs", "leave one of them out");
  }
  if (options.sandbox && (isOfFiles || isOfService)) {
    context.misuse(`--sandbox and ${isOfFiles ? "--file" : "--service"} name two logs`, "leave one of them out");
  }
  if (options.cloud && (isOfFiles || isOfService)) {
    context.misuse(`--cloud and ${isOfFiles ? "--file" : "--service"} name two logs`, "leave one of them out");
  }
  const other = isOfFiles ? "--file" : options.sandbox ? "--sandbox" : options.cloud ? "--cloud" : undefined;
  if (options.project !== undefined && other !== undefined) {
    context.misuse(`--project names a project of a log service, and ${other} another log`, "leave one of them out");
  }
  const isUnlimited = (options.limit ?? Number.POSITIVE_INFINITY) === Number.POSITIVE_INFINITY;
  if (options.count && options.follow && isUnlimited) {
    context.misuse("--count with -f never ends", "leave out -f, or give a --limit");
  }
  if (options.live && !options.follow) context.misuse("--live needs -f", "write tool logs -f --live");
}

/** The flags of entries, and what to write instead after a query with stages. */
const FLAGS_OF_ENTRIES = {
  count: "leave it out, and end the query with | count",
  limit: "leave it out, and end the query with | limit 10",
  expand: "leave it out",
} as const;

/** Ends the command if a flag is of entries and the query gives rows, or the other way round. */
export function refuseForQuery(context: Context, options: Options<"logs">, pipeline: Pipeline): void {
  if (pipeline.pipes.length > 0) {
    const flag = (["count", "limit", "expand"] as const).find(
      (name) => options[name] !== undefined && options[name] !== false,
    );
    if (flag !== undefined) context.misuse(`--${flag} is of entries, and the query has stages`, FLAGS_OF_ENTRIES[flag]);
  }
  if (context.format === "csv" && readsOfPipeline(pipeline) === undefined)
    context.misuse(
      "--format csv is of rows, and the query gives entries",
      "choose columns, as in | fields timestamp, level, message, or write --format json",
    );
}
