import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../grammar/entry.ts";
import { openDevelopmentLog } from "../../runtime/development-log.ts";
import { type RunningServer, serve } from "../../runtime/index.ts";
import { type Config, forStage, type ResolvedConfig } from "../../schema/index.ts";
import { CONFIG_FILE, type ConfigFile, isConfigValid, readConfigFile } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import type { StopSignal } from "../io.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { shortList } from "../output/short-list.ts";
import type { VariableValues } from "../platform/variables.ts";
import { appEnvironment } from "../project/app-environment.ts";
import { type ResolvedProject, resolveProject } from "../project/resolve-config.ts";
import { stageVariables } from "../stage-variables.ts";
import { type Address, parseAddress } from "../start/address.ts";
import { compileFirst } from "../start/compile-first.ts";
import { entryView } from "../start/entry-view.ts";
import { showFailureOnce } from "../start/failed-starts.ts";
import { wantsFirstConfig, writeFirstConfig } from "../start/first-run.ts";
import { liveLine } from "../start/live-line.ts";
import { nextFreePort, portOwner } from "../start/ports.ts";
import { tellOfChangedProgram } from "../start/program-change.ts";
import { watchFile } from "../start/watch-file.ts";
import type { Options } from "../table.ts";

const STAGE = "development";
const DEFAULT_ADDRESS = ":3000";
/** How many ports the default address tries when ports are taken. To run more apps, name their ports. */
const PORT_TRIES = 20;

/**
 * `tool start`: runs the app behind the proxy on this machine until a signal. It runs the server and no hooks. A changed
 * tool.json takes effect at once and without a gap; an invalid one is reported and changes nothing.
 */
export async function start(context: Context, options: Options<"start">): Promise<number> {
  const { io } = context;
  const address = parseAddress(options.address ?? DEFAULT_ADDRESS);
  if (address === undefined) {
    const written = JSON.stringify(options.address);
    return context.misuse(`${written} is not an address`, "write :3000, 127.0.0.1:8080, 0.0.0.0:3000 or [::1]:3000");
  }
  const path = join(context.directory, CONFIG_FILE);
  if (await wantsFirstConfig(context)) await writeFirstConfig(context, options);
  const project = await readProject(context, options);
  const variables = await stageVariables(context, { ...project.file, stage: STAGE, flags: options });
  const service =
    options["logs-url"] === undefined ? undefined : await serviceOf(context, options["logs-url"], project.config.name);

  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  let server: RunningServer | undefined;
  const release = io.onSignal((signal) => {
    if (stoppedBy !== undefined) {
      server?.kill();
      io.exitNow(EXIT.interrupted);
    }
    stoppedBy = signal;
    // The terminal has echoed ^C.
    if (signal === "SIGINT" && io.stderr.isTerminal) void context.say("");
    stop.abort();
  });
  // The reader of the entries is gone, and nothing else was told the server's address.
  io.stdout.closed.addEventListener("abort", () => stop.abort(), { once: true });
  // If an editor crashes, an app that writes nothing would never notice.
  io.onParentGone(() => stop.abort());

  const developmentLog = openDevelopmentLog(context.directory, {
    onError: (error) => void context.say(`warning: ${error.message}`),
  });
  const view = entryView(io.stdout, { textOf: entryText(context), clock: io.clock });
  // Not awaited: a reader that stopped reading must not block anything else.
  const note = (text: string) => (context.format === "json" ? void context.say(text) : view.say(text));
  const shipper = service?.open((text) => void context.say(`warning: ${text}`));
  const shown =
    context.format === "json" || context.verbose ? (entries: readonly Entry[]) => entries : showFailureOnce();
  const log = (entries: readonly Entry[]) => {
    developmentLog.write(entries);
    shipper?.write(entries);
    view.show(shown(entries));
  };

  const exitCode = () => (stoppedBy === undefined || stoppedBy === "SIGTERM" ? EXIT.ok : EXIT.interrupted);

  try {
    await compileFirst(context, project.command, {
      env: appEnvironment(context, project.config, STAGE, variables),
      say: note,
    });
    if (stop.signal.aborted) return exitCode();
    const listening = await listen(context, { ...project, variables }, address, {
      log,
      isDefault: options.address === undefined,
      note,
    });
    server = listening;
    const { host, port } = server;
    const url = announce(context, server.url, { ...project, variables }, note);
    // Which team that is may depend on what was signed in to last.
    if (service !== undefined) note(`Its log goes to the ${service.place}`);
    if (address.isExposed) note(`It listens on ${host}: other machines can reach it.`);
    io.notifyParent({ type: "listening", url });
    if (options.open && !stop.signal.aborted && !(await openInBrowser(io, url))) {
      note(`There is no display to open a browser on: visit ${url}`);
    }

    void tellOfChangedProgram(context, project.command, { say: note, server: listening, signal: stop.signal });
    await watchFile(
      path,
      project.text,
      async () => {
        const file = await context.attempt(readConfigFile(context));
        const changed = file && (await context.attempt(projectOf(context, options, file)));
        if (changed === undefined) {
          await context.say("The app keeps its previous configuration until that is mended.");
          // Only what is wrong with the file's text may change with other files, and may be mended by now.
          return file !== undefined;
        }
        const restarted = await listening.change(serveOptions(context, { ...changed, variables }, { host, port, log }));
        note(`${CONFIG_FILE} reloaded; ${restarted ? "app restarts" : "app keeps running"}.`);
        return true;
      },
      { signal: stop.signal, clock: io.clock, isMended: () => isConfigValid(context) },
    );
  } finally {
    await server?.close();
    await Promise.all([developmentLog.close(), shipper?.close()]);
    release();
  }
  const code = exitCode();
  // Nobody reads the rest of the output, perhaps for ever.
  if (!(await view.close())) io.exitNow(code);
  return code;
}

/** Says where the app is, and which variables it has; returns the address for a browser on this machine. */
function announce({ io }: Context, listening: string, project: Started, note: (text: string) => void): string {
  // A browser cannot open the address that means all addresses.
  const url = listening.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, "//localhost");
  // Without colors: editors wait for this line.
  note(`${project.config.name} is at ${url}`);
  const names = Object.keys(project.variables).sort();
  const own = names.filter((name) => io.env[name] === undefined);
  if (own.length > 0) note(`Variables of tool env: ${shortList(own)}`);
  const others = names.filter((name) => !own.includes(name));
  if (others.length > 0) note(`Variables of the shell that replace those of tool env: ${shortList(others)}`);
  return url;
}

/** Creates the sender of entries to a log service, for the project with the app's name. */
async function serviceOf(context: Context, url: string, name: string) {
  const { projectIdOf } = await import("../../schema/project-id.ts");
  const { placeText, serviceAddress } = await import("../service/service-address.ts");
  // The name of an app has letters, so that it has an id.
  const project = projectIdOf(name)!;
  const address = await serviceAddress(context, url, project);
  if (!address.ok) return context.misuse(address.problems[0].message, address.problems[0].hint);
  const { rpcClient } = await import("../../schema/rpc-client.ts");
  const { shipEntries } = await import("../service/ship-entries.ts");
  const { userAgent } = await import("../user-agent.ts");
  const client = rpcClient({ ...address, userAgent: userAgent() });
  return {
    place: placeText(address),
    open: (note: (text: string) => void) =>
      shipEntries({ client, url, project, name, remedy: address.remedy, note, clock: context.io.clock }),
  };
}

interface Project extends ResolvedProject {
  readonly text: string;
  /** tool.json as it is written and with all defaults, both without the stage's overrides. */
  readonly file: { readonly config: Config; readonly resolved: ResolvedConfig };
  /** Undefined for a static site. */
  readonly command: string | undefined;
}

const readProject = async (context: Context, options: Options<"start">): Promise<Project> =>
  projectOf(context, options, await readConfigFile(context));

async function projectOf(context: Context, options: Options<"start">, file: ConfigFile): Promise<Project> {
  const staged = forStage(file.config, STAGE);
  const command = options.command ?? staged.proxy?.command;
  const written = command === undefined ? staged : { ...staged, proxy: { ...staged.proxy, command } };
  const { config, inference } = resolveProject(context, written, { development: true });
  if (config.type === "static" && options.command !== undefined) {
    return context.misuse("--command starts a server, and this is a static site", 'see "type" in tool.json');
  }
  // The default command, as nothing names another one. `validate` does not check it: it often runs before a build.
  const isDefault = command === undefined && inference.marker === undefined && config.type !== "static";
  if (isDefault && !existsSync(join(context.directory, "server"))) {
    const example = JSON.stringify(likelyCommand(readdirSync(context.directory)));
    await context.say(
      `warning: no file here says how the app starts, and there is no ./server\n  write it into ${CONFIG_FILE}: "proxy": { "command": ${example} }`,
    );
  }
  return {
    text: file.text,
    file: { config: file.config, resolved: config },
    config,
    inference,
    command: config.type === "static" ? undefined : config.proxy.command,
  };
}

/** By the ending of a file's name. */
const PROGRAMS: Readonly<Record<string, string>> = {
  js: "node",
  mjs: "node",
  cjs: "node",
  py: "python3",
  rb: "ruby",
  php: "php -S 127.0.0.1:$PORT",
  sh: "sh",
};

/** A command for the example of a message: of a program in the folder, those with a usual name first. */
function likelyCommand(names: readonly string[]): string {
  const programs = names.filter((name) => /^[\w-]+\.\w+$/.test(name) && Object.hasOwn(PROGRAMS, endingOf(name))).sort();
  const usual = programs.find((name) => /^(index|main|server|app|start|run)\./.test(name));
  const program = usual ?? (programs.length === 1 ? programs[0]! : "index.js");
  return `${PROGRAMS[endingOf(program)]} ${program}`;
}

const endingOf = (name: string) => name.slice(name.lastIndexOf(".") + 1);

type Log = (entries: readonly Entry[]) => void;

/** A project with the variables that `tool env` keeps for it, which are read once. */
type Started = Project & { readonly variables: VariableValues };

function serveOptions(context: Context, project: Started, at: { host: string; port: number; log: Log }) {
  const { config, command, variables } = project;
  return {
    config,
    directory: context.directory,
    stage: STAGE,
    version: STAGE,
    ...(command !== undefined && { command }),
    env: appEnvironment(context, config, STAGE, variables),
    isDevelopment: true,
    ...at,
  };
}

/** If the port is taken, the default address moves on to the next free port; an address that was asked for does not. */
async function listen(
  context: Context,
  project: Started,
  { host, port }: Address,
  options: { log: Log; isDefault: boolean; note: (text: string) => void },
): Promise<RunningServer> {
  for (let tries = 0; ; tries++) {
    const at = { host, port: port + tries, log: options.log };
    try {
      const server = await serve(serveOptions(context, project, at));
      if (tries > 0) options.note(`Port ${port} is taken${by(port)}: listening on ${server.port} instead.`);
      return server;
    } catch (error) {
      const code = codeOf(error);
      if (code === "EADDRINUSE" && options.isDefault && tries < PORT_TRIES) continue;
      const address = addressText(host, at.port);
      if (code === "EADDRINUSE") {
        const free = await nextFreePort(host, at.port, PORT_TRIES);
        return context.fail(
          `cannot listen on ${address}: it is taken${by(at.port)}`,
          free === undefined
            ? "stop that, or name another --address"
            : `stop that, or use --address ${addressText(host, free)}`,
        );
      }
      if (code === "EACCES")
        return context.fail(`cannot listen on ${address}: permission denied`, "use a port above 1023");
      if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
        return context.fail(`cannot listen on ${address}: this machine has no such address`);
      }
      throw error;
    }
  }
}

function addressText(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function by(port: number): string {
  const owner = portOwner(port);
  return owner === undefined ? "" : ` by ${owner.name} (process ${owner.pid})`;
}

/** The code of a system error, even if it was wrapped. */
function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code !== undefined) return code;
  }
  return undefined;
}

function entryText({ io, format, verbose }: Context): (entry: Entry) => string {
  if (format === "json") return (entry) => `${JSON.stringify(entry)}\n`;
  return liveLine({ color: io.stdout.color, nowMs: io.nowMs() }, verbose);
}
