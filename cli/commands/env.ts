import { resolve } from "node:path";
import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Config, variableWarning } from "../../schema/index.ts";
import { readConfigForVariables } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { type Assignment, isVariableName, readAssignments, valueProblem } from "../env/assignments.ts";
import { readEnvFile } from "../env/env-file.ts";
import { readSecret } from "../env/read-secret.ts";
import { shellAssignment } from "../env/shell-assignment.ts";
import { stagesOf } from "../hooks/hooks.ts";
import { interruptible } from "../interruption.ts";
import { openToRead } from "../logs/read-files.ts";
import { openVariables } from "../open-platform.ts";
import { openSandbox, placed } from "../open-sandbox.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { shortList } from "../output/short-list.ts";
import { variablesTable } from "../output/variables-table.ts";
import type { Watched } from "../platform/progress.ts";
import {
  ALL_STAGES,
  type AppVariables,
  isMergedWithAll,
  SERVICE_SECRETS,
  type StoredVariable,
  type VariableValues,
} from "../platform/variables.ts";
import { resolveProject } from "../project/resolve-config.ts";
import { explainStageOf } from "../project/stage-word.ts";
import { readStream } from "../read-stream.ts";
import type { Options } from "../table.ts";

/** `tool env add`, `tool env set`: sets variables of a stage, or of all stages. */
export async function add(context: Context, options: Options<"env add">): Promise<number> {
  const { stage, desc } = options;
  const project = await openProject(context, options, { changes: true });
  refuseOtherStage(context, stage, project.config);
  if (stage === SERVICE_SECRETS && options.clear) {
    return context.misuse("secrets of the log service are encrypted", "run it without --clear");
  }
  const input = variablesInput(context, options);
  if (desc !== undefined && (input.kind === "file" || input.assignments.length > 1)) {
    return context.misuse("--desc is for one variable", "set that one alone");
  }
  if ((desc?.length ?? 0) > MAX_DESCRIPTION) {
    return context.misuse(`the description is longer than ${MAX_DESCRIPTION} characters`, "shorten it");
  }
  let names: readonly string[] = [];
  const done: string[] = [];
  const interrupted = () => `interrupted: ${howFar(done, names, stage)}`;
  return project.run({ interrupted }, async ({ variables, watched }) => {
    // Before a secret is typed, which would be lost.
    if (input.kind === "words" && input.isTyped) await variables.names(watched);
    const values =
      input.kind === "file"
        ? await valuesOfFile(context, input.path, watched.signal)
        : await valuesOf(context, input, watched.signal);
    if (stage === SERVICE_SECRETS) refuseEmptySecrets(context, values);
    names = Object.keys(values);
    for (const { message, hint } of names.flatMap((name) => variableWarning(name) ?? [])) {
      await context.say(`warning: ${message}\n  ${hint}`);
    }
    const progress = countedPhase(watched, names.length);
    const onSet = (name: string) => {
      done.push(name);
      progress.step(done.length);
    };
    const request = { stage, values, isEncrypted: !options.clear, description: desc, onSet };
    const { added, changed, recoded } = await variables.set(request, watched).catch(async (error: unknown) => {
      const isPart = done.length > 0 && done.length < names.length;
      if (isPart && !watched.signal.aborted) await context.say(howFar(done, names, stage));
      throw error;
    });
    progress.end();
    const affected = await stagesAffected(variables, { stage, names }, watched);
    if (context.format === "json") {
      const document = { stage, added, changed, encrypted: !options.clear, recoded };
      await context.print(JSON.stringify({ ...document, ...asJson(affected) }, null, 2));
      return EXIT.ok;
    }
    for (const [verb, some] of [
      ["added", added],
      ["changed", changed],
    ] as const) {
      if (some.length > 0) await context.print(`${verb} ${forStage(stage)}: ${shortList(some)}`);
    }
    if (recoded.length > 0) {
      const now = options.clear ? "not encrypted any more" : "encrypted now, as --clear is not given";
      await context.say(`${now}: ${shortList(recoded)}`);
    }
    const replaced = names.filter((name) => Object.hasOwn(project.config.environment ?? {}, name));
    if (replaced.length > 0) await context.say(`replaced by this, in tool.json: ${shortList(replaced)}`);
    await sayAffected(context, stage, affected);
    return EXIT.ok;
  });
}

/** `tool env get`: prints the value and nothing else; a terminal gets a line end after it. */
export async function get(context: Context, { stage, variable, sandbox }: Options<"env get">): Promise<number> {
  refuseToShow(context, stage);
  const project = await openProject(context, { sandbox });
  refuseOtherNames(context, [variable]);
  return project.run({}, async ({ variables, watched }) => {
    const entry = await variables.readOne(stage, variable, watched);
    if (entry === undefined) {
      refuseOtherStage(context, stage, project.config);
      const where = stage === ALL_STAGES ? "for all stages" : `for ${stage}, nor for all stages`;
      const hint = await whereElse(variables, [variable], watched, { verb: "get" });
      return context.fail(`there is no variable ${variable} ${where}`, hint);
    }
    const { value } = entry;
    if (context.format === "json") {
      const document = { stage, name: variable, value, from: entry.stage };
      await context.print(JSON.stringify(document, null, 2));
    } else await context.io.stdout.write(context.io.stdout.isTerminal ? `${value}\n` : value);
    return EXIT.ok;
  });
}

/** `tool env`, `tool env ls`: lists the variables of all stages, or what one stage has. */
export async function ls(context: Context, { stage, sandbox }: Options<"env ls">): Promise<number> {
  const project = await openProject(context, { sandbox });
  return project.run({}, async ({ variables, watched }) => {
    const [all, outdated] = await Promise.all([variables.list(watched), outdatedStages(variables, watched)]);
    if (stage !== undefined && !all.some((one) => one.stage === stage)) {
      refuseOtherStage(context, stage, project.config);
    }
    const selection = stage === undefined ? all : ofStage(all, stage);
    const redeploy = outdated?.filter((one) => stage === undefined || stage === ALL_STAGES || stage === one);
    if (context.format === "json") {
      const rows = selection.map(({ isEncrypted, value, description, changedBy, ...row }) => ({
        ...row,
        encrypted: isEncrypted,
        value: value ?? null,
        description: description ?? null,
        changedBy: changedBy ?? null,
      }));
      await context.print(JSON.stringify({ variables: rows, redeploy: redeploy ?? null }, null, 2));
      return EXIT.ok;
    }
    if (selection.length === 0) {
      await context.say(`there are no variables${stage === undefined ? "" : ` ${forStage(stage)}`}`);
      await context.say("  tool env add NAME VALUE sets one for all stages");
    } else await context.print(variablesTable(selection, context.io.stdout));
    for (const one of redeploy ?? []) {
      await context.say(`${one} is deployed with other variables: tool deploy ${one}`);
    }
    return EXIT.ok;
  });
}

/** `tool env rm`: removes variables of a stage, or of all stages. Removes none if one of them does not exist. */
export async function rm(context: Context, options: Options<"env rm">): Promise<number> {
  const { stage, variable, more, sandbox } = options;
  const names = [...new Set([variable, ...more])];
  const project = await openProject(context, { sandbox }, { changes: true });
  refuseOtherNames(context, names);
  return project.run({}, async ({ variables, watched }) => {
    const existing = await variables.names(watched);
    const own = existing.filter((one) => one.stage === stage).map(({ name }) => name);
    if (own.length === 0) refuseOtherStage(context, stage, project.config);
    const unknown = names.filter((name) => !own.includes(name));
    if (unknown.length > 0) {
      const which = unknown.length === 1 ? `is no variable ${unknown[0]}` : `are no variables ${unknown.join(" and ")}`;
      const hint = await whereElse(variables, unknown, watched, { verb: "rm", existing });
      return context.fail(`there ${which} ${forStage(stage)}, and nothing was removed`, hint);
    }
    const removed = await variables.remove({ stage, names }, watched);
    const affected = await stagesAffected(variables, { stage, names }, watched);
    if (context.format === "json") {
      await context.print(JSON.stringify({ stage, removed, ...asJson(affected) }, null, 2));
      return EXIT.ok;
    }
    await context.print(`removed ${forStage(stage)}: ${shortList(removed)}`);
    const inFile = removed.filter((name) => Object.hasOwn(project.config.environment ?? {}, name));
    const below = existing.filter(
      (one) => one.stage === ALL_STAGES && stage !== ALL_STAGES && names.includes(one.name),
    );
    const still = (isMergedWithAll(stage) ? below : []).map(({ name }) => name);
    if (still.length > 0) await context.say(`still set for all stages: ${shortList(still)}`);
    const file = inFile.filter((name) => !still.includes(name));
    if (file.length > 0) await context.say(`still set in tool.json: ${shortList(file)}`);
    await sayAffected(context, stage, affected);
    return EXIT.ok;
  });
}

/** `tool env export`: prints assignments that a shell evaluates. */
export async function exportAll(context: Context, { stage, sandbox }: Options<"env export">): Promise<number> {
  refuseToShow(context, stage);
  const project = await openProject(context, { sandbox });
  return project.run({}, async ({ variables, watched }) => {
    const values = await variables.read(stage, watched);
    const names = Object.keys(values).sort();
    // A stage that is not in tool.json any more may have some.
    if (names.length === 0) refuseOtherStage(context, stage, project.config);
    if (context.format === "json") {
      await context.print(JSON.stringify(Object.fromEntries(names.map((name) => [name, values[name]])), null, 2));
    } else {
      for (const name of names) await context.io.stdout.write(`${shellAssignment(name, values[name]!)}\n`);
      if (names.length === 0) await context.say(`there are no variables ${forStage(stage)}`);
    }
    return EXIT.ok;
  });
}

/** The store's limit for a description. */
const MAX_DESCRIPTION = 1024;

type VariablesInput =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "words"; readonly assignments: readonly Assignment[]; readonly isTyped: boolean };

/** The variables that the words and flags name; values from stdin, the terminal or a file are not read yet. */
function variablesInput(context: Context, { variable: words, file }: Options<"env add">): VariablesInput {
  if (file !== undefined) {
    if (words.length > 0) {
      return context.misuse("--file and variables in the arguments cannot be combined", "run tool env add twice");
    }
    return { kind: "file", path: file };
  }
  if (words.length === 0) {
    return context.misuse("tool env add needs a variable", "write NAME VALUE, NAME=VALUE, NAME -, or --file .env");
  }
  const read = readAssignments(words);
  if (!read.ok) return context.misuse(read.problems[0].message, read.problems[0].hint);
  const needsInput = read.value.some(({ value }) => typeof value === "object");
  return { kind: "words", assignments: read.value, isTyped: needsInput && context.io.stdin.isTTY === true };
}

async function valuesOf(
  context: Context,
  input: { readonly assignments: readonly Assignment[] },
  signal: AbortSignal,
): Promise<VariableValues> {
  const values: Record<string, string> = {};
  for (const { name, value } of input.assignments) {
    values[name] = typeof value === "string" ? value : await readSecret(context, name, { from: value.from, signal });
    // Node puts it in place of bytes that are not UTF-8.
    if (typeof value === "string" && value.includes("\ufffd")) {
      return context.misuse(`the value of ${name} is not UTF-8 text`, "write it as base64, and let the app decode it");
    }
  }
  refuseValues(context, values);
  return values;
}

/** A file, or a pipe such as `<(...)`, which may wait for who writes to it until the signal aborts. */
async function readPath(path: string, signal: AbortSignal): Promise<Buffer> {
  const handle = await openToRead(path, signal);
  try {
    const bytes = await readStream(handle.createReadStream({ signal, autoClose: false }), MAX_FILE_BYTES + 1);
    signal.throwIfAborted();
    return bytes;
  } finally {
    await handle.close();
  }
}

async function valuesOfFile(context: Context, path: string, signal: AbortSignal): Promise<VariableValues> {
  const label = path === "-" ? "stdin" : path;
  let bytes: Buffer;
  try {
    bytes =
      path === "-"
        ? await readStream(context.io.stdin, MAX_FILE_BYTES + 1)
        : await readPath(resolve(context.directory, path), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      ENOENT: "there is no such file",
      EISDIR: "it is a folder",
      ELOOP: "its symbolic links lead in a circle",
      EACCES: "permission denied",
    };
    const why = reasons[code ?? ""] ?? String(code);
    return context.misuse(`cannot read ${label}: ${why}`, "give --file the path of a file with NAME=VALUE lines");
  }
  if (bytes.length > MAX_FILE_BYTES) {
    return context.misuse(`${label} is larger than 4 MB`, "give --file a file with NAME=VALUE lines");
  }
  const text = textOf(bytes)?.replace(/\r\n?/g, "\n");
  if (text === undefined) return context.misuse(`${label} is not UTF-8 text`, "save it as UTF-8");
  const read = readEnvFile(text);
  if (!read.ok) {
    // The line is not shown: it may hold a secret.
    for (const { span, message, hint } of read.problems) {
      const line = text.slice(0, span.start).split("\n").length;
      await context.error(`${label}:${line}: ${message}`, hint);
    }
    return context.exit(EXIT.failed);
  }
  if (read.values.size === 0) return context.misuse(`${label} has no variables`, "a line is NAME=VALUE");
  const values = Object.fromEntries(read.values);
  refuseValues(context, values);
  for (const name of read.leftOut) await context.say(`left out: ${name}, which the tool sets itself`);
  return values;
}

/** More than all variables that can be deployed. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuseValues(context: Context, values: VariableValues): void {
  for (const [name, value] of Object.entries(values)) {
    const wrong = valueProblem(name, value);
    if (wrong !== undefined) context.misuse(wrong.message, wrong.hint);
  }
}

/** A variable of the app may be empty; an empty secret would be none for the notification that names it. */
function refuseEmptySecrets(context: Context, values: VariableValues): void {
  const name = Object.keys(values).find((one) => values[one] === "");
  if (name === undefined) return;
  context.misuse(
    `the value of ${name} is empty, and nothing was set`,
    `a secret of the log service has a value; tool env rm ${name} -s ${SERVICE_SECRETS} removes it`,
  );
}

interface Opened {
  readonly variables: AppVariables;
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
        const options = {
          env: context.io.env,
          clock: context.io.clock,
          config,
          resolved: placed(resolved, sandbox),
          sandbox,
        };
        return work({ variables: await openVariables(options), watched: { signal, report: progress.report } });
      });
    },
  };
}

function refuseOtherStage(context: Context, stage: string, config: Pick<Config, "stages">): void {
  if (stage === SERVICE_SECRETS) return;
  const wrong = explainStageOf(stage, [ALL_STAGES, ...stagesOf(config)]);
  if (wrong !== undefined) context.misuse(wrong.message, wrong.hint);
}

/** A secret that leaves the store for another place than the log service would be in two. */
function refuseToShow(context: Context, stage: string): void {
  if (stage !== SERVICE_SECRETS) return;
  const hint = `tool env ls -s ${SERVICE_SECRETS} lists their names; tool env add NAME - -s ${SERVICE_SECRETS} sets one again`;
  context.misuse("secrets of the log service are not printed", hint);
}

function refuseOtherNames(context: Context, names: readonly string[]): void {
  if (!names.every(isVariableName))
    context.misuse("this is not the name of a variable", "tool env ls lists the variables");
}

/** The variables of a stage: its own, and those of all stages that it has no own ones for. */
function ofStage(all: readonly StoredVariable[], stage: string): StoredVariable[] {
  const own = all.filter((one) => one.stage === stage);
  if (!isMergedWithAll(stage)) return own;
  const isOwn = ({ name }: StoredVariable) => own.some((one) => one.name === name);
  return [...all.filter((one) => one.stage === ALL_STAGES && !isOwn(one)), ...own];
}

/** Undefined if the platform does not tell: listing and setting work without. */
async function outdatedStages(variables: AppVariables, watched: Watched): Promise<readonly string[] | undefined> {
  try {
    return await variables.outdatedStages(watched);
  } catch (error) {
    if (watched.signal.aborted) throw error;
    return undefined;
  }
}

interface Affected {
  /** Stages whose deployed version has other variables than the store now; undefined if the platform does not tell. */
  readonly redeploy: readonly string[] | undefined;
  /** Variables of stages in place of which one for all stages was changed. */
  readonly own: readonly { readonly stage: string; readonly name: string }[];
}

/** The stages that a change affects. */
async function stagesAffected(
  variables: AppVariables,
  { stage, names }: { readonly stage: string; readonly names: readonly string[] },
  watched: Watched,
): Promise<Affected> {
  const isForAll = stage === ALL_STAGES;
  const [outdated, existing] = await Promise.all([
    outdatedStages(variables, watched),
    isForAll ? variables.names(watched).catch(() => []) : [],
  ]);
  return {
    redeploy: outdated?.filter((one) => isForAll || one === stage),
    own: existing.filter((one) => isMergedWithAll(one.stage) && names.includes(one.name)),
  };
}

const asJson = ({ redeploy, own }: Affected) => ({ redeploy: redeploy ?? null, unaffected: own });

async function sayAffected(context: Context, stage: string, { redeploy, own }: Affected): Promise<void> {
  for (const one of own) await context.say(`${one.stage} has its own ${one.name}, which is unchanged`);
  if (stage === SERVICE_SECRETS) return;
  if (stage === "development") await context.say("tool start has this when it is started again");
  else if (redeploy === undefined) {
    const one = stage === ALL_STAGES ? "<stage>" : stage;
    await context.say(`a stage that is deployed keeps what it has until its next deploy: tool deploy ${one}`);
  }
  for (const one of redeploy ?? []) {
    await context.say(`${one} keeps what it has until its next deploy: tool deploy ${one}`);
  }
}

function forStage(stage: string): string {
  if (stage === SERVICE_SECRETS) return "for the log service";
  return stage === ALL_STAGES ? "for all stages" : `for ${stage}`;
}

/** Says which of several variables were written, and which were not. */
function howFar(done: readonly string[], names: readonly string[], stage: string): string {
  const left = names.filter((name) => !done.includes(name));
  if (done.length === 0) return `nothing was set ${forStage(stage)}`;
  return `set ${forStage(stage)}: ${shortList(done)}\nnot set, run the command again: ${shortList(left)}`;
}

type Names = Awaited<ReturnType<AppVariables["names"]>>;

/** Where names are that a stage does not have, or which names were meant. */
async function whereElse(
  variables: AppVariables,
  unknown: readonly string[],
  watched: Watched,
  { verb, existing }: { readonly verb: string; readonly existing?: Names },
): Promise<string> {
  const every = existing ?? (await variables.names(watched));
  const all = verb === "get" ? every.filter(({ stage }) => stage !== SERVICE_SECRETS) : every;
  const hints = unknown.flatMap((name) => {
    const elsewhere = all.filter((one) => one.name === name).map(({ stage }) => stage);
    if (elsewhere.length > 0) {
      const where = elsewhere.map((one) => (one === ALL_STAGES ? "all stages" : one)).join(", ");
      return `it is set for ${where}: tool env ${verb} ${name} -s ${elsewhere[0]}`;
    }
    const near = didYouMean(name, new Set(all.map((one) => one.name)));
    return near === undefined ? [] : [`did you mean ${near}?`];
  });
  return hints.length > 0 ? hints.join("\n") : "tool env ls lists the variables";
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
