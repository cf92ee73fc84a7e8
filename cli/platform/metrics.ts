export interface MetricsPeriod {
  readonly stage: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Figures of a stage. A figure without data is undefined: without a request there is no duration. */
export interface StageMetrics {
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
    /** The duration of all invocations together. */
    readonly totalMs: number;
  };
  readonly cost: Cost;
}

/** In US dollars, without any free tier. */
export interface Cost {
  readonly requests: number;
  readonly invocations: number;
  readonly duration: number;
  readonly total: number;
  /** The region whose prices were used, and their date. */
  readonly region: string;
  readonly asOf: string;
}
