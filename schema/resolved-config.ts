import type {
  Action,
  Alert,
  Backoff,
  Cors,
  DnsRecord,
  ErrorPages,
  FunctionSettings,
  Hooks,
  Inject,
  Logs,
  Proxy as ProxySettings,
  Redirect,
  Stage,
  Static,
} from "./config.generated.ts";

/** Every hook as the array of its commands; hooks that are not written are absent. */
export type ResolvedHooks = { [name in keyof Hooks]?: string[] };

/** Absent if the file has none. */
type ServiceMembers = "service" | "project" | "retention" | "alerts" | "notifications" | "include";

/** A configuration in which every default is filled in, in the schema's order: what `tool config` prints. */
export interface ResolvedConfig {
  name: string;
  description: string;
  type: "server" | "static";
  /** From the file, else CLOUD_PROFILE; absent if neither names one. */
  profile?: string;
  /** Exactly one region id: patterns are resolved. */
  regions: string[];
  /** `timeout`, in seconds, is derived from the proxy's. */
  function: Required<Omit<FunctionSettings, "vpc">> & Pick<FunctionSettings, "vpc"> & { timeout: number };
  hooks: ResolvedHooks;
  /** Absent if no files are served: printed, it would make a server app serve them. */
  static?: Required<Static>;
  environment: Record<string, string>;
  headers: Record<string, Record<string, string>>;
  error_pages: Required<ErrorPages>;
  inject: Required<Inject>;
  redirects: Record<string, Required<Redirect>>;
  /** Absent if the file has none; `enable` says whether it is on. */
  cors?: Required<Omit<Cors, "max_age">> & Pick<Cors, "max_age">;
  /** `command` is absent for a static site. */
  proxy: Pick<ProxySettings, "command"> &
    Required<Omit<ProxySettings, "command" | "backoff">> & { backoff: Required<Backoff> };
  dns: Record<string, Required<DnsRecord>[]>;
  /** The default stages, then the file's own. Overrides stay overrides: `forStage` applies them. */
  stages: Record<string, Omit<Stage, "hooks"> & { hooks?: ResolvedHooks }>;
  /** Alerts and notifications are as they are written, without those of included files: see `log-parts.ts`. */
  logs: Required<Omit<Logs, ServiceMembers>> & Pick<Logs, ServiceMembers>;
  actions: Action[];
  alerts: (Alert &
    Required<Pick<Alert, "operator" | "period" | "evaluation_periods" | "missing" | "disable" | "description">>)[];
  tags: Record<string, string>;
}
