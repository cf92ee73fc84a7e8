import type { Clock } from "../grammar/units/clock.ts";
import type { LookUp } from "./host.ts";
import { type CloudAnswer, type CloudName, type CloudQuestion, NO_NAMES } from "./service/index.ts";

/** Zones and roles change rarely, and a deploy may add a stage meanwhile. */
const KEPT_MS = 5 * 60_000;
/** Somebody who has signed in to AWS meanwhile should not wait for long. */
const FAILURE_KEPT_MS = 30_000;
/** An account answers in a second. Without a network the SDK tries for much longer. */
const LIMIT_MS = 10_000;

interface Kept {
  readonly names: readonly CloudName[];
  readonly untilMs: number;
}

/**
 * The names in the user's AWS accounts, asked for in the background: a question never waits, and is answered by what is there.
 * No credentials, no network, no permission: then there are no names, and nothing is said.
 */
export class CloudNames {
  readonly #lookUp: LookUp | undefined;
  readonly #clock: Clock;
  readonly #onStages: () => void;
  readonly #kept = new Map<string, Kept>();
  readonly #pending = new Set<string>();

  constructor({ lookUp, clock, onStages = () => {} }: CloudNamesParts) {
    this.#lookUp = lookUp;
    this.#clock = clock;
    this.#onStages = onStages;
  }

  get(folder: string, question: CloudQuestion): CloudAnswer {
    if (this.#lookUp === undefined) return NO_NAMES;
    const key = JSON.stringify([folder, question.kind, question.app, question.profile, question.region]);
    const kept = this.#kept.get(key);
    const isFresh = kept !== undefined && this.#clock.monotonicMs() < kept.untilMs;
    if (!isFresh && !this.#pending.has(key)) this.#ask(key, folder, question);
    // Names that are older are better than none while they are asked for again.
    return { names: kept?.names ?? [], isPending: this.#pending.has(key) };
  }

  #ask(key: string, folder: string, question: CloudQuestion): void {
    this.#pending.add(key);
    const stop = new AbortController();
    const limit = this.#clock.after(LIMIT_MS, () => stop.abort(), { isBackground: true });
    const ended = (names: readonly CloudName[], keptMs: number) => {
      limit.stop();
      // After the limit an answer counts no more.
      if (!this.#pending.delete(key)) return;
      const before = this.#kept.get(key)?.names ?? [];
      this.#kept.set(key, { names, untilMs: this.#clock.monotonicMs() + keptMs });
      if (question.kind === "stages" && JSON.stringify(before) !== JSON.stringify(names)) this.#onStages();
    };
    stop.signal.addEventListener("abort", () => ended([], FAILURE_KEPT_MS), { once: true });
    this.#lookUp!({ folder, question }, stop.signal).then(
      (names) => ended(names, KEPT_MS),
      () => ended([], FAILURE_KEPT_MS),
    );
  }
}

interface CloudNamesParts {
  /** Undefined if no account can be asked. */
  readonly lookUp?: LookUp | undefined;
  readonly clock: Clock;
  /** Called when the account has told other stages of an app than before, which lenses show. */
  readonly onStages?: () => void;
}
