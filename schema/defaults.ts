import type { Alert, Config, Cors, Hooks, Stage } from "./config.generated.ts";
import { parseGlob } from "./glob.ts";
import { DEFAULT_REGION, isGlob, REGIONS } from "./regions.ts";
import type { ResolvedConfig, ResolvedHooks } from "./resolved-config.ts";
import { DEFAULT_STAGES, hookCommands } from "./stages.ts";

export interface DefaultsOptions {
  /** CLOUD_REGION and CLOUD_PROFILE are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The region of the credentials profile. */
  readonly profileRegion?: string | undefined;
  /** The inferred server command. */
  readonly command?: string | undefined;
}

/** The role that deploying makes. Roles are global to an account: the region keeps two of one app apart. */
export function defaultRole(name: string, region: string): string {
  return `${name}-${region}-function`;
}

/** Seconds that the function has for a request, the start of the server included. */
export function functionTimeout(proxy: { readonly timeout: number; readonly listen_timeout: number }): number {
  return proxy.timeout + proxy.listen_timeout;
}

/** Seconds. */
export const DEFAULT_TIMEOUTS = { timeout: 15, listen_timeout: 15 } as const;

/** Fills in every default of the specification's tables. Pure: the configuration given is not changed. */
export function withDefaults(config: Config, options: DefaultsOptions): ResolvedConfig {
  const type = config.type ?? "server";
  const profile = config.profile ?? (options.env.CLOUD_PROFILE || undefined);
  const command = config.proxy?.command ?? options.command ?? "./server";
  const proxy = {
    ...(type === "server" && { command }),
    timeout: config.proxy?.timeout ?? DEFAULT_TIMEOUTS.timeout,
    listen_timeout: config.proxy?.listen_timeout ?? DEFAULT_TIMEOUTS.listen_timeout,
    shutdown_timeout: config.proxy?.shutdown_timeout ?? 5,
    backoff: { min: 100, max: 500, factor: 2, attempts: 3, jitter: false, ...config.proxy?.backoff },
  };
  const { vpc, ...settings } = config.function ?? {};
  const id = region(config, options);
  return {
    name: config.name,
    description: config.description ?? "",
    type,
    ...(profile !== undefined && { profile }),
    regions: [id],
    function: {
      role: settings.role ?? defaultRole(config.name, id),
      memory: settings.memory ?? 512,
      timeout: functionTimeout(proxy),
      policy: settings.policy ?? [],
      ...(vpc !== undefined && { vpc }),
      accelerate: settings.accelerate ?? false,
      layers: settings.layers ?? [],
      warm: settings.warm ?? false,
      warm_count: settings.warm_count ?? 15,
      warm_rate: settings.warm_rate ?? "15m",
    },
    hooks: resolveHooks(config.hooks),
    ...((type === "static" || config.static !== undefined) && {
      static: { dir: config.static?.dir ?? ".", prefix: config.static?.prefix ?? "" },
    }),
    environment: { ...config.environment },
    headers: { ...config.headers },
    error_pages: {
      disable: config.error_pages?.disable ?? false,
      dir: config.error_pages?.dir ?? ".",
      variables: { ...config.error_pages?.variables },
    },
    inject: { head: config.inject?.head ?? [], body: config.inject?.body ?? [] },
    redirects: mapValues(config.redirects, ({ location, status, force }) => ({
      location,
      status: status ?? 200,
      force: force ?? false,
    })),
    ...(config.cors !== undefined && { cors: resolveCors(config.cors) }),
    proxy,
    dns: mapValues(config.dns, (records) =>
      records.map(({ name, type, ttl, value }) => ({ name, type, ttl: ttl ?? 300, value })),
    ),
    stages: resolveStages(config),
    logs: {
      stdout: config.logs?.stdout ?? "info",
      stderr: config.logs?.stderr ?? "error",
      disable: config.logs?.disable ?? false,
      rules: config.logs?.rules ?? true,
      queries: { ...config.logs?.queries },
      ...(config.logs?.service !== undefined && { service: config.logs.service }),
      ...(config.logs?.project !== undefined && { project: config.logs.project }),
      delivery: config.logs?.delivery ?? "runtime",
      cloudwatch: config.logs?.cloudwatch ?? true,
      ...(config.logs?.retention !== undefined && { retention: config.logs.retention }),
      ...(config.logs?.alerts && { alerts: config.logs.alerts }),
      ...(config.logs?.notifications && { notifications: config.logs.notifications }),
      ...(config.logs?.include && { include: config.logs.include }),
    },
    actions: (config.actions ?? []).map((action) =>
      action.type === "chat" ? { ...action, gifs: action.gifs ?? false } : action,
    ),
    alerts: (config.alerts ?? []).map(resolveAlert),
    tags: { ...config.tags },
  };
}

/** Whether the files of `static.dir` are served: always by a static site, by a server app if `static` was written. */
export function servesStatic(
  config: ResolvedConfig,
): config is ResolvedConfig & { static: NonNullable<ResolvedConfig["static"]> } {
  return config.static !== undefined;
}

function region(config: Config, { env, profileRegion }: DefaultsOptions): string {
  const pattern = config.regions?.[0];
  if (pattern === undefined) return env.CLOUD_REGION || profileRegion || DEFAULT_REGION;
  if (!isGlob(pattern)) return pattern;
  const glob = parseGlob(pattern);
  return (glob.ok ? REGIONS.find(glob.value) : undefined) ?? pattern;
}

function resolveHooks(hooks: Hooks | undefined): ResolvedHooks {
  const names = ["prebuild", "build", "postbuild", "predeploy", "postdeploy", "clean"] as const;
  const written = names.filter((name) => hooks?.[name] !== undefined);
  return Object.fromEntries(written.map((name) => [name, hookCommands(hooks, name)]));
}

function resolveCors(cors: Cors): NonNullable<ResolvedConfig["cors"]> {
  return {
    enable: cors.enable ?? true,
    allowed_origins: cors.allowed_origins ?? ["*"],
    allowed_methods: cors.allowed_methods ?? ["HEAD", "GET", "POST"],
    allowed_headers: cors.allowed_headers ?? ["Origin", "Accept", "Content-Type", "X-Requested-With"],
    exposed_headers: cors.exposed_headers ?? [],
    ...(cors.max_age !== undefined && { max_age: cors.max_age }),
    allow_credentials: cors.allow_credentials ?? true,
    debug: cors.debug ?? false,
  };
}

function resolveStages(config: Config): ResolvedConfig["stages"] {
  const standard = DEFAULT_STAGES.map((stage): [string, Stage] => [stage, {}]);
  return mapValues({ ...Object.fromEntries(standard), ...config.stages }, ({ hooks, ...stage }) => ({
    ...stage,
    ...(hooks !== undefined && { hooks: resolveHooks(hooks) }),
  }));
}

function resolveAlert(alert: Alert): ResolvedConfig["alerts"][number] {
  const { metric, namespace, statistic, operator, threshold, period, evaluation_periods, missing, action } = alert;
  return {
    metric,
    ...(namespace !== undefined && { namespace }),
    statistic,
    operator: operator ?? ">",
    threshold,
    period: period ?? "1m",
    evaluation_periods: evaluation_periods ?? 1,
    missing: missing ?? "notBreaching",
    action,
    disable: alert.disable ?? false,
    description: alert.description ?? "",
  };
}

function mapValues<A, B>(record: Readonly<Record<string, A>> | undefined, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record ?? {}).map(([key, value]) => [key, map(value)]));
}
