export interface MetricsPeriod {
  readonly stage: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Figures of a stage. What nothing is known of is undefined: no request has no duration. */
export interface Metrics {
  readonly requests: {
    readonly count: number;
    readonly clientErrors: number;
    readonly serverErrors: number;
    readonly avgMs: number | undefined;
    readonly p95Ms: number | undefined;
  };
  readonly invocations: {
    readonly count: number;
    readonly errors: number;
    readonly throttles: number;
    readonly avgMs: number | undefined;
    readonly p95Ms: number | undefined;
    /** All of them together. */
    readonly totalMs: number;
  };
  readonly cost: Cost;
}

/** In US dollars, before anything that is free. */
export interface Cost {
  readonly requests: number;
  readonly invocations: number;
  readonly duration: number;
  readonly total: number;
  /** Whose prices these are, and of when. */
  readonly region: string;
  readonly asOf: string;
}
