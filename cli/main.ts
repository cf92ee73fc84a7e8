// The map of the command line: every command, its flags, and the file that runs it, imported when it runs.
import sade from "sade";
import { readArgv } from "./argv.ts";
import { type Context, contextOf, EXIT } from "./context.ts";
import { renderHelp } from "./help.ts";
import { type Io, processIo } from "./io.ts";
import { describeTable } from "./table.ts";
import { explainUnknown } from "./unknown-command.ts";
import { version } from "./version.ts";

type Run = (context: Context) => Promise<number>;

/** A word in backquotes is what help calls the flag's value; `...` says that the flag may be repeated. */
export const table = () =>
  sade("tool")
    .command("start", "Run the app on this machine, behind the same proxy that it gets when deployed")
    .option("-c, --command", "Start the server with `command` instead", "")
    .option("-o, --open", "Open the browser when the app answers", false)
    .option("--address", "Listen on `address`, :3000 if none is given", "")
    .example("start")
    .example("start --address 127.0.0.1:8080 --open")
    .example("start --command 'node --watch app.js'")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/start.ts")).start(context, flags),
    )

    .command("logs [query]", "Show the log entries that a query selects, or follow them")
    .option("-f, --follow", "Wait for more entries", false)
    .option("-S, --since", "Entries of the last `duration`, or since a time (1d for the development log)", "")
    .option("--until", "Entries before a `duration` ago, or a time", "")
    .option("-e, --expand", "One field a line", false)
    .option("-n, --limit", "Only the first `number` entries; of the development log the newest, unless followed", "")
    .option("--count", "Print only how many entries there are", false)
    .option("--file", "Read a `path...`: a file, plain or gzip, a quoted glob, or - for stdin", "")
    .example("logs error                       # responses with status 5xx too")
    .example("logs 'status >= 400 duration > 1s'")
    .example("logs 'method in (POST, PUT) and not path = /health'")
    .example("logs 'message contains \"timeout\" or user.email = *@example.com'")
    .example("logs -f -S 15m 'production error'")
    .example("logs @slow                       # a query of logs.queries in tool.json")
    .example("logs --file 'logs/*.ndjson*' --format json 'size > 1mb'")
    .example("logs --count -S 1h 'status >= 500'")
    .action(
      (query, flags): Run =>
        async (context) =>
          (await import("./commands/logs.ts")).logs(context, query, flags),
    )

    .command("build", "Write what a deploy uploads to out.zip, or to stdout")
    .option("-s, --stage", "Build for `stage` (staging)", "")
    .option("--size", "List the files in it by size instead", false)
    .example("build")
    .example("build --stage production > app.zip")
    .example("build --size | head -20           # what takes the room")
    .example("build --verbose                   # what is left out, and why")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/build.ts")).build(context, flags),
    )

    .command("config", "Print tool.json with all defaults filled in")
    .option("--schema", "Print the JSON Schema of tool.json instead", false)
    .example("config")
    .example("config --schema > tool.schema.json")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/config.ts")).config(context, flags),
    )

    .command("validate [file...]", "Find everything that is wrong with tool.json")
    .option("--fix", "Rewrite what the older dialect spells differently", false)
    .option("--strict", "Fail on warnings too", false)
    .example("validate")
    .example("validate --strict --format json")
    .example("validate --fix apps/*/tool.json")
    .example("validate --format github           # marks the lines of a pull request")
    .example("validate --format sarif > problems.sarif")
    .example("validate - < tool.json")
    .action(
      (file, flags): Run =>
        async (context) =>
          (await import("./commands/validate.ts")).validate(context, file, flags),
    )

    .command("run <hook>", "Run a hook: prebuild, build, postbuild, predeploy, postdeploy or clean")
    .option("-s, --stage", "Take the hook of `stage` (staging)", "")
    .example("run build")
    .example("run build --stage production")
    .action(
      (hook, flags): Run =>
        async (context) =>
          (await import("./commands/run.ts")).run(context, hook, flags),
    )

    .command("lsp", "Serve editors that speak the Language Server Protocol")
    .option("--stdio", "Speak on stdin and stdout", false)
    .option("--node-ipc", "Speak over the channel of a parent process of Node", false)
    .option("--clientProcessId", "End when the process `id` does, as editors ask for", "")
    .example("lsp --stdio")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/lsp.ts")).lsp(context, flags),
    )

    .command("docs", "Open the reference of tool.json")
    .example("docs")
    .action((): Run => async (context) => (await import("./commands/docs.ts")).docs(context))

    .command("completion <shell>", "Print what teaches bash, zsh or fish to complete")
    .option("--line", "Print what may stand at the end of a command `line` instead, as that script asks", "")
    .example("completion bash >> ~/.bashrc")
    .example("completion zsh > ~/.zsh/functions/_tool")
    .example("completion fish > ~/.config/fish/completions/tool.fish")
    .action(
      (shell, flags): Run =>
        async (context) =>
          (await import("./commands/completion.ts")).completion(context, shell, flags, describeTable(table())),
    )

    .command("version", "Show the version")
    .example("version")
    .action((): Run => showVersion)

    .command("help [command]", "Show what a command does and takes")
    .example("help logs")
    .action((): Run => (context) => showHelp(context, []));

/** Runs the words after `tool` and answers the exit code: 0 done, 1 failed, 2 misuse, 130 interrupted. */
export async function run(io: Io, argv: readonly string[]): Promise<number> {
  const commands = describeTable(table());
  const invocation = readArgv(argv, commands);
  const context = contextOf(io, invocation.globals);
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
      if (!context.directoryExists()) {
        return context.misuse(`there is no folder ${JSON.stringify(invocation.globals.chdir)}`, "give -C a folder");
      }
      const { handler, args } = table().parse(["node", "tool", ...invocation.argv], { lazy: true });
      return (handler(...args) as Run)(context);
    }
  }
}

async function showVersion(context: Context): Promise<number> {
  await context.print(context.format === "json" ? JSON.stringify({ version }) : version);
  return EXIT.ok;
}

async function showHelp(context: Context, topic: readonly string[]): Promise<number> {
  const commands = describeTable(table());
  const [name, ...more] = topic;
  const command = commands.find((candidate) => candidate.name === name);
  if (name !== undefined && (command === undefined || more.length > 0)) {
    const { message, hint } =
      command === undefined
        ? explainUnknown(topic, commands, context)
        : { message: `tool ${name} has no command ${JSON.stringify(more[0])}`, hint: `see tool help ${name}` };
    return context.misuse(message, hint);
  }
  if (context.format === "json") {
    const described = commands.map(({ minWords: _, maxWords: __, ...rest }) => rest);
    const document = command === undefined ? { commands: described } : described.find((one) => one.name === name);
    await context.print(JSON.stringify(document, null, 2));
  } else {
    await context.print(renderHelp(commands, command, context.io.stdout));
  }
  return EXIT.ok;
}

/** The process: the real effects, the exit code, and the last word on what nobody expected. */
export async function main(): Promise<void> {
  const io = processIo();
  const argv = process.argv.slice(2);
  let code: number;
  try {
    code = await run(io, argv);
  } catch (error) {
    code = EXIT.failed;
    await contextOf(io, readArgv(argv, describeTable(table())).globals).crash(error);
  }
  await io.stdout.flush();
  await io.stderr.flush();
  // Not left to the event loop: a terminal's stdin or a forgotten handle would keep the process.
  process.exit(code);
}
