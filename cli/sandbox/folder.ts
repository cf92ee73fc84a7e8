import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { StageToken } from "../team/stage-token.ts";

/** The record that the daemon writes once it listens. */
export interface DaemonRecord {
  readonly pid: number;
  readonly port: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Tells apart the builds of the daemon: a command replaces one of another build. */
  readonly build: string;
}

/** The key of this sandbox, which its commands sign with and only its owner can read, and the port of last time. */
export interface Access {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly port: number | undefined;
}

/** The log service of `npm start` while that runs, with a token that may make others. */
export interface LogServiceHere {
  readonly url: string;
  readonly token: string;
  /** The origin of its web UI. */
  readonly pageUrl: string;
}

/** The paths of one person's sandbox. */
export class SandboxFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** `$XDG_STATE_HOME/tool/sandbox` (XDG Base Directory Specification). */
  static of(env: Readonly<Record<string, string | undefined>>): SandboxFolder {
    const state = env.XDG_STATE_HOME?.startsWith("/") ? env.XDG_STATE_HOME : undefined;
    return new SandboxFolder(join(state ?? join(env.HOME || homedir(), ".local/state"), "tool/sandbox"));
  }

  /** The folder of the account's state. */
  get state(): string {
    return join(this.path, "state");
  }

  get log(): string {
    return join(this.path, "daemon.log");
  }

  get #access(): string {
    return join(this.path, "access.json");
  }

  get #daemon(): string {
    return join(this.path, "daemon.json");
  }

  get exists(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.isDirectory() === true;
  }

  /** Makes the folder for its owner alone. Throws if it belongs to another user. */
  make(): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(this.path);
    if (process.getuid !== undefined && uid !== process.getuid()) {
      throw new Error(`${this.path} belongs to another user: set XDG_STATE_HOME to a folder of your own`);
    }
    if ((mode & 0o077) !== 0) chmodSync(this.path, 0o700);
  }

  /** The key, made on first use. A file that cannot be read as one is replaced: only running commands know its key. */
  access(): Access {
    const record = readJson(this.#access);
    if (typeof record?.accessKeyId === "string" && typeof record.secretAccessKey === "string") {
      const { accessKeyId, secretAccessKey, port } = record;
      return { accessKeyId, secretAccessKey, port: isPort(port) ? port : undefined };
    }
    const access: Access = {
      accessKeyId: `TOOLSANDBOX${randomBytes(6).toString("hex").toUpperCase()}`,
      secretAccessKey: randomBytes(30).toString("base64url"),
      port: undefined,
    };
    this.writeAccess(access);
    return access;
  }

  writeAccess(access: Access): void {
    writeWhole(this.#access, access);
  }

  /** The record of the last daemon, which may be gone. */
  daemon(): DaemonRecord | undefined {
    const record = readJson(this.#daemon);
    const { pid, port } = record ?? {};
    // Zero and less would stand for groups of processes.
    if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 1 || !isPort(port)) return undefined;
    return { pid, port, startedAt: String(record?.startedAt), build: String(record?.build) };
  }

  writeDaemon(record: DaemonRecord): void {
    writeWhole(this.#daemon, record);
  }

  get #logService(): string {
    return join(this.path, "logs.json");
  }

  get #stageTokens(): string {
    return join(this.path, "log-tokens.json");
  }

  /** Undefined while none runs. It may name any machine: whoever sends something there looks first. */
  logService(): LogServiceHere | undefined {
    const { url, token, pageUrl } = readJson(this.#logService) ?? {};
    const isWhole = [url, token, pageUrl].every((one) => typeof one === "string") && URL.canParse(String(url));
    if (!isWhole) return undefined;
    return { url: String(url), token: String(token), pageUrl: String(pageUrl) };
  }

  writeLogService(here: LogServiceHere): void {
    this.make();
    writeWhole(this.#logService, here);
  }

  /** To be called when the service ends, which may not be the last one that was written. */
  removeLogService(url: string): void {
    if (this.logService()?.url === url) rmSync(this.#logService, { force: true });
  }

  /** The token of a stage for the log service here, if a deploy has made one. */
  stageToken(app: string, stage: string): StageToken | undefined {
    const { project, token } = (readJson(this.#stageTokens)?.[`${app}/${stage}`] ?? {}) as Partial<StageToken>;
    return typeof project === "string" && typeof token === "string" ? { project, token } : undefined;
  }

  /** All of them that an app has, by the stages' names. */
  tokensOf(app: string): (StageToken & { readonly stage: string })[] {
    const stages = Object.keys(readJson(this.#stageTokens) ?? {})
      .filter((key) => key.startsWith(`${app}/`))
      .map((key) => key.slice(app.length + 1));
    return stages.flatMap((stage) => {
      const token = this.stageToken(app, stage);
      return token === undefined ? [] : [{ stage, ...token }];
    });
  }

  /** Whether a stage of the app has a token for a project of the log service here. */
  sendsTo(app: string, project: string): boolean {
    return Object.entries(readJson(this.#stageTokens) ?? {}).some(
      ([key, token]) => key.startsWith(`${app}/`) && (token as Partial<StageToken> | null)?.project === project,
    );
  }

  writeStageToken(app: string, stage: string, token: StageToken): void {
    writeWhole(this.#stageTokens, { ...readJson(this.#stageTokens), [`${app}/${stage}`]: token });
  }

  /** Forgets a token that was ended, unless another has taken its place. */
  removeStageToken(app: string, stage: string, token: string): void {
    if (this.stageToken(app, stage)?.token !== token) return;
    const { [`${app}/${stage}`]: _, ...others } = readJson(this.#stageTokens) ?? {};
    writeWhole(this.#stageTokens, others);
  }

  /** Where the functions of a stage send their entries; undefined while no log service runs. */
  logsOf(app: string, stage: string): { readonly url: string; readonly token: string } | undefined {
    const [here, own] = [this.logService(), this.stageToken(app, stage)];
    if (here === undefined || own === undefined) return undefined;
    return { url: `${here.url}/ingest/${encodeURIComponent(own.project)}`, token: own.token };
  }
}

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Readers see the file before or after, and nobody else may read it. */
function writeWhole(path: string, value: object): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
}
