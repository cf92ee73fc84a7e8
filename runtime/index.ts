import { resolve } from "node:path";
import type { Entry } from "../grammar/entry.ts";
import { describe, type Parsed } from "../grammar/problem.ts";
import { parseLocation, parseRoute } from "../grammar/route/index.ts";
import { type Clock, systemClock } from "../grammar/units/clock.ts";
import { type Injection, type ResolvedConfig, servesStatic } from "../schema/index.ts";
import { EntryLog } from "./entries.ts";
import type { Handler, ProxyRequest, ProxyResponse } from "./exchange.ts";
import { hop } from "./hop.ts";
import type { CorsOptions } from "./middleware/cors.ts";
import type { ErrorPageOptions } from "./middleware/error-pages.ts";
import type { InjectionOptions } from "./middleware/injection.ts";
import type { EntryTimes } from "./output.ts";
import { type PipelineOptions, pipeline } from "./pipeline.ts";
import { Supervisor, type SupervisorOptions } from "./process.ts";
import { proxyError } from "./proxy-error.ts";
import { listen } from "./server.ts";

export interface ProxyServerOptions {
  /** With the stage's overrides applied. */
  readonly config: ResolvedConfig;
  /** The project's folder: the app runs in it, and the configuration's paths are relative to it. */
  readonly directory: string;
  readonly stage: string;
  /** Version of the deployment, as the entries name it; `development` locally. */
  readonly version: string;
  /** Run by a shell; undefined for a static site. */
  readonly command?: string | undefined;
  /** Environment of the app's process. PORT and TOOL_STAGE are added to it, and NODE_ENV if it is missing. */
  readonly env: NodeJS.ProcessEnv;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Takes entries in batches, in order. It should return at once. */
  readonly log: (entries: readonly Entry[]) => void;
  /** SHA or tag of the Git commit; a deployment has it in TOOL_COMMIT. Every entry carries it. */
  readonly commit?: string | undefined;
  /** Whose time the app's entries have: what their lines say (default), or when they came. */
  readonly entryTimes?: EntryTimes;
  /**
   * For the developer of the app: files that exist and were requested, but are not served, are named in an entry, each
   * once.
   */
  readonly isDevelopment?: boolean | undefined;
  /** Answers say why the app is not there, or why the connection to it broke; by default in development only. */
  readonly tellsReasons?: boolean | undefined;
  /** The machine's by default. */
  readonly clock?: Clock | undefined;
  /** Begins the ids of the entries; without it they have none. */
  readonly instance?: string | undefined;
}

export interface RunningServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** When the app's process was started; undefined while there is none. */
  appSinceMs(): number | undefined;
  /**
   * Applies other options (all but the address and the log), on the same address and connections. If the app has to be
   * restarted for them, requests wait meanwhile, and it resolves with true when the old process is gone.
   */
  change(options: ProxyServerOptions): Promise<boolean>;
  /**
   * Stops accepting, lets requests end (five seconds at most), then stops the app: SIGTERM, and SIGKILL after
   * `proxy.shutdown_timeout`.
   */
  close(): Promise<void>;
  /** Ends the app's processes now, for a caller that is about to exit. */
  kill(): void;
}

/** An app, or a static site, behind the pipeline, without the edge that requests come in at. */
export interface Application {
  readonly handler: Handler;
  /** Undefined for a static site. It is not started yet. */
  readonly supervisor: Supervisor | undefined;
  readonly entries: EntryLog;
  readonly clock: Clock;
  /** Time that the app has to listen. */
  readonly listenTimeoutMs: number;
  /** The app alone, or the files of a static site: no rules, no error pages, no entry of the request. */
  readonly bare: Handler;
  /** The proxy's own answer to a request that failed further out than the pipeline, with its pages and header rules. */
  failure(request: ProxyRequest, status: number, message: string): Promise<ProxyResponse>;
}

export type ApplicationOptions = Omit<ProxyServerOptions, "host" | "port">;

/** Creates the part that the local server and the function platform have in common. Runs nothing. */
export function createApplication(options: ApplicationOptions): Application {
  const { stage, version, commit, log, instance, clock = systemClock } = options;
  const entries = new EntryLog({ log, clock, stage, version, instance, ...(commit !== undefined && { commit }) });
  const shared = { entries, clock };
  const supervision = supervisionOf(options, shared);
  const supervisor = supervision && new Supervisor(supervision);
  return {
    handler: handlerOf(options, shared, supervisor),
    supervisor,
    entries,
    clock,
    listenTimeoutMs: options.config.proxy.listen_timeout * 1000,
    bare: (request) => (supervisor ? appOf(options, shared, supervisor) : bareFiles(options, shared))(request),
    failure: (request, status, message) => {
      const app: Handler = async (failed) => proxyError(failed, status, message);
      const layers = { ...pipelineOptions(options), ...shared };
      return pipeline({ ...layers, logsRequests: false, redirects: [], static: undefined, app })(request);
    },
  };
}

/**
 * Serves an app, or a static site, behind the pipeline. Resolves when the address accepts connections; the app starts
 * meanwhile, requests wait for it, and its failures are written as entries. Rejects if the port is taken.
 */
export async function serve(options: ProxyServerOptions): Promise<RunningServer> {
  const { host, port } = options;
  let { config } = options;
  const application = createApplication(options);
  const { entries, clock } = application;
  let { handler, supervisor } = application;
  const server = await listen({
    handler: (request) => handler(request),
    entries,
    clock,
    logsRequests: () => !config.logs.disable,
    host,
    port,
    switchesProtocols: () => supervisor !== undefined,
  });
  supervisor?.start();

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    host,
    port: server.port,
    appSinceMs: () => supervisor?.sinceMs,
    kill: () => supervisor?.kill(),
    change: async (changed) => {
      const last = supervisor;
      const next = supervisionOf(changed, application);
      if (last === undefined || next === undefined) {
        supervisor = next && new Supervisor(next);
        supervisor?.start();
      }
      config = changed.config;
      handler = handlerOf(changed, application, supervisor);
      if (last === undefined) return next !== undefined;
      if (next !== undefined) return last.change(next);
      await last.drained();
      await last.stop();
      return true;
    },
    close: async () => {
      supervisor?.refuseToWait();
      await server.close();
      await supervisor?.stop();
      entries.flush();
    },
  };
}

/** The parts that everything that runs shares. */
type Shared = Pick<Application, "entries" | "clock">;

function handlerOf(
  options: ApplicationOptions,
  { entries, clock }: Shared,
  supervisor: Supervisor | undefined,
): Handler {
  const app = supervisor && appOf(options, { entries, clock }, supervisor);
  return pipeline({ ...pipelineOptions(options), entries, clock, app });
}

function appOf(options: ApplicationOptions, { entries, clock }: Shared, supervisor: Supervisor): Handler {
  const { config, stage, isDevelopment, tellsReasons = isDevelopment } = options;
  return hop({ supervisor, entries, clock, stage, timeoutMs: config.proxy.timeout * 1000, tellsReasons });
}

function bareFiles(options: ApplicationOptions, shared: Shared): Handler {
  const layers = { ...pipelineOptions(options), ...shared };
  return pipeline({
    ...layers,
    logsRequests: false,
    headers: [],
    redirects: [],
    errorPages: undefined,
    app: undefined,
  });
}

/** Undefined for a static site, which has no process. */
function supervisionOf(options: ApplicationOptions, { entries, clock }: Shared): SupervisorOptions | undefined {
  const { command, config, env, stage, entryTimes: times = "own" } = options;
  if (command === undefined) return undefined;
  const { disable, stdout, stderr } = config.logs;
  return {
    command,
    directory: resolve(options.directory),
    env,
    stage,
    listenTimeoutMs: config.proxy.listen_timeout * 1000,
    shutdownTimeoutMs: config.proxy.shutdown_timeout * 1000,
    backoff: config.proxy.backoff,
    output: disable ? undefined : { stdout, stderr, times },
    entries,
    clock,
  };
}

function pipelineOptions(options: ApplicationOptions): Omit<PipelineOptions, "entries" | "clock" | "app"> {
  const { config, command } = options;
  const directory = resolve(options.directory);
  const { type } = config;
  return {
    logsRequests: !config.logs.disable,
    logsRules: config.logs.rules,
    headers: Object.entries(config.headers).map(([pattern, headers]) => ({
      route: checked(pattern, parseRoute(pattern)),
      headers,
    })),
    cors: corsOptions(config.cors),
    redirects: Object.entries(config.redirects).map(([pattern, { location, status, force, ...unread }]) => {
      allRead(unread);
      return {
        route: checked(pattern, parseRoute(pattern)),
        location: checked(location, parseLocation(location)),
        status,
        force,
      };
    }),
    errorPages: errorPageOptions(config.error_pages, directory),
    inject: injectionOptions(config.inject, directory),
    static: servesStatic(config)
      ? { type, directory, ...folderOf(config.static), command, namesRefused: options.isDevelopment }
      : undefined,
  };
}

/**
 * Takes the rest of a section of the configuration after every option is taken out: an option that nothing reads does
 * not compile.
 */
function allRead(_unread: Readonly<Record<string, never>>): void {}

function errorPageOptions(pages: ResolvedConfig["error_pages"], directory: string): ErrorPageOptions | undefined {
  const { disable, dir, variables, ...unread } = pages;
  allRead(unread);
  return disable ? undefined : { dir: resolve(directory, dir), variables };
}

function injectionOptions(inject: ResolvedConfig["inject"], directory: string): InjectionOptions | undefined {
  const { head, body, ...unread } = inject;
  allRead(unread);
  return head.length + body.length > 0 ? { head: head.map(injected), body: body.map(injected), directory } : undefined;
}

function injected({ type, value, file, ...unread }: Injection): InjectionOptions["head"][number] {
  allRead(unread);
  return { type, value, file };
}

function folderOf({ dir, prefix, ...unread }: NonNullable<ResolvedConfig["static"]>) {
  allRead(unread);
  return { dir, prefix };
}

function corsOptions(cors: ResolvedConfig["cors"]): CorsOptions | undefined {
  if (!cors?.enable) return undefined;
  const { enable: _, allowed_origins, allowed_methods, allowed_headers, exposed_headers, ...others } = cors;
  const { max_age, allow_credentials, debug, ...unread } = others;
  allRead(unread);
  return {
    origins: allowed_origins,
    methods: allowed_methods,
    headers: allowed_headers,
    exposedHeaders: exposed_headers,
    maxAgeSeconds: max_age,
    credentials: allow_credentials,
    debug,
  };
}

/** The configuration was checked before it came here; what does not parse now is the caller's bug. */
function checked<T>(source: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`${JSON.stringify(source)}: ${parsed.problems.map(describe).join("; ")}`);
}
