import type { Entry } from "../../grammar/entry.ts";
import { humanDuration } from "../../grammar/units/duration.ts";
import { type LogTextOptions, logText } from "../output/log-text.ts";

/** Of a path with its query: the status behind it stays on the first lines of the terminal. */
const MAX_TARGET_CHARACTERS = 160;

/** Of a whole entry, colours included: some forty lines of a terminal; an app may write a megabyte without a newline. */
const MAX_LINE_CHARACTERS = 4_000;

/** Milliseconds in entries of the proxy's own, beside `duration`, by their message. */
const MILLISECONDS: Readonly<Record<string, string>> = {
  "app exited": "uptime",
  "app exited before it listened": "uptime",
  "app restarts": "delay",
  "app did not listen on PORT in time": "timeout",
  "request timed out": "timeout",
};

/**
 * The line of an entry for somebody who watches the app: a response says what its request was, so requests have none;
 * paths are readable and short, and request ids left out. `tool logs` has all of it. With `isVerbose` nothing is missing.
 */
export function liveLine(options: Pick<LogTextOptions, "color" | "nowMs" | "offsetMinutes">, isVerbose: boolean) {
  const text = logText({ ...options, expand: false, stages: false });
  if (isVerbose) return text;
  return (entry: Entry): string => {
    if (entry.message === "request" && "method" in entry.fields) return "";
    const line = text({ ...entry, fields: liveFields(entry) });
    if (line.length <= MAX_LINE_CHARACTERS) return line;
    const end = options.color ? "\u001b[0m" : "";
    return `${withoutHalf(line.slice(0, MAX_LINE_CHARACTERS))}${end}... (${line.length} characters: see tool logs)\n`;
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

/** Spaces, and what is no character or turns the reading order around. */
const UNSEEN = /[\p{C}\p{Z}]/u;

/** What stands for letters beyond ASCII, as browsers show it; what else is encoded has a meaning of its own. */
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

/** Of a character that takes two units. */
function withoutHalf(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "");
}
