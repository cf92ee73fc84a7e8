// The lines that `tool start` shows of an entry, beside those of `tool logs` (logs.test.ts).
import t from "tap";
import { showFailureOnce } from "../../../cli/start/failed-starts.ts";
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

t.test("a trace is shown with all its lines, as the app wrote it", (t) => {
  const at = { timestamp: "2025-06-01T12:00:00.000Z", level: "error" };
  const text = "Error: boot\n    at main (app.js:1:2)\n    at run (app.js:3:4)";
  const python = 'Traceback (most recent call last):\n  File "app.py", line 1\nKeyError: 1';
  for (const isVerbose of [false, true]) {
    const show = liveLine({ color: false, nowMs: NOW_MS, offsetMinutes: () => 0 }, isVerbose);
    for (const message of [text, python])
      t.equal(
        show({ ...at, message, fields: common }),
        message
          .split("\n")
          .map((line) => `12:00:00.000 error ${line}\n`)
          .join(""),
      );
    t.equal(
      show({ ...at, message: text, fields: { ...common, user: 7 } }),
      "12:00:00.000 error Error: boot +2 lines  user=7\n",
      "that of a logger as in tool logs",
    );
  }
  t.end();
});

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

t.test("starts that fail are shown once each", (t) => {
  const entry = (message: string, fields: Entry["fields"] = {}, level = "error"): Entry => ({
    timestamp: "2025-06-01T12:00:00.000Z",
    level,
    message,
    fields: { ...common, ...fields },
  });
  const lines = (...messages: string[]) => messages.map((message) => entry(message));
  const FAILED = "app exited before it listened";
  const failed = (...output: string[]) => entry(FAILED, { code: 1, output });
  /** The end of a start, as it is shown. */
  const ends = (output?: string | string[]) => entry(FAILED, { code: 1, ...(output !== undefined && { output }) });
  const SAME = ends("the same as before");
  const restarts = entry("app restarts", { delay: 100 }, "warn");
  const listens = entry("app listening again", { pid: 1, port: 20_001 }, "info");
  const changed = entry("app restarts with a changed configuration", {}, "info");
  const aRequest = entry("request", request, "info");
  const many = lines(...Array.from({ length: 600 }, (_, i) => `line ${i}`));
  const rows: Record<string, [entries: Entry[], shown: Entry[]]> = {
    "the same twice": [
      [...lines("a", "b"), failed("a", "b"), restarts, ...lines("a", "b"), failed("a", "b"), restarts],
      [...lines("a", "b"), ends(), restarts, SAME, restarts],
    ],
    "times, ports, processes and addresses differ": [
      [
        ...lines("2025-06-01 12:00:00,001 x", "(node:17) at 0xbeef, 127.0.0.1:20000", "[18] pid=19"),
        failed("x"),
        ...lines("2025-06-01 12:00:03,417 x", "(node:29) at 0xf00d, 127.0.0.1:31007", "[3001] pid=3002"),
        failed("x"),
      ],
      [...lines("2025-06-01 12:00:00,001 x", "(node:17) at 0xbeef, 127.0.0.1:20000", "[18] pid=19"), ends(), SAME],
    ],
    "lines of two streams in another order": [
      [...lines("a", "b"), failed("a", "b"), ...lines("b", "a"), failed("a", "b")],
      [...lines("a", "b"), ends(), SAME],
    ],
    "lines that are one entry, and several": [
      [...lines("a\n  at b\n  at c"), failed("a"), ...lines("a\n  at b", "  at c"), failed("a")],
      [...lines("a\n  at b\n  at c"), ends(), SAME],
    ],
    "a line of code moved": [
      [...lines("app.js:1"), failed("app.js:1"), ...lines("app.js:2"), failed("app.js:2")],
      [...lines("app.js:1"), ends(), ...lines("app.js:2"), ends()],
    ],
    "another error after the same beginning": [
      [...lines("begins", "one"), failed("one"), ...lines("begins", "two"), failed("two")],
      [...lines("begins", "one"), ends(), ...lines("begins", "two"), ends()],
    ],
    "the first again after another": [
      [...lines("one"), failed("one"), ...lines("two"), failed("two"), ...lines("one"), failed("one")],
      [...lines("one"), ends(), ...lines("two"), ends(), ...lines("one"), ends()],
    ],
    "a part of it": [
      [...lines("a", "b"), failed("a", "b"), ...lines("a"), failed("a")],
      [...lines("a", "b"), ends(), ...lines("a"), ends()],
    ],
    "a line more often": [
      [...lines("a"), failed("a"), ...lines("a", "a"), failed("a", "a")],
      [...lines("a"), ends(), ...lines("a", "a"), ends()],
    ],
    "it listens after the same beginning": [
      [...lines("a", "b"), failed("a", "b"), ...lines("a"), listens, ...lines("b")],
      [...lines("a", "b"), ends(), ...lines("a"), listens, ...lines("b")],
    ],
    "another configuration": [
      [...lines("a"), failed("a"), changed, ...lines("a"), failed("a")],
      [...lines("a"), ends(), changed, ...lines("a"), ends()],
    ],
    "the last words of the configuration before": [
      [listens, changed, ...lines("bye", "a"), failed("a"), ...lines("a"), failed("a"), ...lines("a"), failed("a")],
      [listens, changed, ...lines("bye", "a"), ends(), SAME, SAME],
    ],
    "the last words of the configuration before, and another error": [
      [listens, changed, ...lines("a", "b"), failed("b"), ...lines("a"), failed("a")],
      [listens, changed, ...lines("a", "b"), ends(), ...lines("a"), ends()],
    ],
    "names of npm's logs": [
      [
        ...lines("log: /root/.npm/_logs/2026-11-28T16_15_03_978Z-debug-0.log"),
        failed("log: /root/.npm/_logs/2026-11-28T16_15_03_978Z-debug-0.log"),
        ...lines("log: /root/.npm/_logs/2026-11-28T16_15_05_01Z-debug-0.log"),
        failed("log: /root/.npm/_logs/2026-11-28T16_15_05_01Z-debug-0.log"),
      ],
      [...lines("log: /root/.npm/_logs/2026-11-28T16_15_03_978Z-debug-0.log"), ends(), SAME],
    ],
    "a request meanwhile": [
      [...lines("a"), failed("a"), ...lines("a"), aRequest, failed("a")],
      [...lines("a"), ends(), aRequest, SAME],
    ],
    "no entries of the output": [
      [failed("a"), restarts, failed("a"), failed("b")],
      [ends(["a"]), restarts, SAME, ends(["b"])],
    ],
    "nothing written": [
      [failed(), failed()],
      [ends(), ends()],
    ],
    "too much to compare": [
      [...many, failed("line 599"), ...many, failed("line 599")],
      [...many, ends(), ...many, ends()],
    ],
  };
  for (const [name, [entries, shown]] of Object.entries(rows)) {
    const show = showFailureOnce();
    t.same(
      entries.flatMap((one) => show([one])),
      shown,
      name,
    );
    t.same(showFailureOnce()(entries), shown, `${name}, in one batch`);
  }
  t.end();
});
