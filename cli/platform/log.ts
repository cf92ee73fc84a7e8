import type { Query } from "../../grammar/query/index.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import type { ResolvedConfig } from "../../schema/index.ts";
import type { PlatformError } from "./error.ts";
import type { SandboxAccess } from "./sandbox.ts";

/** Whose log it is, and the environment that the credentials come from. */
export interface LogSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly config: ResolvedConfig;
  readonly sandbox: SandboxAccess | undefined;
}

/** The log of a deployed app. */
export interface AppLog {
  /** Where it is: the region, or the sandbox. */
  readonly place: string;
  /**
   * The lines that the query may select, oldest first. Throws a PlatformError; `logs/not-deployed` if there is neither a log
   * group nor a function that would make one.
   */
  read(request: LogRequest, signal: AbortSignal): AsyncGenerator<readonly LogLine[]>;
}

export interface LogRequest {
  readonly query: Query;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  readonly follow: boolean;
  readonly live: boolean;
  /** How many requests the platform may be sent for it; undefined for as many as it takes. */
  readonly allowance?: Allowance | undefined;
  /** Called if the app is deployed, but has not written to its log yet. */
  readonly onAwaited: () => void;
  /** Called when the service starts to drop entries: a log that is followed live has more than 500 a second. */
  readonly onSampled: () => void;
  /** Called if a followed log could not be read; it is tried again. */
  readonly onTrouble: (error: PlatformError) => void;
}

/** So many requests, for one reading or for several together. A reading ends early once they are used up. */
export interface Allowance {
  /** Whether there is one more, which is used up with that. */
  take(): boolean;
}

/** A line of a remote log and its time, in milliseconds since 1970. */
export interface LogLine {
  readonly timeMs: number;
  readonly text: string;
}

/** An empty batch between the existing lines and those that are written from now on. Compared by identity. */
export const LINES_CAUGHT_UP: readonly LogLine[] = [];
