import { resolve } from "node:path";
import type { Entry } from "../grammar/entry.ts";
import { describe, type Parsed } from "../grammar/problem.ts";
import { parseLocation, parseRoute } from "../grammar/route/index.ts";
import { type ResolvedConfig, servesStatic } from "../schema/index.ts";
import { EntryLog } from "./entries.ts";
import type { Handler } from "./exchange.ts";
import { hop } from "./hop.ts";
import { type PipelineOptions, pipeline } from "./pipeline.ts";
import { Supervisor, type SupervisorOptions } from "./process.ts";
import { listen } from "./server.ts";

export interface ServeOptions {
  /** With the stage's overrides applied. */
  readonly config: ResolvedConfig;
  /** The project's folder: the app runs in it, and the configuration's paths are relative to it. */
  readonly directory: string;
  readonly stage: string;
  /** Of the deployment, as it stands in the entries; `development` locally. */
  readonly version: string;
  /** Run by a shell; undefined for a static site. */
  readonly command?: string | undefined;
  /** Of the app's process. PORT and TOOL_STAGE are set in it, NODE_ENV where it is not there. */
  readonly env: NodeJS.ProcessEnv;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Takes entries in batches, in order. It should return at once. */
  readonly log: (entries: readonly Entry[]) => void;
  /** Of the Git repository, for the entries. */
  readonly commit?: string | undefined;
  /** Requests go to the app as http-proxy sends them, as the reference for our way. */
  readonly hasStockHop?: boolean;
}

export interface RunningServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /**
   * Goes on by other options (all but the address and the log), on the same address and connections. Where the app has
   * to be restarted for it, requests wait meanwhile; resolves with true then, when the old process is gone.
   */
  change(options: ServeOptions): Promise<boolean>;
  /** Stops accepting, lets requests end (five seconds at most), then stops the app (five more, then it is killed). */
  close(): Promise<void>;
  /** Ends the app's processes now, for a caller that is about to exit. */
  kill(): void;
}

/**
 * Serves an app, or a static site, behind the pipeline. Resolves when the address accepts connections; the app starts
 * meanwhile, requests wait for it, and what goes wrong with it is written as entries. Rejects where the port is taken.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host, port, stage, version, commit, log } = options;
  const entries = new EntryLog({ log, stage, version, ...(commit !== undefined && { commit }) });
  let supervisor = supervisorOf(options, entries);
  let handler = handlerOf(options, entries, supervisor);
  const server = await listen({
    handler: (request) => handler(request),
    entries,
    host,
    port,
    switchesProtocols: () => supervisor !== undefined,
  });
  supervisor?.start();

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    host,
    port: server.port,
    kill: () => supervisor?.kill(),
    change: async (changed) => {
      const last = supervisor;
      const next = supervisionOf(changed, entries);
      if (last === undefined || next === undefined) {
        supervisor = next && new Supervisor(next);
        supervisor?.start();
      }
      handler = handlerOf(changed, entries, supervisor);
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

function supervisorOf(options: ServeOptions, entries: EntryLog): Supervisor | undefined {
  const supervision = supervisionOf(options, entries);
  return supervision && new Supervisor(supervision);
}

function handlerOf(options: ServeOptions, entries: EntryLog, supervisor: Supervisor | undefined): Handler {
  const { config, directory, stage } = options;
  const timeoutMs = config.proxy.timeout * 1000;
  return pipeline({
    ...pipelineOptions(config, resolve(directory)),
    entries,
    app: supervisor && hop({ supervisor, entries, stage, timeoutMs, isStock: options.hasStockHop }),
  });
}

/** Undefined for a static site, which has no process. */
function supervisionOf(options: ServeOptions, entries: EntryLog): SupervisorOptions | undefined {
  const { command, config, env, stage } = options;
  if (command === undefined) return undefined;
  return {
    command,
    directory: resolve(options.directory),
    env,
    stage,
    listenTimeoutMs: config.proxy.listen_timeout * 1000,
    backoff: config.proxy.backoff,
    output: config.logs.disable ? undefined : { stdout: config.logs.stdout, stderr: config.logs.stderr },
    entries,
  };
}

function pipelineOptions(config: ResolvedConfig, directory: string): Omit<PipelineOptions, "entries" | "app"> {
  const { type, error_pages: pages } = config;
  return {
    logsRequests: !config.logs.disable,
    headers: Object.entries(config.headers).map(([pattern, headers]) => ({
      route: checked(pattern, parseRoute(pattern)),
      headers,
    })),
    redirects: Object.entries(config.redirects).map(([pattern, { location, status, force }]) => ({
      route: checked(pattern, parseRoute(pattern)),
      location: checked(location, parseLocation(location)),
      status,
      force,
    })),
    errorPages: pages.disable ? undefined : { dir: resolve(directory, pages.dir), variables: pages.variables },
    static: servesStatic(config) ? { type, directory, ...config.static } : undefined,
  };
}

/** The configuration was checked before it came here; what does not parse now is the caller's bug. */
function checked<T>(source: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`${JSON.stringify(source)}: ${parsed.problems.map(describe).join("; ")}`);
}
