import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import type { Entry } from "../grammar/entry.ts";
// Not by the door of its folder, as in output.ts.
import { continuesTrace, type TraceSoFar } from "../grammar/query/trace-lines.ts";
import type { Clock, Timer } from "../grammar/units/clock.ts";
import type { Backoff as ConfigBackoff } from "../schema/index.ts";
import type { CancelSignal } from "./cancel-signal.ts";
import type { EntryLog } from "./entries.ts";
import { Pool } from "./http1/pool.ts";
import { listeningPorts } from "./listening-ports.ts";
import { type EntryTimes, entryOfLine, LineSplitter } from "./output.ts";
import { anyPort, listeningHost } from "./port.ts";
import { type Exit, type ProcessGroup, startGroup } from "./process-group.ts";

/** Between two looks whether the app listens: a tenth of what a fast app needs to start. */
const POLL_MS = 10;

/** An app that lived this long, or answered a request, has started; its end is a crash and no failed start. */
const STABLE_MS = 1_000;

/** How long the app may finish its requests before it is restarted for a changed configuration. */
const DRAIN_MS = 5_000;

/** How long a killed group may take to be gone and to deliver its last output. Only uninterruptible sleep takes longer. */
const LAST_OUTPUT_MS = 500;

/** Between two looks at the ports of an app that does not listen on PORT yet; lsof on macOS takes as long. */
const LOOK_MS = 250;

/** An app that listened elsewhere for so long will hardly listen on PORT: said then, and not after listen_timeout. */
const ELSEWHERE_MS = 1_000;

/** Longest time between two polls. If more passed, this process was stopped in between, and so was the app. */
const MAX_STEP_MS = 250;

/** Lines of output that are reported of an app that did not start. */
const REPORTED_LINES = 20;

/** A program may write indented lines without end. */
const MAX_TRACE_CHARACTERS = 64 * 1024;

/** Idle connections to the app are closed early: below the keep-alive time of common servers (gunicorn has 2 s). */
const IDLE_CONNECTION_MS = 1_500;

/** The delays of the configuration, with its defaults: `min` and `max` in milliseconds. */
type Backoff = Readonly<Required<ConfigBackoff>>;

export interface SupervisorOptions {
  readonly command: string;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stage: string;
  readonly listenTimeoutMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly shutdownTimeoutMs: number;
  readonly backoff: Backoff;
  /** Levels of plain text, and whose times entries have; undefined: the app's output makes no entries. */
  readonly output: { readonly stdout: string; readonly stderr: string; readonly times?: EntryTimes } | undefined;
  readonly entries: EntryLog;
  readonly clock: Clock;
  readonly random?: () => number;
  readonly choosePort?: () => Promise<number>;
}

/** One running app: where it listens, and when it ended. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  /** Connections of this run only, so that a restarted app never meets a connection of its predecessor. */
  readonly pool: Pool;
  readonly exited: Promise<Exit>;
  /** How it ended, once it did. */
  exit(): Exit | undefined;
  /** To be called when the app answered a request. */
  answered(): void;
  /** The app counts as busy until the returned function is called: an orderly restart waits for that. */
  hold(): () => void;
}

/** One run of the app, and how it can be ended. */
interface Run {
  /** Its end is wanted: the supervisor stops, or the next run is to begin. */
  readonly end: AbortController;
  /** Its last requests are answered and nothing of it is left; undefined if nobody asked it to end. */
  ended?: Promise<void>;
}

/** The app is not there, and waiting does not help: answered with 503. */
export class Unavailable extends Error {}

const STOPPING = "the server is stopping";

/** The last start of the app that failed. */
export interface FailedStart {
  /** How it failed, and what to do if that is known. */
  readonly reason: string;
  /** The last lines that the app wrote, 20 at most. */
  readonly output: readonly string[];
}

/** How one run of the app ended. */
interface RunEnd {
  readonly stable: boolean;
  readonly reason: string;
  /** It did not listen within listen_timeout. */
  readonly isLate?: boolean;
}

interface Waiter {
  readonly resolve: (upstream: Upstream) => void;
  readonly reject: (error: Error) => void;
  /** Does not wait for another start after one that took too long. */
  readonly isForOneStart: boolean;
}

/**
 * Keeps the app alive: starts it, sees it end, ends what it left behind, and starts it again after the configured
 * backoff. Requests wait in `upstream`. All that happens is written as entries.
 */
export class Supervisor {
  #options: SupervisorOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #waiters = new Set<Waiter>();
  #group: ProcessGroup | undefined;
  #since = 0;
  #upstream: Upstream | undefined;
  #run: Run = { end: new AbortController() };
  #held = 0;
  #whenFree: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #refusesToWait = false;
  #failedStart: FailedStart | undefined;
  #lastEnd: FailedStart | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** Returns at once; `upstream` resolves when the app listens. */
  start(): void {
    this.#running ??= this.#superviseUntilStopped();
  }

  /** The app's shell. */
  get pid(): number | undefined {
    return this.#group?.pid;
  }

  /** When the process that is there was started; undefined if there is none. */
  get sinceMs(): number | undefined {
    return this.#group && this.#since;
  }

  /** Undefined if no start failed since the app ran for a second or answered a request. */
  get failedStart(): FailedStart | undefined {
    return this.#failedStart;
  }

  /** How the app ended last by itself, however long it ran; undefined if it never did. */
  get lastEnd(): FailedStart | undefined {
    return this.#lastEnd;
  }

  /**
   * The running app, waiting while it starts or restarts, up to listen_timeout.
   * Throws Unavailable, or the signal's reason if the client went away.
   */
  upstream(signal: CancelSignal): Promise<Upstream> | Upstream {
    return this.#upstream ?? this.#wait(signal, { isForOneStart: false });
  }

  /** As `upstream`, but throws as soon as a start took longer than listen_timeout: another one would, too. */
  firstUpstream(signal: CancelSignal): Promise<Upstream> | Upstream {
    return this.#upstream ?? this.#wait(signal, { isForOneStart: true });
  }

  #wait(signal: CancelSignal, { isForOneStart }: Pick<Waiter, "isForOneStart">): Promise<Upstream> {
    if (this.#refusesToWait) return Promise.reject(new Unavailable(STOPPING));
    // It tells nobody any more: the wait would last as long as the app takes to start.
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const { listenTimeoutMs } = this.#options;
      const settle = () => {
        timer.stop();
        signal.removeEventListener("abort", onAbort);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        resolve: (upstream) => {
          settle();
          resolve(upstream);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
        isForOneStart,
      };
      const onAbort = () => waiter.reject(signal.reason as Error);
      const timer = this.#clock.after(listenTimeoutMs, () => {
        const reason = this.#failedStart?.reason ?? `the app did not listen within ${listenTimeoutMs} ms`;
        waiter.reject(new Unavailable(reason));
      });
      signal.addEventListener("abort", onAbort);
      this.#waiters.add(waiter);
      this.#wake?.();
    });
  }

  /**
   * Applies other options. If they change how the app's process runs, or the app does not listen, it is ended as by
   * `stop`, once its requests have been answered, and started again; requests wait meanwhile. Resolves with true when
   * the old process is gone, with false if the app keeps running.
   */
  async change(options: SupervisorOptions): Promise<boolean> {
    const runsOn = this.#upstream !== undefined && processKey(options) === processKey(this.#options);
    this.#options = options;
    if (runsOn || this.#stop.signal.aborted) return false;
    options.entries.write("info", "app restarts with a changed configuration", {});
    const run = this.#run;
    const group = this.#group;
    this.#upstream = undefined;
    run.ended = this.drained().then(() => {
      run.end.abort();
      return endGroup(group, options.shutdownTimeoutMs, this.#clock);
    });
    await run.ended;
    return true;
  }

  /** Resolves when the app has no more to answer but what has no end, after five seconds at the latest. */
  async drained(): Promise<void> {
    if (this.#held === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(DRAIN_MS, resolve);
      this.#whenFree = () => {
        timer.stop();
        resolve();
      };
    });
    this.#whenFree = undefined;
  }

  #hold(): () => void {
    this.#held++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held--;
      if (this.#held === 0) this.#whenFree?.();
    };
  }

  /** Connections may have been closed or lost while this process was stopped: the next request opens new ones. */
  dropIdleConnections(): void {
    this.#upstream?.pool.dropIdle();
  }

  /** The server closes: requests still reach a running app, but none waits for one that does not run. */
  refuseToWait(): void {
    this.#refusesToWait = true;
    this.#refuse(STOPPING);
  }

  /** Asks the app to exit, kills it after the configured time, and leaves none of its processes running. */
  async stop(): Promise<void> {
    this.#endAll();
    await endGroup(this.#group, this.#options.shutdownTimeoutMs, this.#clock);
    await this.#running;
  }

  /** Ends the app now, without asking. */
  kill(): void {
    this.#endAll();
    this.#group?.kill();
  }

  #endAll(): void {
    this.#stop.abort();
    this.#run.end.abort();
    this.refuseToWait();
  }

  async #superviseUntilStopped(): Promise<void> {
    let failures = 0;
    let attempt = 0;
    while (!this.#stop.signal.aborted) {
      attempt += 1;
      this.#run = { end: new AbortController() };
      const { end } = this.#run;
      const run = await this.#runOnce(attempt, this.#run).catch((error: Error) => this.#notStarted(error));
      const { backoff, entries, random = Math.random } = this.#options;
      if (this.#run.ended !== undefined) {
        await this.#run.ended;
        failures = 0;
        continue;
      }
      if (this.#stop.signal.aborted) return;

      if (run.isLate) this.#refuse(run.reason, ({ isForOneStart }) => isForOneStart);
      failures = run.stable ? 0 : failures + 1;
      if (failures >= backoff.attempts) {
        entries.write("error", "app unavailable, the next request restarts it", {
          attempts: failures,
          reason: run.reason,
        });
        this.#refuse(run.reason);
        await this.#nextRequest(end.signal);
      } else {
        const delayMs = backoffDelayMs(backoff, Math.max(0, failures - 1), random);
        entries.write("warn", "app restarts", { delay: delayMs });
        // Rejects if the run is to end, which ends the pause as well.
        await this.#clock.sleep(delayMs, end.signal).catch(() => {});
      }
      if (end.signal.aborted) failures = 0;
    }
  }

  /** One life of the app, from its start until nothing of it is left. */
  async #runOnce(attempt: number, run: Run): Promise<RunEnd> {
    const { command, directory, entries, listenTimeoutMs } = this.#options;
    const isToEnd = () => run.end.signal.aborted || run.ended !== undefined;
    const port = await this.#freePort();
    if (isToEnd()) return { stable: false, reason: "stopped" };
    const startedMs = this.#clock.monotonicMs();
    const group = startGroup(command, { cwd: directory, env: appEnvironment(this.#options, port) });
    this.#group = group;
    this.#since = this.#clock.nowMs();
    const lastLines = this.#readOutput(group);
    const lived = () => Math.round(this.#clock.monotonicMs() - startedMs);

    const wait = { exited: group.exited, timeoutMs: listenTimeoutMs, whileWaiting: this.#tellElsewhere(group, port) };
    const host = await untilListening(port, wait, this.#clock);
    let stable = false;
    let stableTimer: Timer | undefined;
    if (host !== undefined && !isToEnd()) {
      entries.write("info", attempt === 1 ? "app listening" : "app listening again", {
        pid: group.pid,
        port,
        duration: lived(),
      });
      const isStable = () => {
        stable = true;
        this.#failedStart = undefined;
      };
      stableTimer = this.#clock.after(STABLE_MS, isStable);
      const hold = () => this.#hold();
      const pool = new Pool({ host, port, idleMs: IDLE_CONNECTION_MS, clock: this.#clock });
      this.#upstream = {
        host,
        port,
        pool,
        exited: group.exited,
        exit: () => group.exit,
        answered: isStable,
        hold,
      };
      for (const waiter of [...this.#waiters]) waiter.resolve(this.#upstream);
      await group.exited;
      this.#upstream = undefined;
      pool.close();
    }

    stableTimer?.stop();
    // An orderly end gives what the shell started its own time.
    if (isToEnd()) return { stable, reason: "stopped" };
    // Not listening in time, or the shell ended: what it started must not live on, least of all answer requests.
    const didExit = group.exit !== undefined;
    const ports = didExit || group.pid === undefined ? [] : await listeningPorts(group.pid).catch(() => []);
    group.kill();
    const exit = await group.exited;
    await Promise.race([group.closed, this.#clock.sleep(LAST_OUTPUT_MS)]);
    this.#group = undefined;
    if (isToEnd()) return { stable, reason: "stopped" };

    if (!didExit) {
      entries.write("error", "app did not listen on PORT in time", {
        command,
        port,
        timeout: listenTimeoutMs,
        ...(ports.length > 0 && { listens: ports, hint: portHint(ports, port) }),
        output: [...lastLines],
      });
      const elsewhere = ports.length === 0 ? "" : `; ${portHint(ports, port)}`;
      const reason = `the app did not listen on PORT within ${listenTimeoutMs} ms${elsewhere}`;
      this.#failedStart = { reason, output: [...lastLines] };
      return { stable: false, isLate: true, reason };
    }
    const message = host === undefined ? "app exited before it listened" : "app exited";
    entries.write("error", message, {
      command,
      ...exitFields(exit),
      uptime: lived(),
      ...(host === undefined && { output: [...lastLines] }),
    });
    const reason = `the ${message} (${exitText(exit)})`;
    this.#lastEnd = { reason, output: [...lastLines] };
    if (!stable) this.#failedStart = this.#lastEnd;
    return { stable, reason };
  }

  /** Says once which other ports the app listens on, if it does so for a second. To be called while it does not on PORT. */
  #tellElsewhere({ pid }: ProcessGroup, port: number): (waitedMs: number) => void {
    const { command, env, entries } = this.#options;
    // A debugger is no server of the app.
    let isTold = pid === undefined || /--inspect/.test(`${command} ${env.NODE_OPTIONS}`);
    let lookMs = LOOK_MS;
    let sinceMs: number | undefined;
    return (waitedMs) => {
      if (isTold || waitedMs < lookMs) return;
      // Until this look is done.
      lookMs = Number.POSITIVE_INFINITY;
      const see = (ports: readonly number[]) => {
        lookMs = waitedMs + LOOK_MS;
        sinceMs = ports.length === 0 ? undefined : (sinceMs ?? waitedMs);
        if (sinceMs === undefined || waitedMs - sinceMs < ELSEWHERE_MS || this.#upstream !== undefined) return;
        isTold = true;
        entries.write("warn", "app listens, but not on PORT", { port, listens: ports, hint: portHint(ports, port) });
      };
      void listeningPorts(pid!).then(see, () => see([]));
    };
  }

  /** Nothing to do with the app: no port could be had, or no process. */
  #notStarted(error: Error): RunEnd {
    this.#options.entries.write("error", "app could not be started", { error: error.message });
    this.#failedStart = { reason: error.message, output: [] };
    return { stable: false, reason: error.message };
  }

  /** Turns the output into entries; the array that it answers holds the last lines at any time. */
  #readOutput(group: ProcessGroup): string[] {
    const { entries } = this.#options;
    const lastLines: string[] = [];
    const isContinuing = (line: string, before: TraceSoFar & { readonly entry: Entry }) =>
      before.entry.message.length + line.length < MAX_TRACE_CHARACTERS &&
      continuesTrace(line, before) &&
      entries.extend(before.entry, line);
    const read = (stream: Readable | null, from: "stdout" | "stderr") => {
      // The entry of the line before, if that was plain text.
      let before: (TraceSoFar & { readonly entry: Entry }) | undefined;
      const lines = new LineSplitter((line) => {
        const { output } = this.#options;
        if (before !== undefined && isContinuing(line, before)) before = { ...before, last: line };
        else if (output !== undefined) {
          const entry = entryOfLine(line, {
            level: output[from],
            readsLevel: from === "stderr",
            nowMs: entries.nowMs,
            times: output.times,
          });
          const added = entry && entries.add(entry);
          before =
            added !== undefined && added.message === line ? { entry: added, first: line, last: line } : undefined;
        }
        lastLines.push(line.length > 1000 ? `${line.slice(0, 1000)}...` : line);
        if (lastLines.length > REPORTED_LINES) lastLines.shift();
      });
      stream?.on("data", (chunk: Buffer) => lines.write(chunk));
      stream?.once("close", () => lines.end());
      stream?.on("error", () => {});
    };
    read(group.stdout, "stdout");
    read(group.stderr, "stderr");
    return lastLines;
  }

  #refuse(reason: string, which: (waiter: Waiter) => boolean = () => true): void {
    for (const waiter of [...this.#waiters].filter(which)) waiter.reject(new Unavailable(reason));
  }

  #nextRequest(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wake = undefined;
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener("abort", wake);
      if (signal.aborted) wake();
    });
  }

  /** Asked again right before each start: a port that was free at the last start may be taken by now. */
  async #freePort(): Promise<number> {
    const { choosePort = anyPort } = this.#options;
    for (;;) {
      const port = await choosePort();
      if ((await listeningHost(port)) === undefined) return port;
    }
  }
}

/** The hint for an app that listens, but not on its port. */
function portHint(ports: readonly number[], port: number): string {
  if (ports.includes(port)) return "it listens on another address: let it listen on 127.0.0.1 or on all addresses";
  return `it listens on ${ports.join(", ")}: let it read PORT from its environment`;
}

/** Was the app ended from outside, not by a request? A shell reports a signal as 128 + its number. */
export function endedFromOutside(exit: Exit): boolean {
  return exit.signal === "SIGKILL" || exit.signal === "SIGTERM" || exit.code === 128 + 9 || exit.code === 128 + 15;
}

/** The pause before the restart number `n` (from 0) in a row. */
export function backoffDelayMs(backoff: Backoff, n: number, random: () => number): number {
  const { min, max, factor, jitter } = backoff;
  const full = Math.min(max, min * factor ** n);
  return Math.round(jitter ? min + random() * Math.max(0, full - min) : full);
}

/** Asks the group to end, kills it after the given time, and waits until nothing of it is there. */
async function endGroup(group: ProcessGroup | undefined, timeoutMs: number, clock: Clock): Promise<void> {
  if (group === undefined) return;
  group.terminate();
  await Promise.race([group.closed, clock.sleep(timeoutMs)]);
  group.kill();
  const deadlineMs = clock.monotonicMs() + LAST_OUTPUT_MS;
  while (group.isThere() && clock.monotonicMs() < deadlineMs) await clock.sleep(POLL_MS);
  await Promise.race([group.closed, clock.sleep(LAST_OUTPUT_MS)]);
}

/** Equal for options that would run the same process: a change of the others needs no restart. */
function processKey({ command, directory, env, stage }: SupervisorOptions): string {
  return JSON.stringify([command, directory, stage, Object.entries(env).sort()]);
}

function appEnvironment(options: SupervisorOptions, port: number): NodeJS.ProcessEnv {
  const { env, directory, stage } = options;
  return {
    NODE_ENV: stage,
    ...env,
    PORT: String(port),
    TOOL_STAGE: stage,
    PATH: [join(directory, "node_modules/.bin"), env.PATH ?? ""].filter((part) => part !== "").join(delimiter),
  };
}

interface Wait {
  readonly exited: Promise<Exit>;
  readonly timeoutMs: number;
  /** Called after each look that found nobody, with the time so far. */
  readonly whileWaiting: (waitedMs: number) => void;
}

/** The address on which the app accepts connections; undefined if it exited before that, or the time ran out. */
async function untilListening(
  port: number,
  { exited, timeoutMs, whileWaiting }: Wait,
  clock: Clock,
): Promise<string | undefined> {
  let ended = false;
  exited.then(() => {
    ended = true;
  });
  let waitedMs = 0;
  let lookedMs = clock.monotonicMs();
  while (!ended && waitedMs < timeoutMs) {
    const host = await listeningHost(port);
    if (host !== undefined && !ended) return host;
    await Promise.race([clock.sleep(POLL_MS), exited]);
    const nowMs = clock.monotonicMs();
    // The function platform stops all processes between two requests, also while an app still starts.
    waitedMs += Math.min(MAX_STEP_MS, nowMs - lookedMs);
    lookedMs = nowMs;
    if (!ended) whileWaiting(waitedMs);
  }
  return undefined;
}

function exitFields(exit: Exit): Record<string, unknown> {
  if (exit.error !== undefined) return { error: exit.error.message };
  return exit.signal === null ? { code: exit.code } : { signal: exit.signal };
}

/** `exit code 7`, or `SIGKILL`. */
export function exitText(exit: Exit): string {
  if (exit.error !== undefined) return exit.error.message;
  return exit.signal === null ? `exit code ${exit.code}` : exit.signal;
}
