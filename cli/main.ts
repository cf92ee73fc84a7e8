// The process: reads the arguments by the table, runs the command that they name, and exits with its code.
import { commandsBelow, readArgv, unknownBelow } from "./argv.ts";
import type { Command } from "./command-row.ts";
import { type Context, createContext, EXIT, firstErrorOf } from "./context.ts";
import { edition, releaseAccount } from "./edition.ts";
import { renderHelp } from "./help.ts";
import { type Io, processIo } from "./io.ts";
import { readOptions } from "./read-options.ts";
import { type CommandName, describeTable, isProCommand, type Options, TABLE } from "./table.ts";
import { explainUnknown, stagesHere } from "./unknown-command.ts";
import { printedVersion } from "./version.ts";
import { refusedHere } from "./windows.ts";

/** A command, as a function to its exit code. */
type Run<Name extends CommandName> = (context: Context, options: Options<Name>) => Promise<number>;

/** The file of each command, imported when it runs. */
const COMMANDS: { readonly [Name in CommandName]: () => Promise<Run<Name>> } = {
  deploy: async () => (await import("./commands/deploy.ts")).deploy,
  rollback: async () => (await import("./commands/rollback.ts")).rollback,
  deploys: async () => (await import("./commands/deploys.ts")).deploys,
  url: async () => (await import("./commands/url.ts")).url,
  prune: async () => (await import("./commands/prune.ts")).prune,
  stack: async () => (await import("./commands/stack.ts")).status,
  "stack status": async () => (await import("./commands/stack.ts")).status,
  "stack plan": async () => (await import("./commands/stack.ts")).plan,
  "stack apply": async () => (await import("./commands/stack.ts")).apply,
  "stack delete": async () => (await import("./commands/stack.ts")).remove,
  "stack rotate-logs-token": async () => (await import("./commands/stack.ts")).rotateLogsToken,
  "stack policy": async () => (await import("./commands/stack.ts")).policy,
  metrics: async () => (await import("./commands/metrics.ts")).metrics,
  "domains ls": async () => (await import("./commands/domains.ts")).ls,
  "domains check": async () => (await import("./commands/domains.ts")).check,
  "domains buy": async () => (await import("./commands/domains.ts")).buy,
  env: async () => (await import("./commands/env.ts")).ls,
  "env add": async () => (await import("./commands/env.ts")).add,
  "env set": async () => (await import("./commands/env.ts")).add,
  "env get": async () => (await import("./commands/env.ts")).get,
  "env ls": async () => (await import("./commands/env.ts")).ls,
  "env rm": async () => (await import("./commands/env.ts")).rm,
  "env export": async () => (await import("./commands/env.ts")).exportAll,
  start: async () => (await import("./commands/start.ts")).start,
  logs: async () => (await import("./commands/logs.ts")).logs,
  "alerts export": async () => (await import("./commands/alerts.ts")).exportRecords,
  "alerts test": async () => (await import("./commands/alerts.ts")).test,
  sandbox: async () => (await import("./commands/sandbox.ts")).status,
  "sandbox status": async () => (await import("./commands/sandbox.ts")).status,
  "sandbox start": async () => (await import("./commands/sandbox.ts")).start,
  "sandbox stop": async () => (await import("./commands/sandbox.ts")).stop,
  "sandbox mail": async () => (await import("./commands/sandbox.ts")).mail,
  "sandbox reset": async () => (await import("./commands/sandbox.ts")).reset,
  build: async () => (await import("./commands/build.ts")).build,
  config: async () => (await import("./commands/config.ts")).config,
  validate: async () => (await import("./commands/validate.ts")).validate,
  run: async () => (await import("./commands/run.ts")).run,
  lsp: async () => (await import("./commands/lsp.ts")).lsp,
  "service init": async () => (await import("./commands/service.ts")).init,
  "service start": async () => (await import("./commands/service.ts")).start,
  "service token": async () => (await import("./commands/service.ts")).token,
  "service owner": async () => (await import("./commands/service-people.ts")).owner,
  "service sign-in": async () => (await import("./commands/service-people.ts")).signIn,
  "service check": async () => (await import("./commands/service-check.ts")).check,
  "service backup": async () => (await import("./commands/service.ts")).backup,
  "service restore": async () => (await import("./commands/service.ts")).restore,
  "service migrate": async () => (await import("./commands/service.ts")).migrate,
  team: async () => (await import("./commands/team.ts")).status,
  "team status": async () => (await import("./commands/team.ts")).status,
  "team login": async () => (await import("./commands/team.ts")).login,
  "team switch": async () => (await import("./commands/team.ts")).switchTeam,
  "team logout": async () => (await import("./commands/team.ts")).logout,
  "team add": async () => (await import("./commands/team.ts")).add,
  "team subscribe": async () => (await import("./commands/team.ts")).subscription.subscribe,
  "team unsubscribe": async () => (await import("./commands/team.ts")).subscription.unsubscribe,
  "team card change": async () => (await import("./commands/team.ts")).subscription.changeCard,
  "team members ls": async () => (await import("./commands/team.ts")).members.ls,
  "team members add": async () => (await import("./commands/team.ts")).members.add,
  "team members role": async () => (await import("./commands/team.ts")).members.role,
  "team members link": async () => (await import("./commands/team.ts")).members.link,
  "team members rm": async () => (await import("./commands/team.ts")).members.rm,
  "team ci": async () => (await import("./commands/team.ts")).ci.make,
  "team ci ls": async () => (await import("./commands/team.ts")).ci.ls,
  "team ci rm": async () => (await import("./commands/team.ts")).ci.rm,
  docs: async () => (await import("./commands/docs.ts")).docs,
  "docs service": async () => (await import("./commands/docs.ts")).serviceDocs,
  completion: async () => (await import("./commands/completion.ts")).completion,
  upgrade: async () => (await import("./commands/upgrade.ts")).upgrade,
  version: async () => showVersion,
  help: async () => (context) => showHelp(context, []),
};

/** Runs the command that the arguments name and returns its exit code. Throws an `EarlyExit`, or what no command expects. */
export async function run(io: Io, argv: readonly string[]): Promise<number> {
  const code = await runArgv(io, argv);
  await printFailure(io, argv, code);
  return code;
}

async function runArgv(io: Io, argv: readonly string[]): Promise<number> {
  const commands = describeTable();
  let invocation = readArgv(argv, commands);
  const context = createContext(io, invocation.globals);
  // `tool production`: the name of a stage deploys it. No other word does.
  if (invocation.kind === "unknown" && stagesHere(context.directory).includes(invocation.word)) {
    invocation = readArgv(["deploy", ...argv], commands);
  }
  switch (invocation.kind) {
    case "misuse":
      return context.misuse(invocation.message, invocation.hint);
    case "version":
      return showVersion(context);
    case "help":
      return showHelp(context, invocation.topic);
    case "unknown": {
      const { message, hint } = explainUnknown([invocation.word], commands, context);
      return context.misuse(message, hint);
    }
    case "command": {
      const refusal = refusedHere(io.platform, invocation.name);
      if (refusal !== undefined) return context.fail(refusal.message, refusal.hint);
      if (!context.directoryExists()) {
        return context.misuse(`there is no folder ${JSON.stringify(invocation.globals.chdir)}`, "give -C a folder");
      }
      // `readArgv` returns only names of the table.
      return runCommand(context, invocation.name as CommandName, invocation.argv);
    }
  }
}

async function runCommand<Name extends CommandName>(context: Context, name: Name, argv: readonly string[]) {
  const options = readOptions(TABLE, name, argv);
  if (!options.ok) return context.misuse(options.problems[0]!.message, options.problems[0]!.hint);
  // Before anything of the command is done. A build that asks nobody does not even load the code.
  if ((edition === "free" || releaseAccount !== undefined) && isProCommand(name)) {
    await (await import("./pro.ts")).requirePro(context, `tool ${name}`);
  }
  const run = await COMMANDS[name]();
  return run(context, options.value);
}

async function showVersion(context: Context): Promise<number> {
  await context.print(
    context.format === "json" ? JSON.stringify({ version: printedVersion, edition }) : printedVersion,
  );
  return EXIT.ok;
}

async function showHelp(context: Context, topic: readonly string[]): Promise<number> {
  const commands = describeTable();
  const name = topic.length === 0 ? undefined : topic.join(" ");
  const command = commands.find((candidate) => candidate.name === name);
  const below = name === undefined ? commands : commandsBelow(name, commands);
  if (name !== undefined && command === undefined && below.length === 0) {
    const group = topic.slice(0, -1).join(" ");
    const owner = commands.find((candidate) => candidate.name === group);
    const { message, hint } =
      commandsBelow(group, commands).length > 0
        ? unknownBelow(group, [topic.at(-1)!], commands)
        : owner === undefined
          ? explainUnknown(topic, commands, context)
          : { message: `tool ${group} has no command ${JSON.stringify(topic.at(-1))}`, hint: `see tool help ${group}` };
    return context.misuse(message, hint);
  }
  if (context.format === "json") {
    const describe = ({ minWords: _, maxWords: __, ...rest }: Command) => rest;
    const document = command === undefined ? { commands: below.map(describe) } : describe(command);
    await context.print(JSON.stringify(document, null, 2));
  } else {
    await context.print(renderHelp(commands, name, context.io.stdout));
  }
  return EXIT.ok;
}

/** Runs a command to its exit code. What it throws is explained on stderr. */
export function runToEnd(io: Io, argv: readonly string[]): Promise<number> {
  return run(io, argv).catch((error: unknown) => fail(io, argv, error));
}

/** Runs the process: the real effects, the exit code, and the last resort for errors that nothing else caught. */
export async function main(): Promise<void> {
  const io = processIo();
  const argv = process.argv.slice(2);
  const end = async (code: number) => {
    await io.stdout.flush();
    await io.stderr.flush();
    // Not left to the event loop: a terminal's stdin or a forgotten handle would keep the process alive.
    process.exit(code);
  };
  // On a full disk every later write fails too, that of the error message among them.
  let failure: Promise<number> | undefined;
  const failOnce = (error: unknown) => {
    failure ??= fail(io, argv, error);
    return failure;
  };
  // Errors outside of what the command awaits: a listener that throws, a full disk, a promise without a handler.
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error: unknown) => void failOnce(error).then(end));
  }
  // An event loop that runs dry before the end is a failure.
  process.exitCode = EXIT.failed;
  await end(await run(io, argv).catch(failOnce));
}

/** Explains what ended a command early and returns the exit code. */
async function fail(io: Io, argv: readonly string[], error: unknown): Promise<number> {
  const { globals } = readArgv(argv, describeTable());
  const code = await createContext(io, globals).explain(error);
  await printFailure(io, argv, code);
  return code;
}

/** Makes stdout one valid document after a command that failed before it wrote anything. */
async function printFailure(io: Io, argv: readonly string[], code: number): Promise<void> {
  if (code === EXIT.ok || io.stdout.hasWritten) return;
  const { command, format } = readArgv(argv, describeTable()).globals;
  if (format === undefined) return;
  const { failedDocument } = await import("./output/failed-document.ts");
  const document = failedDocument({ argv, command, format }, code, firstErrorOf(io));
  if (document !== undefined) await io.stdout.write(`${document}\n`);
}
