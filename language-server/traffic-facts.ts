import type { Clock } from "../grammar/units/clock.ts";
import type { Directory } from "../schema/index.ts";
import type { AskTraffic } from "./host.ts";
import {
  developmentTraffic,
  type EditorSettings,
  type Traffic,
  type TrafficNow,
  type TrafficQuestion,
} from "./service/index.ts";

/** Hits of minutes ago are good enough for a line above a rule. */
const KEPT_MS = 5 * 60_000;
/** Somebody who has signed in meanwhile should not wait for long. */
const FAILURE_KEPT_MS = 60_000;
/** Long after a keystroke, and after what the editor shows first. */
const ASK_AFTER_MS = 1_000;
/** A service answers two aggregations in seconds. */
const LIMIT_MS = 20_000;

/** Where `tool start` writes the entries of a project, and how much of its end is read: some 20,000 requests. */
const DEVELOPMENT_LOG = ".tool/development.ndjson";
const MAX_BYTES = 8 * 1024 * 1024;

interface ProjectRequest {
  readonly folder: string;
  readonly directory: Directory | undefined;
  readonly question: TrafficQuestion | undefined;
  readonly source: EditorSettings["traffic"];
}

/**
 * The traffic of the projects' rules, as their log services know it, else their development logs. A question never waits: it is
 * answered by what is there, and the log is asked in the background. No service, nobody signed in, no network: then nothing is said.
 */
export class TrafficFacts {
  readonly #ask: AskTraffic | undefined;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #kept = new Map<string, { readonly traffic: Traffic | undefined; readonly untilMs: number }>();
  readonly #pending = new Set<string>();
  /** The key of the last question about each folder: an address that is being typed is another one with each keystroke. */
  readonly #latest = new Map<string, string>();

  constructor({ ask, clock, onChange }: TrafficFactsParts) {
    this.#ask = ask;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get(request: ProjectRequest): TrafficNow | undefined {
    const { folder, directory, question, source } = request;
    const canAsk = source === "service" && question !== undefined && this.#ask !== undefined;
    // In a browser there is neither.
    if (source === "off" || (!canAsk && directory?.readEnd === undefined)) return undefined;
    const key = JSON.stringify([folder, source === "service" ? question : undefined]);
    this.#latest.set(folder, key);
    const kept = this.#kept.get(key);
    const isFresh = kept !== undefined && this.#clock.monotonicMs() < kept.untilMs;
    if (!isFresh && !this.#pending.has(key)) {
      this.#pending.add(key);
      this.#clock.after(ASK_AFTER_MS, () => void this.#fill(key, request), { isBackground: true });
    }
    // The older is better than nothing while it is asked for again.
    return kept?.traffic && { traffic: kept.traffic, nowMs: this.#clock.nowMs() };
  }

  async #fill(key: string, { folder, directory, question, source }: ProjectRequest): Promise<void> {
    if (this.#latest.get(folder) !== key) {
      this.#pending.delete(key);
      this.#kept.delete(key);
      return;
    }
    const ofService =
      source === "service" && question !== undefined ? await this.#ofService(folder, question) : undefined;
    const traffic = ofService ?? this.#ofDevelopment(directory);
    const isMissed = source === "service" && question !== undefined && ofService === undefined;
    const keptMs = isMissed ? FAILURE_KEPT_MS : KEPT_MS;
    const before = this.#kept.get(key)?.traffic;
    const isSame = JSON.stringify(before) === JSON.stringify(traffic);
    this.#kept.set(key, { traffic: isSame ? before : traffic, untilMs: this.#clock.monotonicMs() + keptMs });
    this.#pending.delete(key);
    if (!isSame) this.#onChange();
  }

  async #ofService(folder: string, question: TrafficQuestion): Promise<Traffic | undefined> {
    if (this.#ask === undefined) return undefined;
    const stop = new AbortController();
    const limit = this.#clock.after(LIMIT_MS, () => stop.abort(), { isBackground: true });
    const stopped = new Promise<undefined>((resolve) =>
      stop.signal.addEventListener("abort", () => resolve(undefined), { once: true }),
    );
    try {
      return await Promise.race([this.#ask({ folder, question }, stop.signal), stopped]);
    } catch {
      return undefined;
    } finally {
      limit.stop();
    }
  }

  #ofDevelopment(directory: Directory | undefined): Traffic | undefined {
    const text = directory?.readEnd?.(DEVELOPMENT_LOG, MAX_BYTES);
    return text === undefined ? undefined : developmentTraffic(text, this.#clock.nowMs());
  }
}

interface TrafficFactsParts {
  /** Undefined if no service can be asked. */
  readonly ask?: AskTraffic | undefined;
  readonly clock: Clock;
  /** Called when there is other traffic than before. */
  readonly onChange: () => void;
}
