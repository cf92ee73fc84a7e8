// The example apps as a person runs them: `tool start` in their folder, requests through the proxy, then the log.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { cliPath, root, startTool } from "./support/cli.ts";
import { requires } from "./support/require.ts";

interface Row {
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly status: number;
  readonly expected?: Record<string, string | null>;
  readonly body?: RegExp;
}

const html = { Accept: "text/html" };
const rowsByExample: Record<string, readonly Row[]> = {
  "node-server": [
    { path: "/", status: 200, body: /<h1>Orders<\/h1>/, expected: { "x-content-type-options": "nosniff" } },
    {
      path: "/assets/app.js",
      status: 200,
      body: /querySelectorAll/,
      expected: { "cache-control": "public, max-age=300" },
    },
    { path: "/orders/46", status: 200, body: /Mei Tanaka/ },
    { path: "/order/46?from=mail", status: 301, expected: { location: "/orders/46?from=mail" } },
    { path: "/docs/latest/api", status: 302, expected: { location: "https://example.com/docs/latest/api" } },
    { path: "/latest", status: 200, body: /Order #48/ },
    { path: "/api/orders/42", status: 200, body: /Luca/, expected: { "cache-control": "no-store" } },
    { path: "/api/orders/42?fail=1", status: 500, body: /^\{"error":"the order database/ },
    { path: "/api/orders/42?fail=1", headers: html, status: 500, body: /<html[\s\S]*500/ },
    { path: "/api/orders", method: "POST", status: 400, body: /no JSON/ },
    { path: "/no/such/page", headers: html, status: 404, body: /support@example\.com/ },
    { path: "/crash", method: "POST", status: 502 },
    { path: "/api/orders/48", status: 200, body: /Amara/ },
  ],
  "static-site": [
    { path: "/", status: 200, body: /Field notes/, expected: { "cache-control": "no-cache" } },
    { path: "/guide", status: 301, expected: { location: "/guide/" } },
    { path: "/guide/", status: 200, body: /Rivers/ },
    { path: "/blog/rivers", status: 301, expected: { location: "/guide/rivers.html" } },
    { path: "/manual/birds.html", status: 302, expected: { location: "/guide/birds.html" } },
    { path: "/about", status: 200, body: /Field notes/ },
    { path: "/css/site.css", status: 200, expected: { "cache-control": "public, max-age=86400" } },
    { path: "/tool.json", status: 404 },
    { path: "/nowhere", headers: html, status: 404, body: /leads nowhere[\s\S]*editor@example\.com/ },
  ],
  "python-server": [
    { path: "/", status: 200, body: /"lima"/ },
    { path: "/weather/lima?unit=f", status: 200, body: /66\.2/ },
    { path: "/weather/atlantis", status: 404, body: /no weather/ },
  ],
};

for (const [example, rows] of Object.entries(rowsByExample)) {
  t.test(example, { skip: example.startsWith("python") ? requires("python3") : false }, async (t) => {
    // A copy: the test must not write into the developer's own development log.
    const directory = mkdtempSync(join(tmpdir(), "tool-example-"));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    cpSync(join(root, "examples", example), directory, {
      recursive: true,
      filter: (source) => !/\.tool$|__pycache__/.test(source),
    });
    const { running, url } = await startTool(directory);
    t.teardown(() => running.kill("SIGKILL"));

    for (const row of rows) {
      const { path, method = "GET", headers = {}, status, expected = {}, body } = row;
      await t.test(`${method} ${path}${headers === html ? " for a browser" : ""}`, async (t) => {
        const response = await fetch(new URL(path, url), { method, headers, redirect: "manual" });
        t.equal(response.status, status);
        for (const [name, value] of Object.entries(expected)) t.equal(response.headers.get(name), value, name);
        const text = await response.text();
        if (body) t.match(text, body);
      });
    }

    running.kill("SIGINT");
    await running.ended;
    const logged = execFileSync(process.execPath, [cliPath, "-C", directory, "logs", "status >= 400"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const lines = logged
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).fields.status);
    t.same(
      lines,
      rows.map(({ status }) => status).filter((status) => status >= 400),
      "tool logs 'status >= 400' finds each failed request, in order",
    );
  });
}
