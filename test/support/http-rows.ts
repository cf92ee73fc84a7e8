// The rows of vectors/http.json: what the pipeline answers, wherever its requests come from.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { ask, askRaw, type File, type RawResponse } from "./runtime.ts";

export interface Row {
  /** `GET /path`, or the whole request line by line. */
  readonly request: string | readonly string[];
  /** Where several rows have one request. */
  readonly name?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
  readonly status: number;
  /** Of the response, by lower-case name: all its values joined by " | ", or null where it must not be there. */
  readonly has?: Record<string, string | null>;
  /** The body as text. */
  readonly answer?: string;
  /** A part of the body. */
  readonly contains?: string | string[];
  readonly lacks?: string;
  readonly bytes?: number | null;
  /** The URL and method that the app saw; null: the app saw nothing. */
  readonly app?: string | null;
  /** The headers that the app saw, as `has`. */
  readonly appHas?: Record<string, string | null>;
  /** What the app got of a body. */
  readonly appBytes?: number;
  /** Level and message of the entries that the request made, besides its own two. */
  readonly logs?: string[];
  /** Why the row cannot hold behind the platform's gateways; or what holds there in its place. */
  readonly platform?: string | readonly Elsewhere[];
}

/** What holds behind some of the gateways, and why; without `kinds` and `streams` behind all. */
export interface Elsewhere extends Partial<Omit<Row, "request" | "platform">> {
  readonly why: string;
  readonly kinds?: readonly ("rest" | "http" | "url")[];
  readonly streams?: boolean;
}

export interface Suite {
  readonly name: string;
  readonly config: object;
  readonly app?: string;
  readonly files?: Record<string, File>;
  readonly rows: Row[];
}

const vectors = resolve(dirname(fileURLToPath(import.meta.url)), "../../../test/vectors/http.json");
export const suites: readonly Suite[] = JSON.parse(readFileSync(vectors, "utf8"));

export function titleOf(row: Row): string {
  return row.name ?? (typeof row.request === "string" ? row.request : row.request[0]!);
}

export function send(port: number, row: Row): Promise<RawResponse> {
  const { request, headers, body } = row;
  if (typeof request !== "string")
    return askRaw(port, Buffer.from(request.join("\r\n").replace("\\0", "\0"), "latin1"));
  const [method = "", path = ""] = request.split(" ");
  return ask(port, { method, path, ...(headers && { headers }), ...(body !== undefined && { body }) });
}

/** Everything that a row says about the response. */
export function checkResponse(t: Test, row: Row, response: RawResponse): void {
  const seen = response.status + " " + response.body.toString("utf8", 0, 300);
  t.equal(response.status, row.status, seen);
  t.equal(response.cut, false, "the body is complete");
  for (const [header, expected] of Object.entries(row.has ?? {})) t.equal(valuesOf(response, header), expected, header);
  if (row.answer !== undefined) t.equal(response.body.toString(), row.answer);
  if (typeof row.bytes === "number") t.equal(response.body.length, row.bytes);
  for (const part of [row.contains ?? []].flat()) t.ok(response.body.includes(part), `${part} in ${seen}`);
  if (row.lacks !== undefined) t.notOk(response.body.includes(row.lacks), `no ${row.lacks} in ${seen}`);
  checkApp(t, row, response);
}

function valuesOf(response: RawResponse, name: string): string | null {
  const values = response.headers.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? null : values.join(" | ");
}

/** The echo app's answer says what it saw. */
function checkApp(t: Test, row: Row, response: RawResponse): void {
  if (row.app === undefined && row.appHas === undefined && row.appBytes === undefined) return;
  if (row.app === null) {
    t.notMatch(response.body.toString(), /"rawHeaders"/, "the app was not asked");
    return;
  }
  const seen: { method: string; url: string; rawHeaders: string[]; body: { bytes: number } } = JSON.parse(
    response.body.toString(),
  );
  if (row.app !== undefined) t.equal(`${seen.method} ${seen.url}`, row.app);
  if (row.appBytes !== undefined) t.equal(seen.body.bytes, row.appBytes);
  for (const [header, expected] of Object.entries(row.appHas ?? {})) {
    const values = seen.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]!.toLowerCase() === header);
    t.equal(values.length === 0 ? null : values.join(" | "), expected, `the app's ${header}`);
  }
}

export const isResponse = (entry: Entry) => entry.message === "response";

/** Level and message of entries, without those that every request makes. */
export function logsOf(entries: readonly Entry[]): string[] {
  const own = entries.filter(({ message }) => message !== "request" && message !== "response");
  return own.map(({ level, message }) => `${level} ${message}`);
}
