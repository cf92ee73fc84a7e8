// Instances of a function as the platform treats them, and a log service that is not always there, by a clock that is turned: the
// real sender and the real entries, without processes and sockets.
import { gunzipSync } from "node:zlib";
import type { Entry } from "../../../grammar/entry.ts";
import type { Clock } from "../../../grammar/units/clock.ts";
import { EntryLog, entryLine } from "../../../runtime/entries.ts";
import { type Outcome, type PostBatch, Sender } from "../../../runtime/lambda/sender.ts";
import type { Random } from "../random.ts";
import type { TestClock } from "../test-clock.ts";

const idIn = (line: string) => (JSON.parse(line) as Entry).id!;

/** Stores what it is sent: a batch with a known key is not stored again. Ids are counted, and decide nothing. */
export class ServiceModel {
  /** How often each id was stored. */
  readonly stored = new Map<string, number>();
  /** Batches that came again with their key. */
  repeated = 0;
  isAway = false;
  isFaulty = true;
  readonly #keys = new Map<string, string>();
  readonly #clock: TestClock;
  readonly #random: Random;

  constructor(clock: TestClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Answers through `arrive`, after a while: an instance that is stopped does not hear it. */
  post(batch: Parameters<PostBatch>[0], arrive: (outcome: Outcome) => void): void {
    const { outcome, afterMs } = this.#answer(batch);
    this.#clock.after(afterMs, () => arrive(outcome));
  }

  #answer(batch: Parameters<PostBatch>[0]): { readonly outcome: Outcome; readonly afterMs: number } {
    const random = this.#random;
    if (this.isAway) {
      // Nobody listens, or packets are dropped on the way.
      if (random.chance(0.7)) return { outcome: failed("ECONNREFUSED"), afterMs: 1 };
      return { outcome: failed("no answer within 15 s"), afterMs: 15_000 };
    }
    if (this.isFaulty && random.chance(0.02)) return { outcome: failed("503 try again"), afterMs: 20 };
    this.#store(batch);
    // Usual answers are soon there, some take longer than an instance waits, and some are lost.
    if (this.isFaulty && random.chance(0.02)) {
      return { outcome: failed("the answer broke off"), afterMs: random.below(400) };
    }
    const isSlow = this.isFaulty && random.chance(0.05);
    return { outcome: { kind: "taken", refused: 0 }, afterMs: isSlow ? 200 + random.below(600) : 2 + random.below(20) };
  }

  #store({ body, idempotencyKey }: Parameters<PostBatch>[0]): void {
    const text = gunzipSync(body).toString();
    const before = this.#keys.get(idempotencyKey);
    if (before !== undefined) {
      if (before !== text) throw new Error(`${idempotencyKey} has two bodies`);
      this.repeated += 1;
      return;
    }
    this.#keys.set(idempotencyKey, text);
    for (const line of text.split("\n")) {
      const id = idIn(line);
      this.stored.set(id, (this.stored.get(id) ?? 0) + 1);
    }
  }
}

const failed = (reason: string): Outcome => ({ kind: "failed", reason });

export class Instance implements Clock {
  /** Ids of all entries that were written here. */
  readonly written: string[] = [];
  readonly #writtenAtMs: number[] = [];
  #ranUntilMs = 0;
  /** Entries that a closing line of this instance counts. */
  counted = 0;
  isBusy = false;
  isDead = false;
  readonly #clock: TestClock;
  readonly #entries: EntryLog;
  readonly #sender: Sender;
  #isFrozen = false;
  #held: (() => void)[] = [];
  #frozenAtMs: number | undefined;

  constructor(
    name: string,
    {
      clock,
      service,
      printed,
      printsAll,
    }: {
      readonly clock: TestClock;
      readonly service: ServiceModel;
      /** Ids on stdout. */
      readonly printed: Set<string>;
      readonly printsAll: boolean;
    },
  ) {
    this.#clock = clock;
    const print = (text: string) => {
      for (const line of text.trimEnd().split("\n")) printed.add(idIn(line));
    };
    const sender = new Sender({
      instance: name,
      clock: this,
      post: (batch) =>
        new Promise((resolve) => service.post(batch, (outcome) => this.#whenRunning(() => resolve(outcome)))),
      note: (level, message, fields) => {
        if (message === "entries did not reach the log service") this.counted += Number(fields.entries);
        this.#entries.write(level, message, fields);
        this.#entries.flush();
      },
      print: printsAll ? undefined : print,
    });
    this.#sender = sender;
    this.#entries = new EntryLog({
      stage: "production",
      version: "1",
      clock: this,
      instance: name,
      log: (entries) => {
        if (this.isDead) return;
        const lines = entries.map(entryLine);
        for (const { id } of entries) {
          this.written.push(id!);
          this.#writtenAtMs.push(this.nowMs());
        }
        if (printsAll) print(lines.join("\n"));
        sender.write(entries, lines);
      },
    });
  }

  nowMs = () => this.#clock.nowMs();
  monotonicMs = () => this.#clock.monotonicMs();
  sleep = (ms: number) => new Promise<void>((resolve) => this.after(ms, resolve));
  after = (ms: number, act: () => void) => this.#clock.after(ms, () => this.#whenRunning(act));
  every = (): never => {
    throw new Error("nothing here repeats");
  };

  /** One invocation, of `ms` milliseconds, which writes `count` entries besides its own two. */
  async serve(ms: number, { count, isError }: { readonly count: number; readonly isError: boolean }): Promise<void> {
    this.isBusy = true;
    const pauseMs = this.#frozenAtMs === undefined ? undefined : this.nowMs() - this.#frozenAtMs;
    this.#thaw();
    this.#entries.write("info", "request", {});
    for (let i = 0; i < count; i++) this.#entries.write("info", "line", { text: "x".repeat(200) });
    this.#entries.flush();
    await this.sleep(ms);
    this.#entries.write(isError ? "error" : "info", "response", { status: isError ? 500 : 200 });
    this.#entries.flush();
    await this.#sender.answered(pauseMs);
    this.#isFrozen = true;
    this.#frozenAtMs = this.nowMs();
    this.isBusy = false;
  }

  /** The end that an extension is told of. */
  async shutDown(): Promise<void> {
    this.isBusy = true;
    this.#thaw();
    await this.#sender.finish(400);
    this.#sender.close();
    this.isDead = true;
  }

  /** Those of `written` that were in the last `ms` milliseconds in which it ran; to be asked of one that was killed. */
  writtenInLast(ms: number): ReadonlySet<string> {
    return new Set(this.written.filter((_, i) => this.#writtenAtMs[i]! >= this.#ranUntilMs - ms));
  }

  kill(): void {
    this.#ranUntilMs = this.#isFrozen ? this.#frozenAtMs! : this.nowMs();
    this.isDead = true;
  }

  #thaw(): void {
    this.#isFrozen = false;
    for (const act of this.#held.splice(0)) act();
  }

  #whenRunning(act: () => void): void {
    if (this.isDead) return;
    if (this.#isFrozen) this.#held.push(act);
    else act();
  }
}
