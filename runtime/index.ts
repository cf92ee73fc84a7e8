import { resolve } from "node:path";
import type { Entry } from "../grammar/entry.ts";
import { describe, type Parsed } from "../grammar/problem.ts";
import { parseLocation, parseRoute } from "../grammar/route/index.ts";
import { type ResolvedConfig, servesStatic } from "../schema/index.ts";
import { EntryLog } from "./entries.ts";
import { hop } from "./hop.ts";
import type { CorsOptions } from "./middleware/cors.ts";
import { type PipelineOptions, pipeline } from "./pipeline.ts";
import { Supervisor } from "./process.ts";
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
  /** Of the Git repository: its SHA or tag, as a deployment finds it in TOOL_COMMIT. Every entry carries it. */
  readonly commit?: string | undefined;
}

export interface RunningServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
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
  const { config, stage, version, commit, log } = options;
  const directory = resolve(options.directory);
  const entries = new EntryLog({ log, stage, version, ...(commit !== undefined && { commit }) });
  const supervisor = options.command === undefined ? undefined : supervise(options, options.command, entries);
  const timeoutMs = config.proxy.timeout * 1000;
  const handler = pipeline({
    ...pipelineOptions(config, directory),
    entries,
    app: supervisor && hop({ supervisor, entries, stage, timeoutMs }),
  });

  const { host } = options;
  const server = await listen({
    handler,
    entries,
    logsRequests: !options.config.logs.disable,
    host,
    port: options.port,
    switchesProtocols: supervisor !== undefined,
  });
  supervisor?.start();
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    host,
    port: server.port,
    kill: () => supervisor?.kill(),
    close: async () => {
      supervisor?.refuseToWait();
      await server.close();
      await supervisor?.stop();
      entries.flush();
    },
  };
}

function supervise(options: ServeOptions, command: string, entries: EntryLog): Supervisor {
  const { config, env, stage } = options;
  return new Supervisor({
    command,
    directory: resolve(options.directory),
    env,
    stage,
    listenTimeoutMs: config.proxy.listen_timeout * 1000,
    backoff: config.proxy.backoff,
    output: config.logs.disable ? undefined : { stdout: config.logs.stdout, stderr: config.logs.stderr },
    entries,
  });
}

function pipelineOptions(config: ResolvedConfig, directory: string): Omit<PipelineOptions, "entries" | "app"> {
  const { type, error_pages: pages, inject } = config;
  return {
    logsRequests: !config.logs.disable,
    headers: Object.entries(config.headers).map(([pattern, headers]) => ({
      route: checked(pattern, parseRoute(pattern)),
      headers,
    })),
    cors: corsOptions(config.cors),
    redirects: Object.entries(config.redirects).map(([pattern, { location, status, force }]) => ({
      route: checked(pattern, parseRoute(pattern)),
      location: checked(location, parseLocation(location)),
      status,
      force,
    })),
    errorPages: pages.disable ? undefined : { dir: resolve(directory, pages.dir), variables: pages.variables },
    inject: inject.head.length + inject.body.length > 0 ? { ...inject, directory } : undefined,
    static: servesStatic(config) ? { type, directory, ...config.static } : undefined,
  };
}

function corsOptions(cors: ResolvedConfig["cors"]): CorsOptions | undefined {
  if (!cors?.enable) return undefined;
  return {
    origins: cors.allowed_origins,
    methods: cors.allowed_methods,
    headers: cors.allowed_headers,
    exposedHeaders: cors.exposed_headers,
    maxAgeSeconds: cors.max_age,
    credentials: cors.allow_credentials,
    debug: cors.debug,
  };
}

/** The configuration was checked before it came here; what does not parse now is the caller's bug. */
function checked<T>(source: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`${JSON.stringify(source)}: ${parsed.problems.map(describe).join("; ")}`);
}
