/** Counts requests for Prometheus. Names of projects and tokens never become labels: they belong to users. */
export class RequestMetrics {
  readonly #requests = new Map<string, { count: number; seconds: number }>();

  /** `route` is the name of a route: paths that clients send would make an unbounded number of labels. */
  answered(route: string, status: number, durationMs: number): void {
    const key = `route="${route}",status="${status}"`;
    const row = this.#requests.get(key) ?? { count: 0, seconds: 0 };
    row.count++;
    row.seconds += durationMs / 1000;
    this.#requests.set(key, row);
  }

  /** The metrics in the text exposition format, with further gauges and counters by name. */
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
