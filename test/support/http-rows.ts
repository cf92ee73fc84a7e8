// The rows of vectors/http*.json, read and judged for any transport: README.md there says what they mean.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Test } from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { ask, askRaw, type File, type RawResponse } from "./runtime.ts";

/** One that is too long to be written out is one text again and again. */
export type Line =
  | string
  | { readonly before: string; readonly repeat: string; readonly times: number; readonly after: string };

export interface Row {
  /** `GET /path`, or the whole request line by line, as it goes onto a socket. */
  readonly request: string | readonly Line[];
  /** Where several rows have one request. */
  readonly name?: string;
  /** Why the row holds for a socket only; a request that is written line by line needs no reason. */
  readonly socket?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
  readonly status: number;
  /** Headers of the response, by lower-case name: all its values joined by " | ", or null where it must not be there. */
  readonly has?: Record<string, string | null>;
  /** The Content-Encoding; the body is decoded before it is looked at. Null: there is none. */
  readonly coding?: "br" | "gzip" | null;
  /** The body as text. */
  readonly answer?: string;
  /** A part of the body. */
  readonly contains?: string | string[];
  readonly lacks?: string;
  readonly bytes?: number;
  /** The URL and method that the app saw; null: the app saw nothing. */
  readonly app?: string | null;
  /** The headers that the app saw, as `has`. */
  readonly appHas?: Record<string, string | null>;
  /** What the app got of a body. */
  readonly appBytes?: number;
  /** Level and message of the entries that the request made, besides its own two. */
  readonly logs?: string[];
  /** A field of one of these entries. */
  readonly logHas?: Record<string, unknown>;
  /** Milliseconds that pass on the proxy's clock while it waits for the app. */
  readonly elapsed?: number;
  /** The row in its place when the proxy is another process, whose clock nobody can turn. */
  readonly realTime?: Partial<Omit<Row, "realTime" | "elapsed">>;
  /** What holds behind gateways of the function platform in its place. */
  readonly platform?: readonly Elsewhere[];
}

/**
 * What holds behind some gateways, and why; without `kinds` and `streams` behind every gateway. The first that fits counts.
 */
export interface Elsewhere extends Partial<Omit<Row, "request" | "platform" | "bytes">> {
  readonly why: string;
  readonly kinds?: readonly ("rest" | "http" | "url")[];
  /** Answers in parts, or in one piece. */
  readonly streams?: boolean;
  /** Null: not looked at. */
  readonly bytes?: number | null;
}

export interface Suite {
  readonly name: string;
  readonly config: object;
  readonly app?: string;
  readonly files?: Record<string, File>;
  readonly rows: readonly Row[];
}

/** All suites, by the names of their files. */
export function httpSuites(): Suite[] {
  const vectors = resolve(dirname(fileURLToPath(import.meta.url)), "../../../test/vectors");
  const files = readdirSync(vectors).filter((name) => /^http(-[\w-]+)?\.json$/.test(name));
  return files.sort().flatMap((name) => JSON.parse(readFileSync(join(vectors, name), "utf8")) as Suite[]);
}

export function titleOf({ name, request }: Row): string {
  return name ?? (typeof request === "string" ? request : textOf(request[0]!));
}

/** The row as another process can be asked it, by the time of the machine. */
export function inRealTime({ realTime, elapsed: _elapsed, ...row }: Row): Row {
  if (realTime === undefined) return row;
  const { answer: _answer, ...same } = row;
  return { ...same, ...realTime };
}

/** Asks as the row says, on a connection of its own. */
export function sendRow(port: number, row: Row): Promise<RawResponse> {
  const { request, headers, body } = row;
  if (typeof request !== "string") return askRaw(port, bytesOf(request));
  const [method = "", path = ""] = request.split(" ");
  return ask(port, { method, path, ...(headers && { headers }), ...(body !== undefined && { body }) });
}

/** A request that is written line by line. */
function bytesOf(lines: readonly Line[]): Buffer {
  return Buffer.from(lines.map(textOf).join("\r\n"), "latin1");
}

function textOf(line: Line): string {
  return typeof line === "string" ? line : line.before + line.repeat.repeat(line.times) + line.after;
}

/** Compares a response with what the row expects; the log is the caller's to look at. */
export function checkResponse(t: Test, row: Row, response: RawResponse): void {
  const seen = `${response.status} ${response.body.toString("utf8", 0, 300)}`;
  t.equal(response.status, row.status, seen);
  t.equal(response.cut, false, "the body is complete");
  for (const [header, expected] of Object.entries(row.has ?? {})) {
    t.equal(valuesOf(response, header), expected, header);
  }
  if (row.coding !== undefined) t.equal(valuesOf(response, "content-encoding"), row.coding, "content-encoding");
  const body = row.coding ? DECODE[row.coding](response.body) : response.body;
  if (row.answer !== undefined) t.equal(body.toString(), row.answer);
  if (row.bytes !== undefined) t.equal(body.length, row.bytes);
  for (const part of [row.contains ?? []].flat()) t.ok(body.includes(part), `${part} in ${seen}`);
  if (row.lacks !== undefined) t.notOk(body.includes(row.lacks), `no ${row.lacks} in ${seen}`);
  checkApp(t, row, body.toString());
}

/** Compares the entries that the request made with what the row expects, where it does. */
export function checkLogs(t: Test, row: Row, entries: readonly Entry[]): void {
  if (row.logs === undefined) return;
  const own = entries.filter(({ message }) => message !== "request" && message !== "response");
  t.same(
    own.map(({ level, message }) => `${level} ${message}`),
    row.logs,
  );
  if (row.logHas !== undefined) t.match(own.at(-1)?.fields, row.logHas);
}

const DECODE = { br: brotliDecompressSync, gzip: gunzipSync };

function valuesOf(response: RawResponse, name: string): string | null {
  const values = response.headers.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? null : values.join(" | ");
}

/** The echo app's answer says what it saw. */
function checkApp(t: Test, row: Row, answer: string): void {
  if (row.app === undefined && row.appHas === undefined && row.appBytes === undefined) return;
  if (row.app === null) {
    t.notMatch(answer, /"rawHeaders"/, "the app was not asked");
    return;
  }
  const seen: { method: string; url: string; rawHeaders: string[]; body: { bytes: number } } = JSON.parse(answer);
  if (row.app !== undefined) t.equal(`${seen.method} ${seen.url}`, row.app);
  if (row.appBytes !== undefined) t.equal(seen.body.bytes, row.appBytes);
  for (const [header, expected] of Object.entries(row.appHas ?? {})) {
    const values = seen.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]!.toLowerCase() === header);
    t.equal(values.length === 0 ? null : values.join(" | "), expected, `the app's ${header}`);
  }
}
