// The lines that `tool start` shows of an entry, beside those of `tool logs` (logs.test.ts).
import t from "tap";
import { liveLine } from "../../../cli/start/live-line.ts";
import type { Entry } from "../../../grammar/entry.ts";

const NOW_MS = Date.parse("2025-06-01T12:00:00Z");
const common = { stage: "development", version: "development" };
const request = { ...common, id: "749cc939", ip: "127.0.0.1", method: "GET", path: "/", query: "" };
const measured = { status: 200, duration: 12.3, size: 1200 };

const rows: readonly (readonly [message: string, fields: Entry["fields"], line: string])[] = [
  ["request", request, ""],
  ["request", { text: "an app's own" }, 'request  text="an app\'s own"'],
  ["response", { ...request, ...measured }, "GET / 200 12ms 1.17 KB"],
  [
    "response",
    { ...request, ...measured, path: "/caf%C3%A9/%F0%9F%8D%B0", query: "q=%E6%97%A5" },
    "GET /café/🍰?q=日 200 12ms 1.17 KB",
  ],
  ["response", { ...request, ...measured, path: "/a%20b%2Fc%0A%1B%25" }, "GET /a%20b%2Fc%0A%1B%25 200 12ms 1.17 KB"],
  ["response", { ...request, ...measured, path: "/%ff%C3%28" }, "GET /%ff%C3%28 200 12ms 1.17 KB"],
  ["response", { ...request, ...measured, path: "/%E2%80%AEtxt" }, "GET /%E2%80%AEtxt 200 12ms 1.17 KB"],
  [
    "response",
    { ...request, ...measured, path: `/${"x".repeat(15_000)}` },
    `GET /${"x".repeat(159)}... 200 12ms 1.17 KB`,
  ],
  [
    "response",
    { ...request, ...measured, path: "/search", query: `q=${"x".repeat(300)}` },
    `GET /search?q=${"x".repeat(151)}... 200 12ms 1.17 KB`,
  ],
  [
    "response",
    { ...request, ...measured, path: `/${"%F0%9F%8D%B0".repeat(100)}` },
    `GET /${"🍰".repeat(79)}... 200 12ms 1.17 KB`,
  ],
  [
    "app broke the connection",
    { ...common, id: "749cc939", method: "POST", path: "/crash", reason: "closed", app: "exited" },
    "app broke the connection  method=POST  path=/crash  reason=closed  app=exited",
  ],
  [
    "request timed out",
    { ...common, id: "749cc939", method: "GET", path: "/", timeout: 25_000 },
    "request timed out  method=GET  path=/  timeout=25s",
  ],
  [
    "app exited",
    { ...common, command: "npm start", code: 1, uptime: 357 },
    'app exited  command="npm start"  code=1  uptime=357ms',
  ],
  ["app restarts", { ...common, delay: 100 }, "app restarts  delay=100ms"],
  ["worker restarts", { ...common, delay: 100 }, "worker restarts  delay=100"],
  ["order read", { ...common, id: 7 }, "order read  id=7"],
  [
    "x".repeat(1_000_000),
    common,
    `${"x".repeat(4_000 - "12:00:00.000 info  ".length)}... (1000020 characters: see tool logs)`,
  ],
];

for (const [message, fields, line] of rows) {
  t.test(`${message.slice(0, 40)} ${JSON.stringify(fields).slice(0, 200)}`, (t) => {
    const entry = { timestamp: "2025-06-01T12:00:00.000Z", level: "info", message, fields };
    const show = liveLine({ color: false, nowMs: NOW_MS, offsetMinutes: () => 0 }, false);
    t.equal(show(entry), line === "" ? "" : `12:00:00.000 info  ${line}\n`);
    t.end();
  });
}

t.test("--verbose leaves nothing out", (t) => {
  const show = liveLine({ color: false, nowMs: NOW_MS, offsetMinutes: () => 0 }, true);
  const fields = { ...common, id: "749cc939", method: "POST", path: "/caf%C3%A9", app: "exited" };
  const timestamp = "2025-06-01T12:00:00.000Z";
  t.equal(show({ timestamp, level: "info", message: "request", fields: request }), "12:00:00.000 info  GET /\n");
  t.equal(
    show({ timestamp, level: "error", message: "app broke the connection", fields }),
    "12:00:00.000 error app broke the connection  id=749cc939  method=POST  path=/caf%C3%A9  app=exited\n",
  );
  t.end();
});

t.test("a cut line does not colour the next", (t) => {
  const show = liveLine({ color: true, nowMs: NOW_MS, offsetMinutes: () => 0 }, false);
  const fields = { text: "x".repeat(10_000) };
  const line = show({ timestamp: "2025-06-01T12:00:00.000Z", level: "info", message: "m", fields });
  t.match(line, /x\u001b\[0m\.\.\. \(\d+ characters: see tool logs\)\n$/);
  t.end();
});
