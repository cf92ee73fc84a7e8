import { type Parsed, renderProblem } from "../../grammar/problem.ts";
import { type Pipeline, parsePipeline, withoutComments } from "../../grammar/query/index.ts";
import { type Context, EXIT } from "../context.ts";
import { namesInside, namesSavedQuery, notFirst, parseWithSaved, savedNames } from "./saved-query.ts";

/** Reads the query of the command, with the saved ones that it names. If it has problems, prints them and ends the command. */
export async function readLogsQuery(context: Context, written: string): Promise<Pipeline> {
  // As in query files, which are passed whole.
  const source = withoutComments(written);
  const parsed = namesSavedQuery(source) ? await parseSaved(context, source) : await parseTyped(context, source);
  if (parsed.ok) return parsed.value;
  const { color, columns } = context.io.stderr;
  for (const problem of parsed.problems) await context.say(renderProblem(problem, { source, color, columns }));
  return context.exit(EXIT.failed);
}

/** Parses a query that begins with saved ones. */
async function parseSaved(context: Context, source: string): Promise<Parsed<Pipeline>> {
  // The checker of tool.json is larger than the rest of this command, and few queries need it.
  const { readSavedQueries } = await import("../config-file.ts");
  return parseWithSaved(source, await readSavedQueries(context, savedNames(source)));
}

/** Parses a query without saved ones. A term that is meant as one is a problem. */
async function parseTyped(context: Context, source: string): Promise<Parsed<Pipeline>> {
  const parsed = parsePipeline(source);
  const inside = parsed.ok ? namesInside(parsed.value) : [];
  if (!parsed.ok || inside.length === 0) return parsed;
  const { savedQueriesIn } = await import("../config-file.ts");
  // With stages a field that is asked for by itself is hardly meant; without, it may be.
  const saved = parsed.value.pipes.length > 0 ? undefined : await savedQueriesIn(context);
  const misplaced = inside.filter(({ name }) => saved === undefined || Object.hasOwn(saved, name));
  if (misplaced.length === 0) return parsed;
  return { ok: false, problems: misplaced.map((term) => notFirst(term, source)) };
}
