// The map of the command line: every command, its flags, and the file that runs it, imported when it runs.
import sade from "sade";
import { commandsBelow, readArgv, unknownBelow } from "./argv.ts";
import { type Context, contextOf, EXIT } from "./context.ts";
import { renderHelp } from "./help.ts";
import { type Io, processIo } from "./io.ts";
import { type Command, describeTable } from "./table.ts";
import { explainUnknown, stagesHere } from "./unknown-command.ts";
import { version } from "./version.ts";
import { refusedHere } from "./windows.ts";

type Run = (context: Context) => Promise<number>;

/** A flag's description begins with the name of its value, if it takes one; `...` says that the flag may be repeated. */
export const table = () =>
  sade("tool")
    .command("deploy [stage]", "Build and deploy to a stage (default: staging)")
    .option("--no-build", "Deploy the files as they are, without running the build hooks")
    .example("                                 # the same as tool deploy staging")
    .example("production                       # the same as tool deploy production")
    .example("deploy staging --verbose         # lists excluded files and why")
    .example("deploy production --format json")
    .action(
      (stage, flags): Run =>
        async (context) =>
          (await import("./commands/deploy.ts")).deploy(context, stage, { build: flags.build !== false }),
    )

    .command("rollback [version]", "Restore the previous deployment, or the one of a commit, tag or version")
    .option("-s, --stage", "<stage> Stage to roll back (default: staging)", "")
    .example("rollback                         # run again to return")
    .example("rollback v1.4.0 --stage production")
    .action(
      (version, flags): Run =>
        async (context) =>
          (await import("./commands/rollback.ts")).rollback(context, version, flags),
    )

    .command("deploys", "List the deployments that are kept, newest first")
    .option("-s, --stage", "<stage> Only those of this stage", "")
    .example("deploys")
    .example("deploys --stage production --format json")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/deploys.ts")).deploys(context, flags),
    )

    .command("url", "Print a stage's URL")
    .option("-s, --stage", "<stage> Stage (default: staging)", "")
    .option("-o, --open", "Open the URL in the browser", false)
    .option("-c, --copy", "Copy the URL to the clipboard", false)
    .example("url --open")
    .example("$ curl $(tool url --stage production)")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/url.ts")).url(context, flags),
    )

    .command("prune", "Remove old deployments of a stage")
    .option("-s, --stage", "<stage> Stage (default: staging)", "")
    .option("-r, --retain", "<number> Deployments to keep (default: 30)", "")
    .example("prune --stage production --retain 10")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/prune.ts")).prune(context, flags),
    )

    .command("stack", "Show stages, endpoints, certificates and name servers")
    .example("stack")
    .action((): Run => async (context) => (await import("./commands/stack.ts")).status(context))

    .command("stack status", "Same as stack")
    .example("stack status --format json")
    .action((): Run => async (context) => (await import("./commands/stack.ts")).status(context))

    .command("stack plan", "Show what stack apply would change or replace")
    .example("stack plan")
    .action((): Run => async (context) => (await import("./commands/stack.ts")).plan(context))

    .command("stack apply", "Create or change stages, domains, alerts and warming to match tool.json")
    .option("-y, --yes", "Do not ask before removing or replacing resources", false)
    .example("stack apply")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/stack.ts")).apply(context, flags),
    )

    .command("stack delete", "Remove everything that deploying created, for all stages")
    .option("-y, --yes", "Do not ask", false)
    .option("--logs", "Remove the logs too", false)
    .example("stack delete")
    .example("stack delete --yes --logs")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/stack.ts")).remove(context, flags),
    )

    .command("stack policy", "Print the access policy that deploying needs")
    .example("stack policy > policy.json")
    .action((): Run => async (context) => (await import("./commands/stack.ts")).policy(context))

    .command("metrics", "Show requests, durations, errors and estimated cost of a stage")
    .option("-s, --stage", "<stage> Stage (default: staging)", "")
    .option("-S, --since", "<duration> Period to show (default: 1M, 30 days)", "")
    .example("metrics --stage production --since 7d")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/metrics.ts")).metrics(context, flags),
    )

    .command("domains ls", "List the account's domains")
    .example("domains ls")
    .action((): Run => async (context) => (await import("./commands/domains.ts")).ls(context))

    .command("domains check <domain>", "Check a domain's availability and price")
    .example("domains check example.dev")
    .action(
      (domain): Run =>
        async (context) =>
          (await import("./commands/domains.ts")).check(context, domain),
    )

    .command("domains buy", "Buy a domain, interactively, with private registration")
    .example("domains buy")
    .action((): Run => async (context) => (await import("./commands/domains.ts")).buy(context))

    .command("start", "Run the app locally, behind the same proxy as when deployed")
    .option("-c, --command", "<command> Start the server with this command", "")
    .option("-o, --open", "Open the browser when the app is ready", false)
    .option("--address", "<address> Address to listen on (default: :3000)", "")
    .option("--logs-url", "<url> Also send the log to this log service; the token is in TOOL_LOGS_TOKEN", "")
    .example("start")
    .example("start --address 127.0.0.1:8080 --open")
    .example("start --command 'node --watch app.js'")
    .example("start --logs-url http://localhost:5000")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/start.ts")).start(context, flags),
    )

    .command("logs [query]", "Search or follow the logs")
    .option("-f, --follow", "Keep printing new entries", false)
    .option("--live", "With -f: stream immediately; drops entries above 500/s", false)
    .option("-S, --since", "<duration> Start: a duration ago or a time (default: 1d; files: all)", "")
    .option("--until", "<duration> End: a duration ago or a time", "")
    .option("-e, --expand", "Print one field per line", false)
    .option("-n, --limit", "<number> Maximum number of entries: the newest; from files and with -f, the first", "")
    .option("--count", "Print only the number of entries", false)
    .option("--file", "<path...> Read a plain or gzip file, a quoted glob, or - for stdin", "")
    .option("--service", "<url> Query this log service; the token is in TOOL_LOGS_TOKEN", "")
    .option("--project", "<id> Project on the service (default: the name in tool.json)", "")
    .example("logs error                       # responses with status 5xx too")
    .example("logs 'status >= 400 duration > 1s'")
    .example("logs 'method in (POST, PUT) and not path = /health'")
    .example("logs 'message contains \"timeout\" or user.email = *@example.com'")
    .example("logs -f -S 15m 'production error'")
    .example("logs @slow                       # a query of logs.queries in tool.json")
    .example("logs --file 'logs/*.ndjson*' --format json 'size > 1mb'")
    .example("logs --count -S 1h 'status >= 500'")
    .example("logs --service http://localhost:5000 -f 'status >= 500'")
    .action(
      (query, flags): Run =>
        async (context) =>
          (await import("./commands/logs.ts")).logs(context, query, flags),
    )

    .command("build", "Write what a deploy uploads to out.zip, or to stdout")
    .option("-s, --stage", "<stage> Stage to build for (default: staging)", "")
    .option("--size", "Show sizes by folder instead, largest first", false)
    .example("build")
    .example("build --stage production > ../app.zip")
    .example("build --size                      # --verbose shows every file")
    .example("build --verbose                   # lists excluded files and why")
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

    .command("validate [file...]", "Check tool.json and report every problem")
    .option("--fix", "Migrate the older dialect and apply safe fixes", false)
    .option("--strict", "Treat warnings as errors", false)
    .example("validate")
    .example("validate .                          # all tool.json and *.logq below")
    .example("validate --strict --format json")
    .example("validate --fix apps/*/tool.json")
    .example("validate --format github           # annotates pull requests")
    .example("validate --format sarif > problems.sarif")
    .example("validate - < tool.json")
    .action(
      (file, flags): Run =>
        async (context) =>
          (await import("./commands/validate.ts")).validate(context, file, flags),
    )

    .command("run <hook>", "Run a hook: prebuild, build, postbuild, predeploy, postdeploy or clean")
    .option("-s, --stage", "<stage> Stage whose hook to run (default: staging)", "")
    .example("run build")
    .example("run build --stage production")
    .action(
      (hook, flags): Run =>
        async (context) =>
          (await import("./commands/run.ts")).run(context, hook, flags),
    )

    .command("lsp", "Start the language server for editors")
    .option("--stdio", "Communicate over stdin and stdout", false)
    .option("--node-ipc", "Communicate over the IPC channel of a parent Node process", false)
    .option("--clientProcessId", "<id> Exit when process <id> exits; editors set this", "")
    .example("lsp --stdio")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/lsp.ts")).lsp(context, flags),
    )

    .command("service init", "Create the data directory of a log service and its first token")
    .option("--data", "<dir> Data directory to create", "")
    .example("service init --data /var/lib/logs")
    .example('service init --data logs --format json   # {"token": ...}')
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/service.ts")).init(context, flags),
    )

    .command("service start", "Run the log service")
    .option("--data", "<dir> Data directory", "")
    .option("--address", "<address> Address to listen on (default: :5000); other than loopback needs TLS", "")
    .option("--tls-cert", "<file> TLS certificate (PEM)", "")
    .option("--tls-key", "<file> TLS private key (PEM)", "")
    .example("service start --data /var/lib/logs")
    .example("service start --data d --address 0.0.0.0:443 --tls-cert c --tls-key k")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/service.ts")).start(context, flags),
    )

    .command("service token <do> [id]", "Create, list or remove tokens: add, ls, rm")
    .option("--data", "<dir> Data directory", "")
    .option("--scope", "<scope...> For add: a scope of the token, such as events:write, or all", "")
    .option("--description", "<text> For add: where the token is used", "")
    .example("service token add --data logs --scope events:write --description web")
    .example("service token ls --data logs")
    .example("service token rm tok_4h7 --data logs")
    .action(
      (action, id, flags): Run =>
        async (context) =>
          (await import("./commands/service.ts")).token(context, action, id, flags),
    )

    .command("service check", "Verify a log service's files and report damaged or missing ones")
    .option("--data", "<dir> Data directory", "")
    .option("--repair", "Rebuild manifests and summaries, and quarantine damaged files", false)
    .option("--accept-loss", "<id...> Accept this loss: answers stop reporting it", "")
    .example("service check --data logs")
    .example("service check --data logs --repair")
    .action(
      (flags): Run =>
        async (context) =>
          (await import("./commands/service-check.ts")).check(context, flags),
    )

    .command("service backup <to>", "Back up a log service into a new folder; it may be running")
    .option("--data", "<dir> Data directory", "")
    .example("service backup --data logs /backup/2026-01-31")
    .action(
      (folder, flags): Run =>
        async (context) =>
          (await import("./commands/service.ts")).backup(context, folder, flags),
    )

    .command("service restore <from>", "Create a data directory from a backup")
    .option("--data", "<dir> Data directory to create", "")
    .example("service restore --data logs /backup/2026-01-31")
    .action(
      (folder, flags): Run =>
        async (context) =>
          (await import("./commands/service.ts")).restore(context, folder, flags),
    )

    .command("docs", "Open the reference for tool.json")
    .example("docs")
    .action((): Run => async (context) => (await import("./commands/docs.ts")).docs(context))

    .command("docs service", "Open the API reference of the log service")
    .example("docs service")
    .action((): Run => async (context) => (await import("./commands/docs.ts")).serviceDocs(context))

    .command("completion <shell>", "Print a completion script for bash, zsh or fish")
    .option("--line", "<line> Print completions for a command line; the script uses this", "")
    .example("completion bash >> ~/.bashrc")
    .example("$ mkdir -p ~/.zsh/functions")
    .example("completion zsh > ~/.zsh/functions/_tool")
    .example("$ mkdir -p ~/.config/fish/completions")
    .example("completion fish > ~/.config/fish/completions/tool.fish")
    .action(
      (shell, flags): Run =>
        async (context) =>
          (await import("./commands/completion.ts")).completion(context, shell, flags, describeTable(table())),
    )

    .command("version", "Print the version")
    .example("version")
    .action((): Run => showVersion)

    .command("help [command...]", "Show help for a command")
    .example("help logs")
    .example("help stack policy")
    .action((): Run => (context) => showHelp(context, []));

/** Runs the words after `tool` and answers the exit code, as EXIT has them; throws what no command expects. */
export async function run(io: Io, argv: readonly string[]): Promise<number> {
  const commands = describeTable(table());
  let invocation = readArgv(argv, commands);
  const context = contextOf(io, invocation.globals);
  // `tool production`: a word that names a stage stands for deploying it, and no other word does.
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
  const [first, second] = topic;
  const name = topic.length === 0 ? undefined : topic.join(" ");
  const command = commands.find((candidate) => candidate.name === name);
  const below = first === undefined ? commands : commandsBelow(first, commands);
  if (name !== undefined && command === undefined && (below.length === 0 || second !== undefined)) {
    const owner = commands.find((candidate) => candidate.name === topic.slice(0, -1).join(" "));
    const { message, hint } =
      below.length > 0 && topic.length === 2
        ? unknownBelow(first!, second!, commands)
        : owner === undefined
          ? explainUnknown(topic, commands, context)
          : {
              message: `tool ${owner.name} has no command ${JSON.stringify(topic.at(-1))}`,
              hint: `see tool help ${owner.name}`,
            };
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

/** The process: the real effects, the exit code, and the last word on what nobody expected. */
export async function main(): Promise<void> {
  const io = processIo();
  const argv = process.argv.slice(2);
  const end = async (code: number) => {
    await io.stdout.flush();
    await io.stderr.flush();
    // Not left to the event loop: a terminal's stdin or a forgotten handle would keep the process.
    process.exit(code);
  };
  // A full disk fails every write after the first one too, the last words among them.
  let failure: Promise<number> | undefined;
  const failOnce = (error: unknown) => {
    failure ??= fail(io, argv, error);
    return failure;
  };
  // What no command awaits: a listener that throws, a full disk, a promise that nobody looks at.
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error: unknown) => void failOnce(error).then(end));
  }
  // Until the end is reached: an event loop that runs dry before is no success.
  process.exitCode = EXIT.failed;
  await end(await run(io, argv).catch(failOnce));
}

/** The last word on what ended a command unexpectedly; answers the exit code. stdout stays one valid document. */
async function fail(io: Io, argv: readonly string[], error: unknown): Promise<number> {
  const invocation = readArgv(argv, describeTable(table()));
  const context = contextOf(io, invocation.globals);
  const code = await context.crash(error);
  if (code === EXIT.internal && !io.stdout.hasWritten) {
    const { failedDocument } = await import("./output/failed-document.ts");
    const document = failedDocument(invocation, context.format, error);
    if (document !== undefined) await context.print(document);
  }
  return code;
}
