import { type ChildProcess, fork } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { TooManyGroups } from "../../../../grammar/query/index.ts";
import type { SqlValue } from "../../../../grammar/query/sql/condition.ts";
import type { Clock, Timer } from "../../../../grammar/units/clock.ts";
import { TurnQueue } from "../../../turns/turn-queue.ts";
import { SERVICE, type TurnTaker } from "../../../turns/turns.ts";
import { unlessDiskFull } from "../../durable.ts";
import { processFile } from "../../process-file.ts";
import { StoreError, storeClosed } from "../../store.ts";
import type { Columns } from "../connection-pool.ts";
import type { EngineAnswer, EngineJob, EngineRequest } from "./engine-protocol.ts";

/** Who asks: the evaluation of alerts and tails have processes of their own, so that the queries of people do not hold them up. */
export type EngineLane = "alerts" | "people" | "tails";

/** Processes at once. The evaluation has two readers; people had three connections before; tails have a piece each in turn. */
const MOST: Readonly<Record<EngineLane, number>> = { alerts: 2, people: 3, tails: 2 };
/** A process that nobody uses has some eighty megabytes. */
const IDLE_MS = 15_000;
const MOST_IDLE = 2;

/**
 * Processes for queries that may take long over a single text, which nothing in an engine interrupts. A query has a process
 * of its own while it runs, which ends with the query's signal. As that may be half a minute, the last process for people is
 * kept for another team, once a second one has asked anything.
 */
export class KillableEngines {
  readonly #spill: string;
  readonly #clock: Clock;
  readonly #idle: EngineProcess[] = [];
  readonly #all = new Set<EngineProcess>();
  readonly #lanes: Readonly<Record<EngineLane, TurnQueue>> = {
    alerts: new TurnQueue({ atOnce: MOST.alerts }),
    people: new TurnQueue({ atOnce: MOST.people, perTeam: () => MOST.people - (this.#hasSeveralTeams ? 1 : 0) }),
    tails: new TurnQueue({ atOnce: MOST.tails }),
  };
  #isClosed = false;
  /** The first team that asked, and whether another one did since. */
  #team: string | undefined;
  #hasSeveralTeams = false;

  /** `spill` is a folder for what does not fit into their memory. */
  constructor(spill: string, clock: Clock) {
    this.#spill = spill;
    this.#clock = clock;
  }

  /** Removes what a crash left. */
  async open(): Promise<void> {
    await rm(this.#spill, { recursive: true, force: true });
    await unlessDiskFull(mkdir(this.#spill, { recursive: true }));
  }

  /** The processes that run, those that wait for another query, too. */
  get count(): number {
    return this.#all.size;
  }

  /** Ends all processes, whatever they do: the questions to them are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const lane of Object.values(this.#lanes)) lane.refuseAll(storeClosed);
    await Promise.all([...this.#all].map((one) => one.end(storeClosed())));
  }

  /** Notes who asks a question, whatever answers it. */
  see({ team }: TurnTaker): void {
    if (team === SERVICE.team) return;
    this.#team ??= team;
    this.#hasSeveralTeams ||= team !== this.#team;
  }

  /** Takes a process, or waits for the turn of who asks. Rejects with the reason of the signal. */
  async take(lane: EngineLane, signal: AbortSignal, asker: TurnTaker): Promise<EngineProcess> {
    signal.throwIfAborted();
    if (this.#isClosed) throw storeClosed();
    this.see(asker);
    await this.#lanes[lane].enter(asker, signal);
    if (this.#isClosed) {
      this.#lanes[lane].leave(asker);
      throw storeClosed();
    }
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isOver) continue;
      idle.isUsed(true);
      return idle;
    }
    const one = new EngineProcess(this.#spill, this.#clock, () => {
      this.#all.delete(one);
      const at = this.#idle.indexOf(one);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    this.#all.add(one);
    return one;
  }

  /** Gives a process back. One that is asked for something still is ended. */
  giveBack(one: EngineProcess, lane: EngineLane, asker: TurnTaker): void {
    this.#lanes[lane].leave(asker);
    if (one.isOver) return;
    if (one.isBusy || this.#isClosed || this.#idle.length >= MOST_IDLE) return void one.end(storeClosed());
    one.isUsed(false);
    this.#idle.push(one);
  }
}

interface Question {
  readonly take: ((columns: Columns) => void | Promise<void>) | undefined;
  readonly resolve: (done: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The rows that are being taken. */
  taking: Promise<void>;
}

/** A process that answers the questions of one query after the other. */
export class EngineProcess {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #questions = new Map<number, Question>();
  #number = 0;
  #idle: Timer | undefined;
  /** Whether it takes no more questions: it has ended, or is about to. */
  isOver = false;
  #hasExited = false;

  /** `ended` is told once. */
  constructor(spill: string, clock: Clock, ended: () => void) {
    this.#clock = clock;
    // It speaks to nobody else.
    this.#child = fork(processFile("engine-process", import.meta.url), [spill], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { PATH: process.env.PATH },
      serialization: "advanced",
    });
    const over = (cause: unknown) => {
      if (this.#hasExited) return;
      this.#hasExited = true;
      this.isOver = true;
      this.#idle?.stop();
      ended();
      const text = "the process of the query ended; try again";
      this.#reject(new StoreError("unavailable", text, { retryAfterMs: 1_000, cause }));
    };
    this.#child.on("message", (answer: EngineAnswer) => this.#take(answer));
    this.#child.on("error", over);
    this.#child.on("exit", (code, by) => over(new Error(by ?? `exit status ${code}`)));
  }

  get isBusy(): boolean {
    return this.#questions.size > 0;
  }

  /** Says whether a query has it: an idle one keeps this process from nothing, and ends after a while. */
  isUsed(isUsed: boolean): void {
    this.#idle?.stop();
    if (isUsed) {
      this.#child.ref();
      this.#child.channel?.ref();
      return;
    }
    this.#child.unref();
    this.#child.channel?.unref();
    this.#idle = this.#clock.after(IDLE_MS, () => void this.end(storeClosed()), { isBackground: true });
  }

  statement(
    text: string,
    values: readonly SqlValue[],
    take: (columns: Columns) => void | Promise<void>,
  ): Promise<void> {
    return this.#ask({ kind: "statement", text, values }, take) as Promise<void>;
  }

  ask(job: Exclude<EngineJob, { kind: "statement" }>): Promise<unknown> {
    return this.#ask(job);
  }

  /** Kills it, and resolves when it has ended. What it is asked is rejected with the reason at once. */
  async end(reason: unknown): Promise<void> {
    this.isOver = true;
    this.#reject(reason);
    if (this.#hasExited) return;
    this.#child.ref();
    await new Promise<void>((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.kill("SIGKILL");
    });
  }

  #ask(job: EngineJob, take?: Question["take"]): Promise<unknown> {
    const number = ++this.#number;
    return new Promise((resolve, reject) => {
      if (this.isOver) {
        reject(new StoreError("unavailable", "the process of the query ended; try again", { retryAfterMs: 1_000 }));
        return;
      }
      this.#questions.set(number, { take, resolve, reject, taking: Promise.resolve() });
      this.#child.send({ ...job, number } satisfies EngineRequest, (error) => {
        if (error !== null) this.#settle(number)?.reject(error);
      });
    });
  }

  #take(answer: EngineAnswer): void {
    const { number } = answer;
    const question = this.#questions.get(number);
    if (question === undefined) return;
    if ("columns" in answer) {
      question.taking = question.taking.then(() => question.take?.(answer.columns));
      question.taking.catch((error: unknown) => this.#settle(number)?.reject(error));
      return;
    }
    if ("error" in answer) {
      const { error, tooMany } = answer;
      const failure = tooMany === undefined ? new Error(error) : new TooManyGroups(tooMany.count, tooMany.what);
      this.#settle(number)!.reject(failure);
      return;
    }
    question.taking.then(
      () => this.#settle(number)?.resolve(answer.done),
      () => {},
    );
  }

  #settle(number: number): Question | undefined {
    const question = this.#questions.get(number);
    this.#questions.delete(number);
    return question;
  }

  #reject(reason: unknown): void {
    for (const number of [...this.#questions.keys()]) this.#settle(number)!.reject(reason);
  }
}
