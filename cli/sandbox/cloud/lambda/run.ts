// The execution environments of functions: real processes on unpacked archives, which write into the log groups.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  FunctionClosed,
  type FunctionOptions,
  type InvokeResult,
  LocalFunction,
  type OutputSource,
} from "../../function/function.ts";
import { languageHere, linkProgram } from "../../function/languages.ts";
import { refusalOfNamespaces } from "../../function/namespaces-here.ts";
import { killWorkersIn } from "../../function/process-tree.ts";
import { openWatchdog } from "../../function/watchdog.ts";
import type { FunctionKey } from "../function-keys.ts";
import { recordInvocation } from "./figures.ts";
import type { Layers } from "./layers.ts";
import { keepMessage } from "./messages.ts";
import { addSdk, answerSdk } from "./sdk.ts";
import type { LambdaFunction, LambdaState, Version } from "./state.ts";
import { unpack } from "./unzip.ts";

/** More requests than this at once wait. */
const MAX_ENVIRONMENTS = 4;

/** The file in place of /var/runtime of the Node runtimes if this is no bundle, whose options name another file. */
const compiledRuntime = () => resolve(dirname(fileURLToPath(import.meta.url)), "node-runtime.js");

/** "Lambda ends an environment that is idle", after some minutes, and its memory is free again. */
const IDLE_MS = 600_000;

interface Pool {
  readonly directory: string;
  /** In front of PATH: the program that runs the runtime, under the names that it has on the platform. */
  readonly bin: string;
  /** Why nothing can run here. */
  readonly refusal: string | undefined;
  readonly namespaces: FunctionOptions["namespaces"];
  readonly functions: Slot[];
  isRetired: boolean;
}

/** Where an app's entries are sent, if a log service runs here. */
type LogsHere = { readonly url: string; readonly token: string } | undefined;

interface Slot {
  readonly local: LocalFunction;
  readonly key: FunctionKey;
  /** The address and the token that it was started with. */
  readonly logs: LogsHere;
  busy: number;
}

interface Start {
  readonly qualifier: string | undefined;
  readonly pool: Pool;
  /** Where the services answer, if the function reads from one. */
  readonly readsFrom: string | undefined;
  readonly logs: LogsHere;
}

export class Runner {
  readonly #state: LambdaState;
  readonly #layers: Layers;
  readonly #pools = new Map<string, Promise<Pool>>();
  #hasSaidRefusal = false;

  constructor(state: LambdaState, layers: Layers) {
    this.#state = state;
    this.#layers = layers;
  }

  async invoke(
    lambdaFunction: LambdaFunction,
    version: Version,
    qualifier: string | undefined,
    payload: string,
  ): Promise<InvokeResult> {
    const pool = await this.#pool(lambdaFunction, version);
    const readsFrom = await this.#readsFrom(version);
    const logs = await this.#logsOf(lambdaFunction, version);
    // Its code has changed while this waited, or it is gone.
    const again = () => {
      const current = this.#state.resolve(this.#state.function(lambdaFunction.name), version.version);
      return this.invoke(lambdaFunction, current, qualifier, payload);
    };
    if (pool.isRetired) return again();
    if (pool.refusal !== undefined) {
      return { kind: "error", error: { errorType: "Runtime.InvalidEntrypoint", errorMessage: pool.refusal } };
    }
    this.#takeDownDeaf(pool, logs);
    let slot = pool.functions.find(({ busy }) => busy === 0);
    if (slot === undefined && pool.functions.length < MAX_ENVIRONMENTS) {
      const newSlot = this.#start(lambdaFunction, version, { qualifier, pool, readsFrom, logs });
      pool.functions.push(newSlot);
      slot = newSlot;
    }
    slot ??= pool.functions.reduce((least, one) => (one.busy < least.busy ? one : least));
    slot.busy += 1;
    const busySlot = slot;
    try {
      return await busySlot.local.invoke(payload, (report) =>
        recordInvocation(this.#state, lambdaFunction.name, qualifier, report),
      );
    } catch (error) {
      if (error instanceof FunctionClosed) return again();
      throw error;
    } finally {
      void busySlot.local.idle().then(() => {
        busySlot.busy -= 1;
      });
    }
  }

  /** Takes down what runs of a version, or of all. */
  async retire(name: string, version?: string): Promise<void> {
    const ended: Promise<void>[] = [];
    for (const [key, pool] of this.#pools) {
      const [own, number] = key.split(":");
      if (own !== name || (version !== undefined && number !== version)) continue;
      this.#pools.delete(key);
      ended.push(
        pool.then(
          (result) => this.#endPool(result),
          () => {},
        ),
      );
    }
    await Promise.all(ended);
  }

  async close(): Promise<void> {
    const names = new Set([...this.#pools.keys()].map((key) => key.split(":")[0]!));
    await Promise.all([...names].map((name) => this.retire(name)));
  }

  #pool(lambdaFunction: LambdaFunction, version: Version): Promise<Pool> {
    const key = `${lambdaFunction.name}:${version.version}`;
    const existing = this.#pools.get(key);
    if (existing !== undefined) return existing;
    const pool = this.#makePool(version);
    this.#pools.set(key, pool);
    // The next invocation tries again.
    pool.catch(() => {
      if (this.#pools.get(key) === pool) this.#pools.delete(key);
    });
    return pool;
  }

  async #makePool({ code, settings }: Version): Promise<Pool> {
    const directory = await mkdtemp(join(openWatchdog().folder, "function-"));
    const task = join(directory, "task");
    const opt = join(directory, "opt");
    const bin = join(directory, "bin");
    for (const folder of [task, opt, bin]) await mkdir(folder);
    await unpack(code.zip.read(), task);
    // Later layers cover earlier ones.
    for (const arn of settings.layers) {
      const layer = this.#layers.version(arn);
      if (layer !== undefined) await unpack(layer.code.zip.read(), opt);
    }
    const { runtime = "" } = settings;
    if (runtime.startsWith("nodejs")) await addSdk(directory);
    const isManaged = !runtime.startsWith("provided");
    const language = isManaged ? await languageHere(runtime) : undefined;
    if (language !== undefined) linkProgram(language, bin);
    const refusal =
      isManaged && language === undefined ? `nothing on this machine runs ${runtime}: install it` : undefined;
    const namespaces = await this.#namespaces(directory);
    return { directory, bin, refusal, namespaces, functions: [], isRetired: false };
  }

  /** A function sees its own folder, and none of another or of the account. */
  async #namespaces(directory: string): Promise<FunctionOptions["namespaces"]> {
    const { hides, unshare = "unshare", report } = this.#state.world.options;
    if (hides === undefined) return undefined;
    const refusal = await refusalOfNamespaces(unshare);
    if (refusal !== undefined) {
      if (!this.#hasSaidRefusal) report?.(`functions get no namespaces of their own, and see what you see: ${refusal}`);
      this.#hasSaidRefusal = true;
      return undefined;
    }
    return { unshare, hides: [...hides, openWatchdog().folder], keeps: [directory] };
  }

  /** The services' address, if a version has variables that are stored there; it asks for nothing else here. */
  async #readsFrom({ settings }: Version): Promise<string | undefined> {
    return settings.environment?.TOOL_VARIABLES === undefined ? undefined : this.#state.world.url;
  }

  async #logsOf({ name }: LambdaFunction, { settings }: Version): Promise<LogsHere> {
    const stage = settings.environment?.TOOL_STAGE;
    return stage === undefined ? undefined : this.#state.world.options.logsOf?.(name, stage);
  }

  /**
   * Takes down what is idle and was started before the log service, or with a token that another has replaced: the service
   * would get nothing of it for as long as it is used. Without a service everything stays: it may be back soon.
   */
  #takeDownDeaf({ functions }: Pool, logs: LogsHere): void {
    if (logs === undefined) return;
    for (const slot of functions.filter(({ busy }) => busy === 0)) {
      if (slot.logs?.url === logs.url && slot.logs.token === logs.token) continue;
      functions.splice(functions.indexOf(slot), 1);
      this.#state.world.functionKeys.revoke(slot.key);
      void slot.local.shutDown();
    }
  }

  #start(lambdaFunction: LambdaFunction, version: Version, start: Start): Slot {
    const { qualifier, pool, readsFrom, logs } = start;
    const { settings } = version;
    const task = join(pool.directory, "task");
    const here = (path: string) =>
      path.replace(/^\/var\/task(?=\/)/, task).replace(/^\/opt(?=\/)/, join(pool.directory, "opt"));
    const wrapper = settings.environment?.AWS_LAMBDA_EXEC_WRAPPER;
    const { world, region } = this.#state;
    const day = world.clock.date().toISOString().slice(0, 10).replaceAll("-", "/");
    const logStream = `${day}/[${version.version}]${randomBytes(16).toString("hex")}`;
    const log = eventWriter((messages) => {
      const timestamp = world.clock.now();
      const events = messages.map((message) => ({ timestamp, message }));
      world.service("logs", region).append(`/aws/lambda/${lambdaFunction.name}`, logStream, events);
    });
    const key = world.functionKeys.issue(lambdaFunction.name, settings.role);
    const command = commandOf(settings.runtime, task, world.options.nodeRuntime ?? compiledRuntime());
    const local: LocalFunction = new LocalFunction({
      clock: world.clock.base,
      command: wrapper === undefined ? command : [here(wrapper), ...command],
      directory: task,
      namespaces: pool.namespaces,
      timeoutMs: settings.timeout * 1000,
      freezes: world.options.freezes !== false,
      idleMs: IDLE_MS,
      // The next environment writes into a stream of its own.
      onIdle: () => {
        const at = pool.functions.findIndex((slot) => slot.local === local);
        if (at !== -1) pool.functions.splice(at, 1);
        world.functionKeys.revoke(key);
      },
      identity: {
        name: lambdaFunction.name,
        version: version.version,
        region,
        arn: qualifier === undefined ? lambdaFunction.arn : `${lambdaFunction.arn}:${qualifier}`,
        memoryMiB: settings.memory,
        logStream,
      },
      onOutput: log,
      onCall: (operation, request) =>
        operation === "messages" ? keepMessage(world, region, request) : answerSdk(world, region, request),
      env: {
        PATH: [pool.bin, process.env.PATH].filter(Boolean).join(delimiter),
        AWS_EXECUTION_ENV: `AWS_Lambda_${settings.runtime}`,
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        AWS_SESSION_TOKEN: key.sessionToken,
        ...(readsFrom !== undefined && { AWS_ENDPOINT_URL_SSM: readsFrom }),
        _HANDLER: settings.handler,
        ...settings.environment,
        // Apps have a wrapper: what is left are functions of the tool.
        ...(world.options.confirmsMail && wrapper === undefined && { TOOL_SANDBOX_KEEPS_MESSAGES: "1" }),
        ...(logs !== undefined && wrapper !== undefined && { TOOL_LOGS_URL: logs.url, TOOL_LOGS_TOKEN: logs.token }),
        ...(world.options.tellsReasons && wrapper !== undefined && { TOOL_SANDBOX_TELLS_REASONS: "1" }),
        ...(wrapper !== undefined && { AWS_LAMBDA_EXEC_WRAPPER: here(wrapper) }),
      },
    });
    return { local, key, logs, busy: 0 };
  }

  async #endPool(pool: Pool): Promise<void> {
    for (const { key } of pool.functions) this.#state.world.functionKeys.revoke(key);
    await endPool(pool);
  }
}

async function endPool(pool: Pool): Promise<void> {
  pool.isRetired = true;
  // An app has half a second, in which it sends the entries that it still has.
  await Promise.all(pool.functions.map(({ local }) => local.close()));
  // Whoever left an environment may still be in its folder.
  killWorkersIn(pool.directory);
  // One that is just ending may still write; what stays goes with the watchdog's folder.
  await rm(pool.directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

/** The command of a managed runtime, which a wrapper gets as its arguments. */
function commandOf(runtime: string | undefined, task: string, nodeRuntime: string): [string, ...string[]] {
  if (/^nodejs/.test(runtime ?? "")) return [process.execPath, nodeRuntime];
  if (/^python/.test(runtime ?? "")) return [`/var/lang/bin/${runtime}`, "/var/runtime/bootstrap.py"];
  if (/^java/.test(runtime ?? "")) return ["/var/lang/bin/java", "-cp", "/var/runtime/lib/*"];
  const bootstrap = join(task, "bootstrap");
  return [existsSync(bootstrap) ? bootstrap : "/opt/bootstrap"];
}

/** Each line of a process becomes an event; what the platform says is one event, of several lines at times. */
function eventWriter(write: (messages: readonly string[]) => void): (text: string, source: OutputSource) => void {
  return (text, source) => write(source === "platform" ? [text] : (text.match(/[^\n]+\n/g) ?? []));
}
