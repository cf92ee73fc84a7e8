/**
 * A tool.json of about this size, with the sections in the shares that grown projects have, formatted as formatters
 * do. The line of the first rule holds "old/section-0".
 */
export function configText(bytes: number): string {
  const redirects: Record<string, unknown> = {};
  const headers: Record<string, unknown> = {};
  const queries: Record<string, string> = {};
  let size = 0;
  const add = (section: Record<string, unknown>, key: string, value: unknown) => {
    section[key] = value;
    // Two levels of indentation for each line of the value.
    size += JSON.stringify({ [key]: value }, null, 2).length + 4 * Object.keys(value as object).length;
  };
  for (let i = 0; size < bytes; i++) {
    // Half of what has moved is still on the same host, where it could go in a circle; a tenth of that moved twice.
    if (i % 2 === 0) {
      const location = i % 20 === 0 ? `/old/section-${i + 2}/:page` : `/new/section-${i}/:page.html`;
      add(redirects, `/old/section-${i}/:page`, { location, status: 301 });
    } else {
      add(redirects, `/section-${i}/:page/*`, { location: `https://example.com/${i}/:page/:splat`, status: 301 });
    }
    if (i % 3 === 0) add(headers, `/assets-${i}/*.css`, { "Cache-Control": `max-age=${i}` });
    if (i % 10 === 0) {
      queries[`slow-${i}`] = `status >= 500 and duration > ${i}ms and path = /section-${i}/*`;
      size += queries[`slow-${i}`]!.length + 20;
    }
  }
  const config = {
    name: "app",
    hooks: { build: "npm run build" },
    error_pages: { variables: { color: "#228be6" } },
    actions: [{ name: "ops", type: "email", emails: ["ops@example.com"] }],
    alerts: [{ metric: "http.5xx", statistic: "sum", threshold: 10, period: "5m", action: "ops" }],
    redirects,
    headers,
    logs: { queries },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
