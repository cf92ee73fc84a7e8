import { readFile, stat } from "node:fs/promises";
import { STATUS_CODES } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, LineIndex, type Problem } from "../../grammar/problem.ts";
import { parseTemplate, renderTemplate, type Template } from "../../grammar/template/index.ts";
import { namesHtml } from "../accept.ts";
import type { EntryLog } from "../entries.ts";
import { ERROR_PAGE } from "../error-page.ts";
import {
  type AnsweringRule,
  discard,
  type Handler,
  headerOf,
  type ProxyRequest,
  type ProxyResponse,
  varyBy,
  withoutHeaders,
} from "../exchange.ts";

export interface ErrorPageOptions {
  /** Absolute path of the folder of custom templates. */
  readonly dir: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const ERROR_PAGE_RULE: AnsweringRule = { kind: "error page" };

/** They describe the body that is replaced. */
const OF_THE_BODY = new Set([
  "accept-ranges",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-md5",
  "content-range",
  "content-type",
  "digest",
  "etag",
  "last-modified",
  "transfer-encoding",
]);

/**
 * Answers clients that accept HTML with a page if the status is 400 or more. The project's own template is always used;
 * the built-in page leaves an HTML body of the app's own as it is.
 */
export function errorPages(options: ErrorPageOptions, entries: EntryLog, next: Handler): Handler {
  const templates = new Map<string, LoadedTemplate>();
  let builtIn: Template | undefined;

  return async (request) => {
    const response = await next(request);
    if (response.status < 400 || response.switched) return response;
    const vary = { ...response, headers: varyBy(response.headers, "Accept") };
    if (!namesHtml(request.headers.accept)) return vary;
    const template = await customTemplate(response.status);
    if (template !== undefined) return page(template, vary, request, options.variables);
    if (isHtml(response)) {
      const body = await withoutEmpty(response.body);
      // The answer to a HEAD shows no body; its headers are those of the page that a GET would get.
      if (body !== undefined || (request.method === "HEAD" && headerOf(response, "content-length") !== "0")) {
        return { ...vary, body };
      }
    }
    builtIn ??= compiled(ERROR_PAGE);
    return page(builtIn, vary, request, { ...options.variables, message: response.message });
  };

  async function customTemplate(status: number): Promise<Template | undefined> {
    for (const name of [`${status}.html`, `${Math.floor(status / 100)}xx.html`, "error.html"]) {
      const path = join(options.dir, name);
      const loaded = await loadTemplate(path, templates.get(path));
      if (loaded === undefined) continue;
      if (loaded.problem !== undefined && templates.get(path) !== loaded) {
        const { problem } = loaded;
        entries.write("error", "error page template is broken, the built-in page is shown", { file: name, problem });
      }
      templates.set(path, loaded);
      return loaded.template;
    }
    return undefined;
  }
}

interface LoadedTemplate {
  /** Changes when the file does. */
  readonly mark: string;
  readonly template: Template | undefined;
  readonly problem: string | undefined;
}

/** A template is compiled once, and again when its file changed. */
async function loadTemplate(path: string, previous: LoadedTemplate | undefined): Promise<LoadedTemplate | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) return undefined;
    const mark = `${stats.ino}-${stats.size}-${stats.mtimeMs}`;
    if (previous?.mark === mark) return previous;
    const source = await readFile(path, "utf8");
    const parsed = parseTemplate(source);
    if (parsed.ok) return { mark, template: parsed.value, problem: undefined };
    return { mark, template: undefined, problem: inOneLine(parsed.problems, source) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return previous?.problem === message ? previous : { mark: "", template: undefined, problem: message };
  }
}

/** `3:7: unclosed ...` for each. */
function inOneLine(problems: readonly Problem[], source: string): string {
  const lines = new LineIndex(source);
  const texts = problems.map((problem) => {
    const { line, column } = lines.position(problem.span.start);
    return `${line}:${column}: ${describe(problem)}`;
  });
  return texts.join("; ");
}

function compiled(source: string): Template {
  const parsed = parseTemplate(source);
  if (!parsed.ok) throw new Error(inOneLine(parsed.problems, source));
  return parsed.value;
}

function page(
  template: Template,
  response: ProxyResponse,
  request: ProxyRequest,
  variables: Readonly<Record<string, unknown>>,
): ProxyResponse {
  discard(response.body);
  const { status, statusText, level } = response;
  const body = renderTemplate(template, {
    StatusCode: status,
    StatusText: STATUS_CODES[status] ?? (statusText || `Error ${status}`),
    Variables: variables,
  });
  return {
    status,
    statusText,
    level,
    rule: ERROR_PAGE_RULE,
    headers: [
      ...withoutHeaders(response.headers, OF_THE_BODY),
      ["Content-Type", "text/html; charset=utf-8"],
      ["Content-Length", String(Buffer.byteLength(body))],
    ],
    body: request.method === "HEAD" ? undefined : body,
  };
}

function isHtml(response: ProxyResponse): boolean {
  return /^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i.test(headerOf(response, "content-type") ?? "");
}

/** The body, or undefined if it is empty. A stream is read up to its first bytes, which stay in it. */
async function withoutEmpty(body: ProxyResponse["body"]): Promise<ProxyResponse["body"]> {
  if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) return body?.length ? body : undefined;
  return (await hasBytes(body)) ? body : undefined;
}

function hasBytes(body: Readable): Promise<boolean> {
  if (body.readableLength > 0) return Promise.resolve(true);
  if (body.readableEnded || body.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const answer = () => {
      for (const event of ["readable", "end", "error", "close"]) body.off(event, answer);
      body.on("error", () => {});
      resolve(body.readableLength > 0);
    };
    for (const event of ["readable", "end", "error", "close"]) body.on(event, answer);
  });
}
