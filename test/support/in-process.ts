// The command in the process of a test: the bundles of dist/bin, loaded once, with effects of its own. A row needs no process
// to start, which costs more than most commands do.
import { AsyncLocalStorage } from "node:async_hooks";
import { fstatSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { type Io, type OutputStream, wantsColor } from "../../cli/io.ts";
import { systemClock } from "../../grammar/units/clock.ts";

type Env = Readonly<Record<string, string>>;

/** A command that runs here, as its process would be started. */
export interface Invocation {
  /** dist/bin/main.cjs */
  readonly main: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Env;
  readonly stdin: string | Buffer | undefined;
}

interface Main {
  runToEnd(io: Io, argv: readonly string[]): Promise<number>;
}

/** The variables of the command that runs in a chain of calls: SDKs ask `process.env` themselves. */
const variables = new AsyncLocalStorage<Record<string, string>>();

/** Whether standard input is what a command without one would have: some look at descriptor 0 itself. */
export const isInputNull = process.platform !== "win32" && fstatSync(0).rdev === statSync("/dev/null").rdev;

let isSeparated = false;

/** Gives each command its own `process.env`; the test keeps the process's. */
function separateVariables(): void {
  if (isSeparated) return;
  isSeparated = true;
  const own = process.env;
  const current = () => variables.getStore() ?? own;
  process.env = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get: (_, name) => Reflect.get(current(), name),
      set: (_, name, value) => Reflect.set(current(), name, value),
      has: (_, name) => Reflect.has(current(), name),
      deleteProperty: (_, name) => Reflect.deleteProperty(current(), name),
      ownKeys: () => Reflect.ownKeys(current()),
      getOwnPropertyDescriptor(_, name) {
        const value = Reflect.get(current(), name);
        return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
      },
    },
  );
}

interface Ended {
  readonly code: number;
  readonly signal: null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function runHere({ main, argv, cwd, env, stdin }: Invocation): Promise<Ended> {
  separateVariables();
  const { runToEnd } = createRequire(import.meta.url)(main) as Main;
  const [stdout, stderr] = [collect(env), collect(env)];
  const io: Io = {
    env,
    cwd,
    platform: process.platform,
    stdin: Object.assign(Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]), {
      isTTY: false,
      isRaw: false,
      fd: 0,
      setRawMode: () => io.stdin,
      ref: () => io.stdin,
      unref: () => io.stdin,
    }) as unknown as Io["stdin"],
    stdout,
    stderr,
    clock: systemClock,
    nowMs: systemClock.nowMs,
    // Nobody sends a signal to a part of a process.
    onSignal: () => () => {},
    ask: async () => undefined,
    askHidden: () => Promise.reject(new Error("no terminal")),
    exitNow(code) {
      throw new Error(`exit ${code} in the middle`);
    },
    keepFilesPrivate: refuse,
    keepFilesPublic: refuse,
    hasParent: () => false,
    notifyParent() {},
    onParentGone() {},
  };
  const code = await variables.run({ ...env }, () => runToEnd(io, argv));
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
}

/** The mask is one for the whole process. */
function refuse(): never {
  throw new Error("a command that sets the mask of its files needs a process of its own");
}

/** A pipe whose reader takes everything. */
function collect(env: Env): OutputStream & { text(): string } {
  const parts: Buffer[] = [];
  return {
    isTerminal: false,
    rows: Number(env.LINES) || 24,
    columns: Number(env.COLUMNS) || 80,
    color: wantsColor(false, env),
    closed: new AbortController().signal,
    get hasWritten() {
      return parts.length > 0;
    },
    async write(data) {
      if (data.length > 0) parts.push(Buffer.from(data));
    },
    flush: async () => {},
    file: () => undefined,
    text: () => Buffer.concat(parts).toString(),
  };
}
