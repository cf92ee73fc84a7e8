// Work that is still to be done: kept as data, so that it is done after a restart, too.
import type { CloudClock } from "./clock.ts";
import type { Collection } from "./collection.ts";

export interface Task {
  readonly service: string;
  readonly region: string;
  readonly kind: string;
  /** The key that the handler gets. */
  readonly key: string;
  /** In real time. */
  readonly dueAt: number;
}

/** The functions that a service runs when a task of a kind is due, with the key of the task. */
export type TaskHandlers<Kind extends string> = Readonly<Record<Kind, (key: string) => void>>;

/** The tasks of one service. */
export interface ServiceTasks<Kind extends string> {
  /** After `ms` of the cloud's time. A task of this kind and key that is still to come is replaced. */
  after(ms: number, kind: Kind, key: string): void;
  /** At a point of real time. */
  at(time: Date, kind: Kind, key: string): void;
  cancel(kind: Kind, key: string): void;
}

export class Tasks {
  readonly #tasks: Collection<Task>;
  readonly #clock: CloudClock;
  readonly #report: (text: string) => void;
  readonly #handlers = new Map<string, (key: string) => void>();
  /** Functions that cancel the timer of a task, by the task's id. */
  readonly #timers = new Map<string, () => void>();

  constructor(tasks: Collection<Task>, clock: CloudClock, report: (text: string) => void) {
    this.#tasks = tasks;
    this.#clock = clock;
    this.#report = report;
  }

  of<Kind extends string>(service: string, region: string, handlers: TaskHandlers<Kind>): ServiceTasks<Kind> {
    for (const [kind, run] of Object.entries<(key: string) => void>(handlers)) {
      this.#handlers.set(`${service} ${region} ${kind}`, run);
    }
    const idOf = (kind: Kind, key: string) => `${service} ${region} ${kind} ${key}`;
    const put = (kind: Kind, key: string, dueAt: number) => {
      const id = idOf(kind, key);
      this.#tasks.set(id, { service, region, kind, key, dueAt });
      return id;
    };
    return {
      after: (ms, kind, key) => {
        const id = put(kind, key, this.#clock.dueAt(ms));
        this.#wait(id, (run) => this.#clock.after(ms, run));
      },
      at: (time, kind, key) => {
        const id = put(kind, key, time.getTime());
        this.#wait(id, (run) => this.#clock.at(time.getTime(), run));
      },
      cancel: (kind, key) => {
        const id = idOf(kind, key);
        this.#tasks.delete(id);
        this.#forget(id);
      },
    };
  }

  /** Waits for all that is stored; what is past is done after `leastMs`. */
  resume(leastMs: number): void {
    for (const forget of this.#timers.values()) forget();
    this.#timers.clear();
    for (const [id, { dueAt }] of this.#tasks) {
      const timeMs = Math.max(dueAt, this.#clock.now() + leastMs);
      this.#wait(id, (run) => this.#clock.at(timeMs, run));
    }
  }

  #wait(id: string, start: (run: () => void) => () => void): void {
    this.#forget(id);
    this.#timers.set(
      id,
      start(() => this.#run(id)),
    );
  }

  #forget(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  #run(id: string): void {
    this.#timers.delete(id);
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    this.#tasks.delete(id);
    const { service, region, kind, key } = task;
    try {
      this.#handlers.get(`${service} ${region} ${kind}`)?.(key);
    } catch (error) {
      this.#report(`${service}: ${kind} of ${key}: ${(error as Error).stack}`);
    }
  }
}
