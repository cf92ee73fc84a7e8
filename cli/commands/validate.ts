import { realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { describe, type Fix, LineIndex, type Problem } from "../../grammar/problem.ts";
import { type CheckOptions, checkConfig, fixAll, migrate } from "../../schema/index.ts";
import type { Format } from "../argv.ts";
import { CONFIG_FILE, decodeText, readTextFile, SMALLEST, sayProblems } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import type { CheckedFile } from "../output/checked-file.ts";
import { renderGithub } from "../output/github.ts";
import { toSarif } from "../output/sarif.ts";
import { diskDirectory } from "../project/directory.ts";
import { version } from "../version.ts";

export interface ValidateFlags {
  /** The files behind the first one. */
  readonly _: readonly string[];
  readonly fix: boolean;
  readonly strict: boolean;
}

/**
 * `tool validate [file...]`: everything that is wrong, for people on stderr, for programs on stdout: one JSON document,
 * one SARIF log, or the commands of a GitHub workflow.
 */
export async function validate(context: Context, first: string | undefined, flags: ValidateFlags): Promise<number> {
  const names = first === undefined ? [CONFIG_FILE] : [first, ...flags._];
  if (names.filter((name) => name === "-").length > 1) return context.misuse("stdin can be read once", "write - once");
  const document = DOCUMENTS[context.format ?? "text"];
  if (flags.fix && names.includes("-") && document !== undefined) {
    return context.misuse(`--fix writes the text of stdin to stdout, where the ${document} would stand`);
  }

  // All are read before anything is said or written: a missing one is a slip in the words.
  const inputs: { name: string; text: string }[] = [];
  for (const name of names) {
    const file =
      name === "-" ? decodeText(await readStdin(context)) : await readTextFile(resolve(context.directory, name));
    if (file.text === undefined) {
      const hint = file.isAbsent && first === undefined ? `the smallest one: ${SMALLEST}` : undefined;
      return context.misuse(`cannot read ${shownName(name)}: ${file.reason}`, hint);
    }
    inputs.push({ name, text: file.text });
  }

  const reports: Report[] = [];
  for (const input of inputs) reports.push(await check(context, input, flags.fix));
  await writeReports(context, reports, flags);
  const fails = ({ severity }: Problem) => severity === "error" || flags.strict;
  return reports.some(({ problems }) => problems.some(fails)) ? EXIT.failed : EXIT.ok;
}

interface Report extends CheckedFile {
  /** As it was written on the command line. */
  readonly name: string;
}

/** What a format puts on stdout. */
const DOCUMENTS: Readonly<Record<Format, string | undefined>> = {
  text: undefined,
  json: "JSON document",
  github: "workflow commands",
  sarif: "SARIF log",
};

async function writeReports(context: Context, reports: readonly Report[], { fix }: ValidateFlags): Promise<void> {
  // Both count paths from the top of the repository, and a step may run in a folder of it.
  const base = context.io.env.GITHUB_WORKSPACE || context.io.cwd;
  switch (context.format) {
    case "json": {
      const documents = reports.map(toJson);
      return context.print(JSON.stringify(documents.length === 1 ? documents[0] : { files: documents }, null, 2));
    }
    case "sarif":
      return context.print(JSON.stringify(toSarif(reports, { version, base }), null, 2));
    case "github": {
      const commands = renderGithub(reports, base);
      return commands === "" ? undefined : context.print(commands);
    }
    default:
      for (const report of reports) await sayReport(context, report, { quiet: fix && report.name === "-" });
  }
}

async function check(context: Context, input: { name: string; text: string }, fix: boolean): Promise<Report> {
  const { name } = input;
  const path = resolve(context.directory, name);
  let { text } = input;
  // Other names (fixtures, drafts) do not stand in the project's folder.
  const options: CheckOptions = basename(name) === CONFIG_FILE ? { directory: diskDirectory(dirname(path)) } : {};
  if (fix) {
    const migrated = migrate(text);
    const fixed = fixAll(migrated.text, options);
    if (name === "-") await context.io.stdout.write(fixed.text);
    else if (fixed.text !== text) {
      await replaceFile(path, fixed.text);
      await context.say(`${shownName(name)} rewritten`);
    } else await context.say(`${shownName(name)}: nothing to rewrite`);
    for (const note of [...migrated.notes, ...fixed.notes]) await context.say(`  ${note}`);
    text = fixed.text;
  }
  return { name, path: name === "-" ? undefined : path, text, problems: checkConfig(text, options).problems };
}

async function sayReport(context: Context, { name, text, problems }: Report, { quiet }: { quiet: boolean }) {
  const file = shownName(name);
  if (problems.length === 0) {
    if (quiet) await context.say(`${file} is valid`);
    else await context.print(`${file} is valid`);
    return;
  }
  await sayProblems(context, problems, { file, text });
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const counts = [count(errors, "error"), count(problems.length - errors, "warning")].filter((part) => part !== "");
  await context.say(`${counts.join(", ")} in ${file}`);
}

/** Lines and columns from 1, offsets and lengths in UTF-16 units, as editors count. */
function toJson({ name, text, problems }: Report) {
  const lines = new LineIndex(text);
  return {
    file: name,
    problems: problems.map((problem) => {
      const { start, end } = problem.span;
      const { line, column } = lines.position(start);
      const stop = lines.position(end);
      return {
        code: problem.code,
        severity: problem.severity,
        message: describe(problem),
        line,
        column,
        endLine: stop.line,
        endColumn: stop.column,
        offset: start,
        length: end - start,
        ...(problem.fix !== undefined && { fix: fixToJson(problem.fix) }),
        ...(problem.alternatives !== undefined && { alternatives: problem.alternatives.map(fixToJson) }),
      };
    }),
  };
}

const fixToJson = ({ title, edits, isSuggestion }: Fix) => ({
  title,
  // `--fix` leaves it alone: only people can say whether it is right.
  ...(isSuggestion && { suggestion: true }),
  edits: edits.map(({ span, text }) => ({ offset: span.start, length: span.end - span.start, text })),
});

/** Written beside and renamed: a reader sees the old file or the new one. The mode stays, and so does a link to it. */
async function replaceFile(name: string, text: string): Promise<void> {
  const path = await realpath(name);
  const beside = `${path}.${process.pid}.tmp`;
  const { mode } = await stat(path);
  try {
    await writeFile(beside, text, { mode, flag: "wx" });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw new Error(`cannot write ${path}`, { cause: error });
  }
}

async function readStdin({ io }: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const shownName = (name: string) => (name === "-" ? "stdin" : name);

function count(amount: number, noun: string): string {
  return amount === 0 ? "" : `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
