// The execution environments of functions: real processes on unpacked archives, which write into the log groups.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type InvokeResult, LocalFunction, type OutputSource } from "../../function/function.ts";
import { recordInvocation } from "./figures.ts";
import type { Layers } from "./layers.ts";
import type { LambdaFunction, LambdaState, Version } from "./state.ts";
import { unpack } from "./unzip.ts";

/** More requests than this at once wait. */
const MAX_ENVIRONMENTS = 4;

/** What stands for /var/runtime of the Node runtimes. */
const nodeRuntime = () => resolve(dirname(fileURLToPath(import.meta.url)), "node-runtime.js");

interface Pool {
  readonly directory: string;
  readonly functions: { readonly local: LocalFunction; busy: number }[];
}

export class Runner {
  readonly #state: LambdaState;
  readonly #layers: Layers;
  readonly #pools = new Map<string, Pool>();

  constructor(state: LambdaState, layers: Layers) {
    this.#state = state;
    this.#layers = layers;
  }

  async invoke(
    found: LambdaFunction,
    version: Version,
    qualifier: string | undefined,
    payload: string,
  ): Promise<InvokeResult> {
    const pool = this.#pool(found, version);
    let slot = pool.functions.find(({ busy }) => busy === 0);
    if (slot === undefined && pool.functions.length < MAX_ENVIRONMENTS) {
      slot = { local: this.#start(found, version, qualifier, pool.directory), busy: 0 };
      pool.functions.push(slot);
    }
    slot ??= pool.functions.reduce((least, one) => (one.busy < least.busy ? one : least));
    slot.busy += 1;
    const taken = slot;
    try {
      return await taken.local.invoke(payload, (report) =>
        recordInvocation(this.#state, found.name, qualifier, report),
      );
    } finally {
      void taken.local.idle().then(() => {
        taken.busy -= 1;
      });
    }
  }

  /** Takes down what runs of a version, or of all. */
  retire(name: string, version?: string): void {
    for (const [key, pool] of this.#pools) {
      const [own, number] = key.split(":");
      if (own !== name || (version !== undefined && number !== version)) continue;
      for (const { local } of pool.functions) local.destroy();
      rmSync(pool.directory, { recursive: true, force: true });
      this.#pools.delete(key);
    }
  }

  close(): void {
    for (const name of new Set([...this.#pools.keys()].map((key) => key.split(":")[0]!))) this.retire(name);
  }

  #pool(found: LambdaFunction, version: Version): Pool {
    const key = `${found.name}:${version.version}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const directory = mkdtempSync(join(tmpdir(), "function-"));
    for (const below of ["task", "opt"]) mkdirSync(join(directory, below));
    unpack(version.code.zip, join(directory, "task"));
    // Later layers cover earlier ones.
    for (const arn of version.settings.layers) {
      const layer = this.#layers.version(arn);
      if (layer !== undefined) unpack(layer.code.zip, join(directory, "opt"));
    }
    const pool: Pool = { directory, functions: [] };
    this.#pools.set(key, pool);
    return pool;
  }

  #start(found: LambdaFunction, version: Version, qualifier: string | undefined, directory: string): LocalFunction {
    const { settings } = version;
    const task = join(directory, "task");
    const here = (path: string) =>
      path.replace(/^\/var\/task(?=\/)/, task).replace(/^\/opt(?=\/)/, join(directory, "opt"));
    const wrapper = settings.environment?.AWS_LAMBDA_EXEC_WRAPPER;
    const { world, region } = this.#state;
    const day = world.clock.date().toISOString().slice(0, 10).replaceAll("-", "/");
    const logStream = `${day}/[${version.version}]${randomBytes(16).toString("hex")}`;
    const log = eventWriter((message) => {
      world
        .service("logs", region)
        .append(`/aws/lambda/${found.name}`, logStream, [{ timestamp: world.clock.now(), message }]);
    });
    return new LocalFunction({
      command:
        wrapper === undefined
          ? commandOf(settings.runtime, task, world.options.nodeRuntime)
          : [here(wrapper), ...commandOf(settings.runtime, task, world.options.nodeRuntime)],
      directory: task,
      timeoutMs: settings.timeout * 1000,
      freezes: world.options.freezes !== false,
      identity: {
        name: found.name,
        version: version.version,
        region,
        arn: qualifier === undefined ? found.arn : `${found.arn}:${qualifier}`,
        memoryMiB: settings.memory,
        logStream,
      },
      onOutput: log,
      env: {
        AWS_EXECUTION_ENV: `AWS_Lambda_${settings.runtime}`,
        AWS_ACCESS_KEY_ID: "ASIAFUNCTION",
        AWS_SECRET_ACCESS_KEY: "function-secret-access-key",
        AWS_SESSION_TOKEN: "function-session-token",
        _HANDLER: settings.handler,
        ...settings.environment,
        ...(wrapper !== undefined && { AWS_LAMBDA_EXEC_WRAPPER: here(wrapper) }),
      },
    });
  }
}

/** The command of a managed runtime, which a wrapper gets as its arguments. */
function commandOf(runtime: string | undefined, task: string, known: string | undefined): [string, ...string[]] {
  if (/^nodejs/.test(runtime ?? "")) return [process.execPath, known ?? nodeRuntime()];
  if (/^python/.test(runtime ?? "")) return [`/var/lang/bin/${runtime}`, "/var/runtime/bootstrap.py"];
  if (/^java/.test(runtime ?? "")) return ["/var/lang/bin/java", "-cp", "/var/runtime/lib/*"];
  const bootstrap = join(task, "bootstrap");
  return [existsSync(bootstrap) ? bootstrap : "/opt/bootstrap"];
}

/** Whole lines of a process become events; what the platform says is one event, of several lines at times. */
function eventWriter(write: (message: string) => void): (text: string, source: OutputSource) => void {
  let rest = "";
  return (text, source) => {
    if (source === "platform") {
      write(text);
      return;
    }
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") write(`${line}\n`);
  };
}
