// The sandbox's process: one per person. It ends by itself after an hour in which nobody used it.

import { lookup } from "node:dns";
import { isLoopback } from "../../grammar/address/loopback.ts";
import type { Clock, Timer } from "../../grammar/units/clock.ts";
import { livingOwnerOf, lockDirectory } from "../../logservice/admin.ts";
import { ALL_OF_APP } from "../platform/log-tokens.ts";
import { serveApp } from "./apps.ts";
import { CloudClock } from "./cloud/clock.ts";
import { openWorld } from "./cloud/open-world.ts";
import { controlOf } from "./control.ts";
import { SandboxFolder } from "./folder.ts";
import { joinsLogService } from "./log-service.ts";
import { type Endpoint, type SandboxServerOptions, startSandboxServer } from "./server.ts";
import { checkSignature } from "./signature.ts";

const FIRST_PORT = 4040;
/** How far the port moves on when others have it. */
const PORT_TRIES = 50;

/** After so long without a request its memory is tidied. */
const QUIET_MS = 5_000;

const IDLE_MS = 60 * 60 * 1000;

export interface DaemonOptions {
  readonly folder: string;
  readonly build: string;
  readonly clock: Clock;
  /** The program that stands for the platform's Node runtime. */
  readonly nodeRuntime: string;
  /** How long it stays without being used. */
  readonly idleMs?: number | undefined;
  /** Called when it listens, or when another daemon of this folder does. */
  readonly ready: () => void;
  readonly report: (text: string) => void;
  /** Resolves when it is asked to end. */
  readonly ended: Promise<void>;
}

/** Runs until it is stopped, or idle for too long. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { clock } = options;
  const folder = new SandboxFolder(options.folder);
  folder.make();
  let unlock: () => Promise<void>;
  try {
    unlock = await lockDirectory(folder.path);
  } catch (error) {
    if ((await livingOwnerOf(folder.path)) === undefined) throw error;
    // Two commands began at once: the other's daemon serves both.
    return options.ready();
  }
  const access = folder.access();
  const joined = joinsLogService(folder, clock);
  const world = openWorld({
    folder: folder.state,
    clock: new CloudClock({ base: clock }),
    issuesAtOnce: true,
    confirmsMail: true,
    tellsReasons: true,
    logsOf: async (app, stage) => ((await joined(app, stage)) === undefined ? undefined : folder.logsOf(app, stage)),
    async redirectsStream(app) {
      const [here, own] = [await joined(app, ALL_OF_APP), folder.stageToken(app, ALL_OF_APP)];
      if (here === undefined) return undefined;
      if (own === undefined) throw new Error("the log service of npm start gave no token for the stream yet");
      // The stream's own project may be another.
      const path = `/integrations/cloudwatch?project=${encodeURIComponent(own.project)}`;
      return { url: new URL(path, here.url).href, accessKey: own.token };
    },
    runsByClock: true,
    hides: [folder.path],
    nodeRuntime: options.nodeRuntime,
    report: options.report,
  });
  const idle = new Idle(options.idleMs ?? IDLE_MS, clock);
  const resolves = resolvesNames(clock);
  const startedAt = new Date(clock.nowMs()).toISOString();
  let endpoint: Endpoint;
  const control = controlOf({
    world,
    secretKey: access.secretAccessKey,
    port: () => endpoint.port,
    startedAt,
    resolvesNames: () => resolves,
    endsAt: () => new Date(idle.endsAtMs),
    // After the answer.
    stop: () => setImmediate(() => idle.end()),
  });
  endpoint = await listenAtFreePort(access.port, {
    world,
    report: options.report,
    knows: (accessKeyId) => accessKeyId === access.accessKeyId,
    authenticate(request, scope) {
      checkSignature(request, scope, access.secretAccessKey, clock.nowMs());
      if (scope.service !== "sandbox") idle.put();
    },
    serveApp(req, res) {
      idle.put();
      return serveApp(req, res, world, { tellsScheme: true });
    },
    control(operation, input) {
      if (operation !== "status") idle.put();
      return control(operation, input);
    },
  });
  folder.writeAccess({ ...access, port: endpoint.port });
  folder.writeDaemon({ pid: process.pid, port: endpoint.port, startedAt, build: options.build });
  options.report(`listening at ${endpoint.url}`);
  options.ready();
  await Promise.race([idle.ended, options.ended, untilReplaced(folder, clock)]);
  await endpoint.close();
  await world.close();
  await unlock();
  options.report("ended");
}

/** Resolves when the folder is no longer this daemon's: somebody removed it, or what it wrote there. */
async function untilReplaced(folder: SandboxFolder, clock: Clock): Promise<void> {
  for (;;) {
    await clock.sleep(FOLDER_MS, undefined, { isBackground: true });
    if (folder.daemon()?.pid !== process.pid) return;
  }
}

/** How often the daemon looks whether its folder is still there. */
const FOLDER_MS = 2_000;

/** The port of last time if it is free, else the next one that is: addresses stay the same where they can. */
async function listenAtFreePort(lastPort: number | undefined, options: SandboxServerOptions): Promise<Endpoint> {
  const first = [...(lastPort === undefined ? [] : [lastPort]), FIRST_PORT];
  const ports = [...new Set([...first, ...Array.from({ length: PORT_TRIES }, (_, i) => FIRST_PORT + 1 + i), 0])];
  for (const port of ports) {
    try {
      return await startSandboxServer({ ...options, port });
    } catch (error) {
      if (!/^(EADDRINUSE|EACCES)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  throw new Error("there is no free port");
}

/**
 * Whether this machine resolves names below localhost to itself (RFC 6761 says it should). A resolver without an answer
 * would keep a first command waiting.
 */
function resolvesNames(clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    clock.after(RESOLVE_MS, () => resolve(false), { isBackground: true });
    lookup("stage.app.localhost", (error, address) => resolve(error === null && isLoopback(address)));
  });
}

/** A resolver of this machine answers within a few milliseconds. */
const RESOLVE_MS = 250;

/** The time without use, after which the daemon ends. */
class Idle {
  readonly #idleMs: number;
  readonly #clock: Clock;
  #quiet: Timer | undefined;
  endsAtMs: number;
  end: () => void = () => {};
  readonly ended: Promise<void>;

  constructor(idleMs: number, clock: Clock) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.endsAtMs = this.#clock.nowMs() + idleMs;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    this.#watch();
  }

  /** It was used now. */
  put(): void {
    this.endsAtMs = this.#clock.nowMs() + this.#idleMs;
    this.#quiet?.stop();
    // V8 keeps what a burst of requests took until the next one.
    this.#quiet = this.#clock.after(QUIET_MS, () => (globalThis as { gc?: () => void }).gc?.(), { isBackground: true });
  }

  #watch(): void {
    const leftMs = this.endsAtMs - this.#clock.nowMs();
    if (leftMs <= 0) this.end();
    else this.#clock.after(Math.min(leftMs + 1, 60_000), () => this.#watch(), { isBackground: true });
  }
}
