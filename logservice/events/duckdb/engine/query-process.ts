import {
  compilePredicate,
  type Pipe,
  type PipesResult,
  PipesRun,
  type pipesOver,
} from "../../../../grammar/query/index.ts";
import type { SqlValue } from "../../../../grammar/query/sql/condition.ts";
import type { TurnTaker } from "../../../turns/turns.ts";
import { type BatchLines, eventAt } from "../../journal/batch-lines.ts";
import type { Event } from "../../store.ts";
import type { StatementRunner, TakeColumns } from "../connection-pool.ts";
import type { Selecting } from "./engine-protocol.ts";
import type { EngineLane, EngineProcess, KillableEngines } from "./killable-engines.ts";

type PipesOptions = ConstructorParameters<typeof PipesRun>[1];
type Rows = Parameters<typeof pipesOver>[1];

/** Lines of a batch that may be selected: the batch, and the place of the line in it. */
export interface LinePlace<Batch extends { readonly lines: BatchLines } = { readonly lines: BatchLines }> {
  readonly batch: Batch;
  readonly index: number;
}

/** Texts of so many bytes are tested here: no expression takes longer than a tenth of a second over them. */
const HERE_BYTES = 4 * 1024;

/** Which process a query gets, and until when. */
interface ProcessRequest {
  readonly lane: EngineLane;
  readonly asker: TurnTaker;
  readonly signal: AbortSignal;
}

/** The part of one query that may take long over a single text. It is done in a process, which ends with the signal. */
export class QueryProcess implements StatementRunner {
  readonly #engines: KillableEngines;
  readonly #by: Selecting;
  readonly #lane: EngineLane;
  readonly #asker: TurnTaker;
  readonly #signal: AbortSignal;
  #taken: Promise<EngineProcess> | undefined;
  #kill: (() => void) | undefined;
  #testedBytes = 0;

  constructor(engines: KillableEngines, by: Selecting, { lane, asker, signal }: ProcessRequest) {
    this.#engines = engines;
    this.#by = by;
    this.#lane = lane;
    this.#asker = asker;
    this.#signal = signal;
  }

  /** Runs a statement as ConnectionPool does. */
  async run(text: string, values: readonly SqlValue[], _: AbortSignal, take: TakeColumns): Promise<void> {
    await (await this.#process()).statement(text, values, take);
  }

  /** Those of some lines that the query selects, in their order. */
  async select<Place extends LinePlace>(places: readonly Place[]): Promise<Place[]> {
    const ends = new Uint32Array(places.length);
    let bytes = 0;
    for (const [i, { batch, index }] of places.entries()) {
      const { starts } = batch.lines;
      bytes += starts[index + 1]! - starts[index]!;
      ends[i] = bytes;
    }
    this.#testedBytes += bytes;
    if (this.#taken === undefined && this.#testedBytes <= HERE_BYTES) {
      const selects = compilePredicate(this.#by.query, this.#by);
      return places.filter(({ batch, index }) => selects(eventAt(batch.lines, index).event));
    }
    const parts = places.map(({ batch: { lines }, index }) =>
      lines.body.subarray(lines.starts[index]!, lines.starts[index + 1]!),
    );
    const job = { kind: "lines", by: this.#by, body: Buffer.concat(parts), ends } as const;
    const selected = (await (await this.#process()).ask(job)) as Uint32Array;
    return Array.from(selected, (place) => places[place]!);
  }

  /** Those of some events that the query selects, in their order. */
  async selectEvents<One extends { readonly event: Event }>(all: readonly One[]): Promise<One[]> {
    if (all.length === 0) return [];
    const job = { kind: "events", by: this.#by, events: all.map(({ event }) => event) } as const;
    const selected = (await (await this.#process()).ask(job)) as Uint32Array;
    return Array.from(selected, (place) => all[place]!);
  }

  /** A run of stages over events, of which the query has one. */
  async beginRun(pipes: readonly Pipe[], options: PipesOptions): Promise<StageRun> {
    const engine = await this.#process();
    await engine.ask({ kind: "begin", pipes, options });
    let isDone = false;
    return {
      get isDone() {
        return isDone;
      },
      async push(events) {
        isDone = (await engine.ask({ kind: "push", events })) as boolean;
      },
      result: () => engine.ask({ kind: "result" }) as Promise<PipesResult>,
    };
  }

  /** Does as `pipesOver`. */
  async pipesOver(pipes: readonly Pipe[], { columns, rows }: Rows, options: PipesOptions) {
    const job = { kind: "rows", pipes, table: { columns, rows }, options } as const;
    return (await (await this.#process()).ask(job)) as ReturnType<typeof pipesOver>;
  }

  /** The query is over. */
  end(): void {
    if (this.#kill !== undefined) this.#signal.removeEventListener("abort", this.#kill);
    this.#taken?.then(
      (engine) => this.#engines.giveBack(engine, this.#lane, this.#asker),
      () => {},
    );
  }

  #process(): Promise<EngineProcess> {
    this.#signal.throwIfAborted();
    this.#taken ??= this.#engines.take(this.#lane, this.#signal, this.#asker).then((engine) => {
      this.#kill = () => void engine.end(this.#signal.reason);
      this.#signal.addEventListener("abort", this.#kill, { once: true });
      if (this.#signal.aborted) this.#kill();
      return engine;
    });
    return this.#taken;
  }
}

/** Stages that events are pushed into. */
export interface StageRun {
  /** Whether nothing that comes can change the result. */
  readonly isDone: boolean;
  push(events: readonly Event[]): Promise<void> | void;
  result(): Promise<PipesResult> | PipesResult;
}

/** The same in this process. */
export function stageRunHere(pipes: readonly Pipe[], options: PipesOptions): StageRun {
  const run = new PipesRun({ pipes }, options);
  return {
    get isDone() {
      return run.isDone;
    },
    push(events) {
      for (const event of events) {
        if (run.isDone) break;
        run.push(event);
      }
    },
    result: () => run.result(),
  };
}
