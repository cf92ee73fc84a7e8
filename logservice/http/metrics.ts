/** What the service counts, as Prometheus reads it. Names of projects and tokens are no labels: they are somebody's. */
export class Metrics {
  readonly #requests = new Map<string, { count: number; seconds: number }>();

  /** `route` is one of ours: what clients write would be a label without end. */
  answered(route: string, status: number, durationMs: number): void {
    const key = `route="${route}",status="${status}"`;
    const row = this.#requests.get(key) ?? { count: 0, seconds: 0 };
    row.count++;
    row.seconds += durationMs / 1000;
    this.#requests.set(key, row);
  }

  /** The text exposition format; gauges and counters of the parts below are given by name. */
  text(more: Readonly<Record<string, number>>): string {
    const rows = [...this.#requests].sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = [
      "# TYPE logservice_requests_total counter",
      ...rows.map(([labels, { count }]) => `logservice_requests_total{${labels}} ${count}`),
      "# TYPE logservice_request_seconds_total counter",
      ...rows.map(([labels, { seconds }]) => `logservice_request_seconds_total{${labels}} ${seconds}`),
    ];
    for (const [name, value] of Object.entries(more)) {
      const metric = `logservice_${name.replace(/[^a-zA-Z0-9_]/g, "_")}`;
      lines.push(`# TYPE ${metric} ${metric.endsWith("_total") ? "counter" : "gauge"}`, `${metric} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }
}
