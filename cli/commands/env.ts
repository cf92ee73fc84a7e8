import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { didYouMean } from "../../grammar/did-you-mean.ts";
import type { Config } from "../../schema/index.ts";
import { readConfigForVariables } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { namesProblem, readAssignments, valueProblem } from "../env/assignments.ts";
import { readEnvFile } from "../env/env-file.ts";
import { readSecret } from "../env/read-secret.ts";
import { shellAssignment } from "../env/shell-assignment.ts";
import { stagesOf } from "../hooks/hooks.ts";
import { interruptible } from "../interruption.ts";
import { openVariables } from "../open-platform.ts";
import { openSandbox, placed } from "../open-sandbox.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { shortList } from "../output/short-list.ts";
import { variablesTable } from "../output/variables-table.ts";
import type { Watched } from "../platform/progress.ts";
import { ALL_STAGES, type StoredVariable, type Values, type Variables } from "../platform/variables.ts";
import { resolveProject } from "../project/resolve-config.ts";
import { explainStageOf } from "../project/stage-word.ts";
import { readStdin } from "../read-stdin.ts";
import type { Options } from "../table.ts";

/** `tool env add`, `tool env set`: sets variables of a stage, or of all stages. */
export async function add(context: Context, options: Options<"env add">): Promise<number> {
  const { stage } = options;
  const project = await openProject(context, options, { changes: true });
  refuseOtherStage(context, stage, project.config);
  const values = await givenValues(context, options);
  const names = Object.keys(values);
  if (options.desc !== undefined && names.length > 1) {
    return context.misuse("--desc describes one variable, and these are several", "add that one by itself");
  }
  if ((options.desc?.length ?? 0) > MAX_DESCRIPTION) {
    return context.misuse(`the description is longer than ${MAX_DESCRIPTION} characters`, "shorten it");
  }
  const done: string[] = [];
  const interrupted = () => `interrupted: ${howFar(done, names, stage)}`;
  return project.run({ interrupted }, async ({ variables, watched }) => {
    const progress = countedPhase(watched, names.length);
    const onSet = (name: string) => {
      done.push(name);
      progress.step(done.length);
    };
    const request = { stage, values, isEncrypted: !options.clear, description: options.desc, onSet };
    const result = await variables.set(request, watched).catch(async (error: unknown) => {
      if (done.length > 0 && done.length < names.length) await context.say(howFar(done, names, stage));
      throw error;
    });
    progress.end();
    const affected = await stagesAffected(variables, { stage, names }, watched);
    if (context.format === "json") {
      const { added, changed } = result;
      const document = { stage, added, changed, encrypted: !options.clear, redeploy: affected.stages ?? null };
      await context.print(JSON.stringify(document, null, 2));
      return EXIT.ok;
    }
    for (const [verb, some] of [
      ["added", result.added],
      ["changed", result.changed],
    ] as const) {
      if (some.length > 0) await context.print(`${verb} ${inStage(stage)}: ${shortList(some)}`);
    }
    await sayAffected(context, stage, affected);
    return EXIT.ok;
  });
}

/** `tool env get`: prints the value and nothing else; a terminal gets a line end after it. */
export async function get(context: Context, { stage, variable, sandbox }: Options<"env get">): Promise<number> {
  const project = await openProject(context, { sandbox });
  refuseOtherStage(context, stage, project.config);
  const wrong = namesProblem([variable]);
  if (wrong !== undefined) return context.misuse(wrong.message, wrong.hint);
  return project.run({}, async ({ variables, watched }) => {
    const value = await variables.readOne(stage, variable, watched);
    if (value === undefined) {
      const where = stage === ALL_STAGES ? "for all stages" : `in ${stage}, nor for all stages`;
      return context.fail(`there is no variable ${variable} ${where}`, await nearest(variables, [variable], watched));
    }
    if (context.format === "json") await context.print(JSON.stringify({ stage, name: variable, value }, null, 2));
    else await context.io.stdout.write(context.io.stdout.isTerminal ? `${value}\n` : value);
    return EXIT.ok;
  });
}

/** `tool env ls`: lists the variables of all stages, or what one stage has. */
export async function ls(context: Context, { stage, sandbox }: Options<"env ls">): Promise<number> {
  const project = await openProject(context, { sandbox });
  return project.run({}, async ({ variables, watched }) => {
    const [all, deployed] = await Promise.all([
      variables.list(watched),
      variables.deployedStages(watched).catch(() => []),
    ]);
    const isKnown = stage === undefined || all.some((one) => one.stage === stage);
    if (!isKnown) refuseOtherStage(context, stage, project.config);
    const shown = stage === undefined ? all : ofStage(all, stage);
    const redeploy = deployed
      .filter(({ publishedAt, stage }) => ofStage(all, stage).some(({ changedAt }) => changedAt > publishedAt))
      .map(({ stage }) => stage);
    if (context.format === "json") {
      const rows = shown.map(({ isEncrypted, value, description, changedBy, ...row }) => ({
        ...row,
        encrypted: isEncrypted,
        value: value ?? null,
        description: description ?? null,
        changedBy: changedBy ?? null,
      }));
      await context.print(JSON.stringify({ variables: rows, redeploy }, null, 2));
    } else if (shown.length === 0) {
      await context.say(`${project.config.name} has no variables${stage === undefined ? "" : ` ${inStage(stage)}`}`);
      await context.say("  tool env add NAME VALUE sets one for all stages");
    } else {
      await context.print(variablesTable(shown, context.io.stdout));
      for (const one of redeploy) {
        if (stage !== undefined && stage !== one) continue;
        await context.say(`${one} was deployed before some of them changed: tool deploy ${one}`);
      }
    }
    return EXIT.ok;
  });
}

/** `tool env rm`: removes variables of a stage, or of all stages. Removes none if one of them does not exist. */
export async function rm(context: Context, options: Options<"env rm">): Promise<number> {
  const { stage, variable, more, sandbox } = options;
  const names = [...new Set([variable, ...more])];
  const project = await openProject(context, { sandbox }, { changes: true });
  const wrong = namesProblem(names);
  if (wrong !== undefined) return context.misuse(wrong.message, wrong.hint);
  return project.run({}, async ({ variables, watched }) => {
    const known = await variables.names(watched);
    const own = known.filter((one) => one.stage === stage).map(({ name }) => name);
    if (own.length === 0) refuseOtherStage(context, stage, project.config);
    const unknown = names.filter((name) => !own.includes(name));
    if (unknown.length > 0) {
      const which = unknown.length === 1 ? `variable ${unknown[0]}` : `variables ${shortList(unknown)}`;
      const hint = await nearest(variables, unknown, watched, { verb: "rm", known });
      return context.fail(`there ${unknown.length === 1 ? "is" : "are"} no ${which} ${inStage(stage)}`, hint);
    }
    const removed = await variables.remove({ stage, names }, watched);
    const affected = await stagesAffected(variables, { stage, names }, watched);
    if (context.format === "json") {
      await context.print(JSON.stringify({ stage, removed, redeploy: affected.stages ?? null }, null, 2));
      return EXIT.ok;
    }
    await context.print(`removed ${stage === ALL_STAGES ? "for all stages" : `from ${stage}`}: ${shortList(removed)}`);
    await sayAffected(context, stage, affected);
    return EXIT.ok;
  });
}

/** `tool env export`: prints assignments that a shell evaluates. */
export async function exportAll(context: Context, { stage, sandbox }: Options<"env export">): Promise<number> {
  const project = await openProject(context, { sandbox });
  refuseOtherStage(context, stage, project.config);
  return project.run({}, async ({ variables, watched }) => {
    const values = await variables.read(stage, watched);
    const names = Object.keys(values).sort();
    if (context.format === "json") {
      await context.print(JSON.stringify(Object.fromEntries(names.map((name) => [name, values[name]])), null, 2));
    } else {
      for (const name of names) await context.io.stdout.write(`${shellAssignment(name, values[name]!)}\n`);
      if (names.length === 0) await context.say(`there are no variables ${inStage(stage)}`);
    }
    return EXIT.ok;
  });
}

/** The store's limit for a description. */
const MAX_DESCRIPTION = 1024;

/** The values that the words, stdin, the terminal or a file give. */
async function givenValues(context: Context, { variable: words, file }: Options<"env add">): Promise<Values> {
  if (file !== undefined) {
    if (words.length > 0) {
      return context.misuse(
        "there are variables beside --file",
        "set those of the file and the others one after another",
      );
    }
    return valuesOfFile(context, file);
  }
  if (words.length === 0) {
    return context.misuse("tool env add needs a variable", "write NAME VALUE, NAME=VALUE, NAME -, or --file .env");
  }
  const read = readAssignments(words);
  if (!read.ok) return context.misuse(read.message, read.hint);
  const values: Record<string, string> = {};
  for (const { name, value } of read.assignments) {
    values[name] = typeof value === "string" ? value : await readSecret(context, name, value.from);
  }
  refuseValues(context, values);
  return values;
}

async function valuesOfFile(context: Context, path: string): Promise<Values> {
  const { io } = context;
  const shown = path === "-" ? "stdin" : path;
  let bytes: Buffer;
  try {
    bytes = path === "-" ? await readStdin(io) : readFileSync(resolve(context.directory, path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : String(code);
    return context.misuse(`cannot read ${shown}: ${why}`, "give --file the path of a file with NAME=VALUE lines");
  }
  const text = textOf(bytes);
  if (text === undefined) return context.misuse(`${shown} is not UTF-8 text`, "write its values as base64");
  const read = readEnvFile(text);
  if (!read.ok) {
    // The line is not shown: it may hold a secret.
    for (const problem of read.problems) {
      const line = text.slice(0, problem.span.start).split("\n").length;
      await context.error(`${shown}:${line}: ${problem.message}`, problem.hint);
    }
    return context.exit(EXIT.failed);
  }
  const names = [...read.values.keys()];
  if (names.length === 0) return context.misuse(`${shown} has no variables`, "a line is NAME=VALUE");
  const wrong = namesProblem(names);
  if (wrong !== undefined) return context.misuse(`${shown}: ${wrong.message}`, wrong.hint);
  const values = Object.fromEntries(read.values);
  refuseValues(context, values);
  return values;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuseValues(context: Context, values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    const wrong = valueProblem(name, value);
    if (wrong !== undefined) context.misuse(wrong.message, wrong.hint);
  }
}

interface Opened {
  readonly variables: Variables;
  readonly watched: Watched;
}

/** The project and its variables. Makes no call yet. */
async function openProject(
  context: Context,
  { sandbox: flag }: { readonly sandbox: boolean },
  { changes = false }: { readonly changes?: boolean } = {},
) {
  const config = await readConfigForVariables(context);
  const { config: resolved } = resolveProject(context, config, { development: false });
  return {
    config,
    run(
      { interrupted }: { readonly interrupted?: () => string },
      work: (opened: Opened) => Promise<number>,
    ): Promise<number> {
      const progress = deployProgress(context);
      return interruptible(context, { progress, ...(interrupted && { interrupted }) }, async ({ signal }) => {
        const sandbox = await openSandbox(context, flag, { app: config.name, deploys: changes });
        const options = { env: context.io.env, config, resolved: placed(resolved, sandbox), sandbox };
        return work({ variables: await openVariables(options), watched: { signal, report: progress.report } });
      });
    },
  };
}

function refuseOtherStage(context: Context, stage: string, config: Pick<Config, "stages">): void {
  const wrong = explainStageOf(stage, [ALL_STAGES, ...stagesOf(config)]);
  if (wrong !== undefined) context.misuse(wrong.message, wrong.hint);
}

/** What a stage has: its own variables, and those of all stages that it has no own ones for. */
function ofStage(all: readonly StoredVariable[], stage: string): StoredVariable[] {
  const own = all.filter((one) => one.stage === stage);
  if (stage === ALL_STAGES) return own;
  const isOwn = ({ name }: StoredVariable) => own.some((one) => one.name === name);
  return [...all.filter((one) => one.stage === ALL_STAGES && !isOwn(one)), ...own];
}

interface Affected {
  /** Stages that run with other values than the store has now; undefined if the platform does not tell. */
  readonly stages: readonly string[] | undefined;
  /** Stages with a variable of their own in place of one that was changed for all stages. */
  readonly own: readonly { readonly stage: string; readonly name: string }[];
}

/** Which stages a change affects. The variables themselves are set whatever becomes of this. */
async function stagesAffected(
  variables: Variables,
  { stage, names }: { readonly stage: string; readonly names: readonly string[] },
  watched: Watched,
): Promise<Affected> {
  try {
    const [deployed, known] = await Promise.all([
      variables.deployedStages(watched),
      stage === ALL_STAGES ? variables.names(watched) : [],
    ]);
    const own = known.filter((one) => one.stage !== ALL_STAGES && names.includes(one.name));
    const isAffected = (one: string) =>
      stage === ALL_STAGES
        ? names.some((name) => !own.some((other) => other.stage === one && other.name === name))
        : one === stage;
    return {
      stages: deployed
        .map((one) => one.stage)
        .filter(isAffected)
        .sort(),
      own,
    };
  } catch (error) {
    if (watched.signal.aborted) throw error;
    return { stages: undefined, own: [] };
  }
}

async function sayAffected(context: Context, stage: string, { stages, own }: Affected): Promise<void> {
  for (const one of own) await context.say(`${one.stage} has its own ${one.name}, which it keeps`);
  if (stages === undefined) {
    const which = stage === ALL_STAGES ? "each stage" : stage;
    await context.say(
      `deploy ${which} again to put this into force: tool deploy ${stage === ALL_STAGES ? "<stage>" : stage}`,
    );
  } else if (stages.length > 0) {
    const run = stages.length === 1 ? "runs" : "run";
    const what = stages.map((one) => `tool deploy ${one}`).join(", ");
    await context.say(`${stages.join(", ")} ${run} without this until deployed again: ${what}`);
  }
}

const inStage = (stage: string) => (stage === ALL_STAGES ? "for all stages" : `in ${stage}`);

/** What was written when several were to be, and what was not. */
function howFar(done: readonly string[], names: readonly string[], stage: string): string {
  const left = names.filter((name) => !done.includes(name));
  if (done.length === 0) return `nothing was set ${inStage(stage)}`;
  return `set ${inStage(stage)}: ${shortList(done)}; not set: ${shortList(left)}`;
}

/** Where a name that a stage does not have is, or which name was meant. */
async function nearest(
  variables: Variables,
  [name = ""]: readonly string[],
  watched: Watched,
  { verb = "get", known }: { verb?: string; known?: Awaited<ReturnType<Variables["names"]>> } = {},
): Promise<string> {
  const all = known ?? (await variables.names(watched));
  const elsewhere = all.filter((one) => one.name === name).map(({ stage }) => stage);
  if (elsewhere.length > 0) {
    return `it is in ${elsewhere.join(", ")}: tool env ${verb} ${name} -s ${elsewhere[0]}`;
  }
  const near = didYouMean(name, new Set(all.map((one) => one.name)));
  return near === undefined ? "tool env ls lists them" : `did you mean ${near}?`;
}

/** Progress of more variables than are set in a moment. */
function countedPhase({ report }: Watched, count: number) {
  const isShown = count > FEW;
  if (isShown) report({ kind: "begin", phase: "variables" });
  return {
    step(done: number) {
      if (isShown) report({ kind: "note", phase: "variables", text: `${done} of ${count}`, isDetail: true });
    },
    end() {
      if (isShown) report({ kind: "end", phase: "variables", text: `${count} set` });
    },
  };
}

/** So many take less than a second. */
const FEW = 5;
