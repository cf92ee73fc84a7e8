// The characters around a line of POST /ingest, and those that are part of it: only the blanks of ASCII are around it.
import t from "tap";
import { startTestService } from "../support/service.ts";

const MARK = "\ufeff";
const STRUCTURED = (message: string) => JSON.stringify({ level: "error", message });

/** The body, and what becomes of it: level and message of each event. */
const ROWS: readonly [body: string, structured: readonly string[], plain: readonly string[]][] = [
  ["text", ["info text"], ["info text"]],
  ["  \t text \r\n\f", ["info text"], ["info   \t text "]],
  ["\u00a0text\u00a0", ["info \u00a0text\u00a0"], ["info \u00a0text\u00a0"]],
  ["\u2003\u3000text\u2028", ["info \u2003\u3000text\u2028"], ["info \u2003\u3000text\u2028"]],
  ["\u00a0\n\u2003\n \n", ["info \u00a0", "info \u2003"], ["info \u00a0", "info \u2003"]],
  // One at the beginning of the body says how it is encoded.
  [`${MARK}text`, ["info text"], ["info text"]],
  [`${MARK}${MARK}text${MARK}`, [`info ${MARK}text${MARK}`], [`info ${MARK}text${MARK}`]],
  [`one\n${MARK}two`, ["info one", `info ${MARK}two`], ["info one", `info ${MARK}two`]],
  [`${MARK}\ntext`, ["info text"], ["info text"]],
  [`text\n${MARK}`, ["info text", `info ${MARK}`], ["info text", `info ${MARK}`]],
  [
    ` ${STRUCTURED("a")}\r\n\t${STRUCTURED("b")} `,
    ["error a", "error b"],
    [`info  ${STRUCTURED("a")}`, `info \t${STRUCTURED("b")} `],
  ],
  [`${MARK}${STRUCTURED("a")}`, ["error a"], [`info ${STRUCTURED("a")}`]],
  [STRUCTURED(`${MARK}a\u00a0`), [`error ${MARK}a\u00a0`], [`info ${STRUCTURED(`${MARK}a\u00a0`)}`]],
  // No reader of JSON takes these for blanks.
  [`\u00a0${STRUCTURED("a")}`, [`info \u00a0${STRUCTURED("a")}`], [`info \u00a0${STRUCTURED("a")}`]],
  [
    `text\n${MARK}${STRUCTURED("a")}`,
    ["info text", `info ${MARK}${STRUCTURED("a")}`],
    ["info text", `info ${MARK}${STRUCTURED("a")}`],
  ],
  [MARK, [], []],
  // A trace of a stack is one event, with its indentation.
  [
    "Error: boot\r\n    at main (app.js:1:2)\r\nat run (app.js:3:4)\nnext\n\n  apart\n",
    ["info Error: boot\n    at main (app.js:1:2)\nat run (app.js:3:4)", "info next", "info apart"],
    ["info Error: boot\n    at main (app.js:1:2)\nat run (app.js:3:4)", "info next", "info   apart"],
  ],
  [
    'Traceback (most recent call last):\n  File "app.py", line 1\n    x()\nValueError: no\nTypeError: yes',
    [
      'info Traceback (most recent call last):\n  File "app.py", line 1\n    x()\nValueError: no',
      "info TypeError: yes",
    ],
    [
      'info Traceback (most recent call last):\n  File "app.py", line 1\n    x()\nValueError: no',
      "info TypeError: yes",
    ],
  ],
  [`${STRUCTURED("a")}\n  at the end`, ["error a", "info at the end"], [`info ${STRUCTURED("a")}\n  at the end`]],
  [" \n\t\r\n", [], []],
];

/** A name for a row: a line end of Unicode would end it. */
const ascii = (text: string) =>
  JSON.stringify(text).replace(/[^\x20-\x7e]/g, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, "0")}`);

for (const mode of ["structured", "plain_text"] as const) {
  t.test(`the blanks around lines (${mode})`, async (t) => {
    const service = await startTestService(t);
    const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
    for (const [i, [body, structured, plain]] of ROWS.entries()) {
      const id = `p${i}`;
      const expected = mode === "structured" ? structured : plain;
      await service.call("add_project", { project: { id, name: id, mode } });
      const answer = await service.send({ path: `/ingest/${id}`, headers, body });
      t.strictSame([answer.status, answer.json], [200, { accepted: expected.length, errors: [] }], ascii(body));
      const range = { project_id: id, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
      const { json } = await service.call("search", { ...range, order: "ascending" });
      t.strictSame(
        json.events.map(({ level, message }: { level: string; message: string }) => `${level} ${message}`),
        expected,
        ascii(body),
      );
    }
  });
}

t.test("indexes of errors count from the first line, with a mark and without", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
  const wrong = JSON.stringify(Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`k${i}`, i])));
  for (const mark of ["", MARK]) {
    const answer = await service.send({ path: "/ingest/app", headers, body: `${mark}\n${wrong}\ntext` });
    const errors = [{ index: 1, message: "line 2.fields: must hold at most 250 fields" }];
    t.strictSame(answer.json, { accepted: 1, errors }, ascii(mark));
  }
});

t.test("a JSON list of objects is as many events, if the body is said to be JSON", async (t) => {
  const service = await startTestService(t);
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/json; charset=utf-8" };
  const deep = { message: "c", fields: Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`k${i}`, i])) };
  /** The body, the events with their fields, and what is wrong with others. */
  const rows: readonly [body: string, events: readonly string[], errors?: readonly object[]][] = [
    [`[${STRUCTURED("a")},{"msg":"b","level":40,"user":7}]`, ["error a {}", 'warning b {"user":7}']],
    [`${MARK}\n [\n  {"message": "a"},\n  {"n": 1}\n]\n`, ["info a {}", 'info {"n":1} {"n":1}']],
    [
      JSON.stringify([{ message: "a" }, "text", deep]),
      ["info a {}"],
      [
        { index: 1, message: "element 2: must be an object" },
        { index: 2, message: "element 3.fields: must hold at most 250 fields" },
      ],
    ],
    // A sender without news.
    ["[]", []],
    [`${MARK} [ ]\n`, []],
    // Lines of a log that begin with a bracket, a list without an event, and lines of JSON.
    ["[main] started\n[main] ended", ["info [main] started {}", "info [main] ended {}"]],
    ["[1, 2]", ["info [1, 2] {}"]],
    [`${STRUCTURED("a")}\n${STRUCTURED("b")}`, ["error a {}", "error b {}"]],
  ];
  for (const [i, [body, expected, errors = []]] of rows.entries()) {
    const id = `p${i}`;
    await service.call("add_project", { project: { id, name: id } });
    const answer = await service.send({ path: `/ingest/${id}`, headers, body });
    t.strictSame([answer.status, answer.json], [200, { accepted: expected.length, errors }], body);
    const range = { project_id: id, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
    const { json } = await service.call("search", { ...range, order: "ascending" });
    t.strictSame(
      json.events.map(
        ({ level, message, fields }: { level: string; message: string; fields?: object }) =>
          `${level} ${message} ${JSON.stringify(fields ?? {})}`,
      ),
      expected,
      body,
    );
  }
});
