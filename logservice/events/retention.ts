const DAY_MS = 24 * 3_600_000;

/**
 * How long each project keeps its events. What is older is in no answer from the moment at which it expires; its bytes go
 * later, when a whole segment has expired.
 */
export class Retention {
  readonly #days = new Map<string, number>();

  /** 0 days keeps everything. */
  set(project: string, days: number): void {
    if (days > 0) this.#days.set(project, days);
    else this.#days.delete(project);
  }

  /** Projects that do not keep everything. */
  get projects(): string[] {
    return [...this.#days.keys()];
  }

  /** Milliseconds since 1970 before which a project's events have expired; undefined if it keeps everything. */
  cutoffMs(project: string, nowMs: number): number | undefined {
    const days = this.#days.get(project);
    return days === undefined ? undefined : Math.floor(nowMs - days * DAY_MS);
  }
}
