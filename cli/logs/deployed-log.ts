import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Query, readTime } from "../../grammar/query/index.ts";
import type { Context } from "../context.ts";
import { hasCredentials, openLog } from "../open-platform.ts";
import { openSandbox, placed, usesSandbox } from "../open-sandbox.ts";
import { PlatformError } from "../platform/error.ts";
import { type Allowance, type AppLog, LINES_CAUGHT_UP, type LogLine } from "../platform/log.ts";
import { asTheyCome, mergeByTime } from "../time/merge-by-time.ts";
import { type Block, CAUGHT_UP, LineBlocks } from "./line-blocks.ts";
import { lineScan } from "./line-scan.ts";
import { InputError, type OnRead } from "./read-files.ts";
import { RequestAllowance } from "./request-allowance.ts";
import type { EntryCount, EntrySample, EntrySource } from "./source.ts";

export interface DeployedLogRequest {
  readonly query: Query;
  readonly follow: boolean;
  readonly live: boolean;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  /** Whether it is asked of the sandbox. */
  readonly sandbox: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Requests for the entries that explain why nothing was found: the first twenty thousand, in pages of up to a megabyte. */
const SAMPLE_REQUESTS = 6;

/**
 * Requests for all counts of similar queries together: as many as the query took, but for these bounds. An account has five
 * to ten a second.
 */
const COUNT_REQUESTS = { atLeast: 12, atMost: 60 };

/**
 * The log of the deployed app, with the development log between its lines where there is one; that of the sandbox alone, as
 * the two would be hard to tell apart on one machine. Undefined where there are no credentials, or nothing was deployed: then
 * the development log is all there is, which `--sandbox` never reads.
 */
export async function deployedSource(
  context: Context,
  request: DeployedLogRequest,
  local: EntrySource | undefined,
): Promise<EntrySource | undefined> {
  const { io, directory } = context;
  if (!existsSync(join(directory, "tool.json")) && !request.sandbox) return undefined;
  const isSandbox = usesSandbox(context, request.sandbox);
  if (!isSandbox && !(await hasCredentials(io.env))) return undefined;
  const development = isSandbox ? undefined : local;
  const { readConfigFile } = await import("../config-file.ts");
  const file = await context.attempt(readConfigFile(context));
  // The problems were printed. The development log can be read all the same, where no other one was asked for.
  if (file === undefined && request.sandbox)
    return context.fail("the log of the sandbox was not read", "tool.json says which app it is of: mend it first");
  if (file === undefined) return undefined;
  const { resolveProject } = await import("../project/resolve-config.ts");
  const { config } = resolveProject(context, file.config, { development: false });

  const stop = new AbortController();
  const nowMs = io.nowMs();
  const sinceMs = request.sinceMs ?? Math.min(request.untilMs ?? nowMs, nowMs) - DAY_MS;
  const sandbox = await openSandbox(context, request.sandbox, { app: config.name });
  const log = await openLog({ env: io.env, clock: io.clock, config: placed(config, sandbox), sandbox });
  let requests = 0;
  let onRequest = () => {};
  const onTake = () => {
    requests += 1;
    onRequest();
  };
  const reading = new RequestAllowance(Number.POSITIVE_INFINITY, onTake);
  let isAwaited = false;
  let isSampled = false;
  const lines = log.read(
    {
      ...request,
      ...{ sinceMs, allowance: reading },
      onAwaited: () => {
        isAwaited = true;
      },
      onSampled: () => {
        isSampled = true;
        void context.say("more than 500 entries a second: the cloud leaves some out; without --live all are shown");
      },
      onTrouble: (error) => void context.say(`${error.message}; trying again`),
    },
    stop.signal,
  );
  let first: IteratorResult<readonly LogLine[]>;
  try {
    first = await lines.next();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error.code === "logs/not-deployed" && isSandbox && (request.sandbox || local === undefined)) {
      return context.fail(`${config.name} is not deployed in the sandbox`, "tool deploy --sandbox deploys it");
    }
    if (error.code === "logs/not-deployed") return undefined;
    const failing: EntrySource = {
      sinceMs,
      note: development?.note,
      live: request.follow,
      limitsToNewest: !request.follow,
      evidence: "period",
      saysWhenCaughtUp: request.follow && development !== undefined,
      totalBytes: undefined,
      async *inputs(signal, onRead) {
        // Said before what there is besides, which may never end.
        yield failed(error);
        if (development !== undefined) yield* development.inputs(signal, onRead);
      },
    };
    return failing;
  }
  const read = [
    ...(isAwaited ? [] : [`the log of ${config.name} in ${log.place}`]),
    ...(development === undefined ? [] : [isAwaited ? "the log of tool start" : "that of tool start"]),
  ];
  return {
    sinceMs,
    note: [
      ...(isAwaited ? [`${config.name} has no log in ${log.place} yet: its first request makes it`] : []),
      ...(read.length > 0 ? [`reading ${read.join(", and ")}`] : []),
    ].join("\n"),
    live: request.follow,
    limitsToNewest: !request.follow,
    evidence: "period",
    saysWhenCaughtUp: request.follow,
    totalBytes: undefined,
    missing: () => (isSampled ? "the cloud left entries out" : undefined),
    ...(!request.follow && { requests: () => requests }),
    async *inputs(signal, onRead) {
      signal.addEventListener("abort", () => stop.abort(), { once: true });
      if (!request.follow) onRequest = () => onRead(0);
      yield joined(startingWith(first, lines), development, { follow: request.follow, signal, onRead });
    },
    ...evidenceIn({ log, development, reading, onTake, sinceMs, untilMs: request.untilMs, nowMs }),
  };
}

interface Evidence {
  readonly log: AppLog;
  readonly development: EntrySource | undefined;
  /** The requests of the query itself. */
  readonly reading: RequestAllowance;
  /** Called for each further one. */
  readonly onTake: () => void;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  readonly nowMs: number;
}

/** Explains that nothing was found, in a few requests more: CloudWatch returns only what it selects. */
function evidenceIn(evidence: Evidence): Pick<EntrySource, "sample" | "count"> {
  const { log, development, reading, onTake, sinceMs, untilMs, nowMs } = evidence;
  const blocksOf = (query: Query, allowance: Allowance, signal: AbortSignal) => {
    const lines = log.read({ ...{ query, sinceMs, untilMs, allowance }, ...PAST_ALONE }, signal);
    return joined(lines, development, { follow: false, signal, onRead: () => {} });
  };
  const { atLeast, atMost } = COUNT_REQUESTS;
  let counting: RequestAllowance | undefined;
  return {
    sample(signal): EntrySample {
      const allowance = new RequestAllowance(SAMPLE_REQUESTS, onTake);
      let isFailed = false;
      const blocks = async function* () {
        try {
          yield* blocksOf({ source: "", expr: undefined }, allowance, signal);
        } catch (error) {
          if (!(error instanceof InputError)) throw error;
          isFailed = true;
        }
      };
      return { blocks: blocks(), isPartial: () => isFailed || allowance.isExceeded || signal.aborted };
    },
    async count(query, signal): Promise<EntryCount | undefined> {
      counting ??= new RequestAllowance(Math.min(Math.max(reading.used, atLeast), atMost), onTake);
      const scan = lineScan({ query, nowMs, sinceMs, untilMs });
      let count = 0;
      const onLine = () => {
        count += 1;
        return true;
      };
      try {
        for await (const block of blocksOf(query, counting, signal)) scan(block, onLine);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        return count === 0 ? undefined : { count, isLeast: true };
      }
      const isLeast = counting.isExceeded || signal.aborted;
      return count === 0 && isLeast ? undefined : { count, isLeast };
    },
  };
}

/** A reading to the end of a period, of which nothing is said. */
const PAST_ALONE = { follow: false, live: false, onAwaited() {}, onSampled() {}, onTrouble() {} } as const;

/** An input that fails at once. */
function failed(error: PlatformError): AsyncIterable<Block> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new RemoteError(error)) }) };
}

/** The outside world failed while its log was read. What came before counts. */
class RemoteError extends InputError {
  constructor(error: PlatformError) {
    super("", "", error.hint, error);
    this.message = error.message;
  }
}

interface Joining {
  readonly follow: boolean;
  readonly signal: AbortSignal;
  readonly onRead: OnRead;
}

async function* startingWith(
  first: IteratorResult<readonly LogLine[]>,
  rest: AsyncIterable<readonly LogLine[]>,
): AsyncGenerator<readonly LogLine[]> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

async function* joined(
  lines: AsyncIterable<readonly LogLine[]>,
  development: EntrySource | undefined,
  { follow, signal, onRead }: Joining,
): AsyncGenerator<Block> {
  let failure: PlatformError | undefined;
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const remote = async function* () {
    try {
      yield* lines;
    } catch (error) {
      if (signal.aborted) return;
      // The other log is read to its end first; one that is followed has none.
      if (follow) stop.abort();
      if (!(error instanceof PlatformError)) throw error;
      failure = error;
    }
  };
  const readings = [remote(), ...(development === undefined ? [] : [linesOf(development, both)])];
  const blocks = new LineBlocks();
  let late = readings.length;
  for await (const lines of follow ? asTheyCome(readings) : mergeByTime(readings)) {
    if (lines === LINES_CAUGHT_UP) {
      late -= 1;
      if (late === 0) yield CAUGHT_UP;
    }
    if (lines.length === 0) continue;
    const bytes = Buffer.from(`${lines.map(({ text }) => text).join("\n")}\n`);
    onRead(bytes.length);
    yield* blocks.push(bytes);
  }
  if (failure !== undefined) throw new RemoteError(failure);
}

async function* linesOf(source: EntrySource, signal: AbortSignal): AsyncGenerator<readonly LogLine[]> {
  let timeMs = 0;
  for await (const input of source.inputs(signal, () => {})) {
    if ("path" in input) throw new Error("the development log is read as blocks");
    for await (const block of input) {
      const { bytes, start, end } = block;
      if (block === CAUGHT_UP) yield LINES_CAUGHT_UP;
      else
        yield bytes
          .toString("utf8", start, end)
          .split("\n")
          .filter((text) => text !== "")
          .map((text) => {
            // Entries of one tick may have been written in another order than their times.
            timeMs = Math.max(timeMs, timeOf(text) ?? timeMs);
            return { timeMs, text };
          });
    }
  }
}

function timeOf(line: string): number | undefined {
  const written = /"timestamp":"([^"]+)"/.exec(line)?.[1];
  return written === undefined ? undefined : readTime(written);
}
