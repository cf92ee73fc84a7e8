import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Injection as ConfigInjection } from "../schema/index.ts";
import type { EntryLog } from "./entries.ts";

type InjectionType = ConfigInjection["type"];

/** Exactly one of `value` and `file`, whose content is the value; a file is relative to the project's folder. */
export type Injection = { readonly [name in keyof ConfigInjection]: ConfigInjection[name] | undefined } & {
  readonly type: InjectionType;
};

/**
 * The HTML of an item. Undefined if the value would end the element that contains it: the check of tool.json refuses
 * that, and a file may have changed since.
 */
export function injectedHtml(type: InjectionType, value: string): string | undefined {
  switch (type) {
    case "literal":
      return value;
    case "comment":
      // Two dashes may end a comment.
      return `<!-- ${value.replace(/-(?=-)/g, "- ")} -->`;
    case "style":
      return `<link rel="stylesheet" href="${attribute(value)}">`;
    case "script":
      return `<script src="${attribute(value)}"></script>`;
    case "inline style":
      return /<\/style/i.test(value) ? undefined : `<style>${value}</style>`;
    case "inline script":
      return /<\/script/i.test(value) ? undefined : `<script>${value}</script>`;
    case "analytics":
      return analytics(value.trim());
    case "tracker":
      return tracker(value.trim());
    default:
      return type satisfies never;
  }
}

/** The items of one place as bytes; files are read when they are needed, and again when they have changed. */
export class InjectedText {
  readonly #items: readonly Injection[];
  readonly #directory: string;
  readonly #entries: EntryLog;
  readonly #files = new Map<string, { readonly mark: string; readonly text: string | undefined }>();
  #bytes: Buffer | undefined;

  constructor(items: readonly Injection[], directory: string, entries: EntryLog) {
    this.#items = items;
    this.#directory = directory;
    this.#entries = entries;
  }

  /** The same buffer as long as nothing has changed. An item whose file cannot be used is left out, and an entry says so. */
  async bytes(): Promise<Buffer> {
    let isChanged = this.#bytes === undefined;
    for (const { file } of this.#items) if (file !== undefined && (await this.#refresh(file))) isChanged = true;
    if (this.#bytes === undefined || isChanged)
      this.#bytes = Buffer.from(this.#items.map((it) => this.#html(it)).join(""));
    return this.#bytes;
  }

  #html({ type, value, file }: Injection): string {
    const text = file === undefined ? value : this.#files.get(file)!.text;
    if (text === undefined) return "";
    // The last line's end is the editor's; no address and no key has one.
    const html = injectedHtml(type, file === undefined || !/^(style|script)$/.test(type) ? text : text.trim());
    if (html === undefined) this.#leaveOut(file, "it would close the element that contains it");
    return html ?? "";
  }

  async #refresh(file: string): Promise<boolean> {
    const previous = this.#files.get(file);
    const path = join(this.#directory, file);
    try {
      const { ino, size, mtimeMs } = await stat(path);
      const mark = `${ino}-${size}-${mtimeMs}`;
      if (previous?.mark === mark) return false;
      this.#files.set(file, { mark, text: await readFile(path, "utf8") });
    } catch (error) {
      const { message } = error as Error;
      if (previous?.mark === message) return false;
      this.#files.set(file, { mark: message, text: undefined });
      this.#leaveOut(file, message);
    }
    return true;
  }

  #leaveOut(file: string | undefined, reason: string): void {
    this.#entries.write("error", "injection is left out", { ...(file !== undefined && { file }), reason });
  }
}

/** In double quotes. */
function attribute(value: string): string {
  return value.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Inside a script element: no `<` that could begin its end tag, and no line separators, which older scripts refuse. */
function scriptString(value: string): string {
  return JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The tag of Google Analytics 4; the key is a measurement id, such as G-12345. */
function analytics(key: string): string {
  const source = `https://www.googletagmanager.com/gtag/js?id=${encodeURIComponent(key)}`;
  return (
    `<script async src="${attribute(source)}"></script>` +
    "<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}" +
    `gtag("js",new Date());gtag("config",${scriptString(key)})</script>`
  );
}

/** Methods that Segment's script replaces when it has loaded: until then the array keeps the calls of the page. */
const TRACKER_METHODS =
  "track,page,identify,group,alias,ready,on,once,off,reset,debug,user,setAnonymousId,addSourceMiddleware," +
  "addIntegrationMiddleware,addDestinationMiddleware,register,trackLink,trackForm,trackClick,trackSubmit,pageview";

/** The loader of Segment's analytics.js; the key is the source's write key. It tracks the page view. */
function tracker(key: string): string {
  const source = `https://cdn.segment.com/analytics.js/v1/${encodeURIComponent(key)}/analytics.min.js`;
  return (
    "<script>(function(w,d){var a=w.analytics=w.analytics||[];if(a.initialize||a.invoked)return;a.invoked=true;" +
    `a._writeKey=${scriptString(key)};` +
    `${JSON.stringify(TRACKER_METHODS)}.split(",").forEach(function(m){a[m]=function(){` +
    "a.push([m].concat([].slice.call(arguments)));return a}});" +
    `var s=d.createElement("script");s.async=true;s.src=${scriptString(source)};d.head.appendChild(s);` +
    "a.page()})(window,document)</script>"
  );
}
