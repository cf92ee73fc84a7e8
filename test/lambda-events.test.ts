// Events that real gateways hardly make, and the documents that answer them. The rows stand in vectors/lambda.json.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { deploy } from "./support/runtime-api/deployed.ts";
import type { InvokeResult } from "./support/runtime-api/function.ts";

interface EventRow {
  readonly name: string;
  readonly event: unknown;
  /** Method and target, the headers and the bytes of the body that the app saw; values joined by " | ". */
  readonly app: string;
  readonly appHas?: Record<string, string | null>;
  readonly appBytes?: number;
}

interface OtherRow {
  readonly name: string;
  readonly event?: unknown;
  /** In place of an event that is JSON. */
  readonly payload?: string;
  readonly reason?: string;
  readonly answer?: object;
}

interface AnswerRow {
  readonly request: string;
  readonly name?: string;
  /** A part of it. */
  readonly document?: object;
  /** Of format 1.0; format 2.0 joins them, but for cookies. */
  readonly headers?: Record<string, string[]>;
  readonly cookies?: string[];
}

const vectors = resolve(dirname(fileURLToPath(import.meta.url)), "../../test/vectors/lambda.json");
const rows: { events: EventRow[]; others: OtherRow[]; answers: AnswerRow[] } = JSON.parse(
  readFileSync(vectors, "utf8"),
);
const echo = { app: "echo/server.mjs" };
const buffered = { streams: false, freezes: false };

t.test("what the app sees of an event", async (t) => {
  const { function: target } = await deploy(t, echo, buffered);
  for (const { name, event, app, appHas = {}, appBytes } of rows.events) {
    await t.test(name, async (t) => {
      const document = documentOf(await target.invoke(event));
      t.equal(document.statusCode, 200, document.body);
      const seen: { method: string; url: string; rawHeaders: string[]; body: { bytes: number } } = JSON.parse(
        document.body,
      );
      t.equal(`${seen.method} ${seen.url}`, app);
      if (appBytes !== undefined) t.equal(seen.body.bytes, appBytes);
      for (const [header, expected] of Object.entries(appHas)) {
        const values = seen.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]!.toLowerCase() === header);
        t.equal(values.length === 0 ? null : values.join(" | "), expected, header);
      }
    });
  }
});

t.test("events that are no HTTP requests are answered", async (t) => {
  const { function: target, entries } = await deploy(t, echo, buffered);
  for (const { name, event, payload, reason, answer } of rows.others) {
    await t.test(name, async (t) => {
      await target.idle();
      const before = entries().length;
      const document = documentOf(await target.invoke(payload ?? event));
      if (answer !== undefined) t.same(document, answer);
      if (reason === undefined) return;
      t.same(document, {
        error: {
          code: "runtime/unknown-event",
          message: `this function answers HTTP requests only: ${reason}`,
          hint: 'invoke it through its gateway or a function URL, or with {"tool": "warm"} to keep it warm',
        },
      });
      await target.idle();
      const own = entries()
        .slice(before)
        .filter(({ level }) => level === "error");
      t.match(own, [{ message: "event is no HTTP request", fields: { reason } }]);
    });
  }
});

t.test("the documents of answers", async (t) => {
  const { function: target } = await deploy(t, echo, buffered);
  for (const { request, name, document, headers, cookies } of rows.answers) {
    await t.test(name ?? request, async (t) => {
      const [method = "", url = ""] = request.split(" ");
      const [path, rawQueryString = ""] = url.split("?");
      const query = Object.fromEntries(
        [...new Set(new URLSearchParams(rawQueryString).keys())].map((key) => [
          key,
          new URLSearchParams(rawQueryString).getAll(key),
        ]),
      );
      const rest = documentOf(
        await target.invoke({ httpMethod: method, path, multiValueQueryStringParameters: query, requestContext: {} }),
      );
      const http = documentOf(
        await target.invoke({ version: "2.0", rawPath: path, rawQueryString, requestContext: { http: { method } } }),
      );
      if (document !== undefined) t.match(rest, document);
      if (document !== undefined) t.match(http, document);
      t.notOk("headers" in rest, "format 1.0 has lists");
      t.notOk("multiValueHeaders" in http, "format 2.0 has none");
      t.same(http.cookies, cookies);
      for (const [header, values] of Object.entries(headers ?? {})) {
        t.same(rest.multiValueHeaders[header], values);
        t.equal(http.headers[header], cookies === undefined ? values.join(", ") : undefined);
      }
    });
  }
});

interface Document {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly multiValueHeaders: Record<string, string[]>;
  readonly cookies?: string[];
}

function documentOf(result: InvokeResult): Document {
  if (result.kind !== "document") throw new Error(JSON.stringify(result));
  return JSON.parse(result.payload.toString());
}
