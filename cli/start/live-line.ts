import type { Entry } from "../../grammar/entry.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { type LogTextOptions, logText } from "../output/log-text.ts";

/** The longest path with query that is shown, so that the status after it stays on the first lines of the terminal. */
const MAX_TARGET_CHARACTERS = 160;

/** The longest entry that is shown, with colours: about forty lines. An app may write a megabyte without a newline. */
const MAX_LINE_CHARACTERS = 4_000;

/** Fields in milliseconds, besides `duration`, in entries of the proxy, by message. */
const MILLISECONDS: Readonly<Record<string, string>> = {
  "app exited": "uptime",
  "app exited before it listened": "uptime",
  "app restarts": "delay",
  "app did not listen on PORT in time": "timeout",
  "request timed out": "timeout",
};

/**
 * Formats an entry for a terminal on which a user watches the app. Requests are not shown, as responses repeat them; paths
 * are decoded and shortened, and request ids are left out. `tool logs` shows everything, and so does `isVerbose`.
 */
export function liveLine(options: Pick<LogTextOptions, "color" | "nowMs" | "offsetMinutes">, isVerbose: boolean) {
  const text = logText({ ...options, expand: false, stages: false });
  return eachLine(isVerbose ? text : short);

  function short(entry: Entry): string {
    if (entry.message === "request" && "method" in entry.fields) return "";
    const line = text({ ...entry, fields: liveFields(entry) });
    if (line.length <= MAX_LINE_CHARACTERS) return line;
    const end = options.color ? "\u001b[0m" : "";
    return `${withoutHalf(line.slice(0, MAX_LINE_CHARACTERS))}${end}... (${line.length} characters: see tool logs)\n`;
  }
}

/** Members of every entry: those of text that the app wrote have no others. */
const COMMON: ReadonlySet<string> = new Set(["stage", "version", "commit"]);

/** Shows text of the app as it wrote it: of a trace, which is one entry, all lines. Elsewhere it is told by its first one. */
function eachLine(show: (entry: Entry) => string): (entry: Entry) => string {
  return (entry) => {
    const isText = entry.message.includes("\n") && Object.keys(entry.fields).every((key) => COMMON.has(key));
    if (!isText) return show(entry);
    return entry.message
      .split("\n")
      .map((message) => show({ ...entry, message }))
      .join("");
  };
}

function liveFields({ message, fields }: Entry): Entry["fields"] {
  const { method, path, query } = fields;
  const milliseconds = MILLISECONDS[message];
  const waited = milliseconds === undefined ? undefined : fields[milliseconds];
  const live: Record<string, unknown> = { ...fields };
  if (milliseconds !== undefined && typeof waited === "number") live[milliseconds] = humanDuration(waited);
  if (typeof method !== "string" || typeof path !== "string") return live;
  delete live.id;
  live.path = cut(readable(path));
  if (typeof query === "string")
    live.query = cut(readable(query), MAX_TARGET_CHARACTERS - (live.path as string).length);
  return live;
}

/** Spaces, and characters that are invisible or change the reading direction. */
const UNSEEN = /[\p{C}\p{Z}]/u;

/** Decodes letters beyond ASCII, as browsers do. Other encoded characters have a meaning and stay encoded. */
function readable(target: string): string {
  return target.replace(/(?:%[89a-f][0-9a-f])+/gi, (encoded) => {
    try {
      const text = decodeURIComponent(encoded);
      return UNSEEN.test(text) ? encoded : text;
    } catch {
      return encoded;
    }
  });
}

function cut(text: string, most = MAX_TARGET_CHARACTERS): string {
  const kept = Math.max(20, most);
  return text.length <= kept ? text : `${withoutHalf(text.slice(0, kept))}...`;
}

/** The text without half of a surrogate pair at its end. */
function withoutHalf(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "");
}
