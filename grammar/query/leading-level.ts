// The level that a line of plain text begins with, or the status that it says in its place. The words are those of the table of levels.
import { LEVEL_SPELLINGS } from "./levels.ts";

/** A level is near the beginning. The rest of a line, however long, costs nothing. */
const HEAD = 160;

const WORD = Object.values(LEVEL_SPELLINGS).flat().join("|");
const TIME = String.raw`\[?(?:\d{4}[-/]\d\d[-/]\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?\]?`;
const GROUP = String.raw`\[[^\[\]]{1,60}\]`;

/** `WARNING:root:careful`, `error: no file`, `DEBUG - x`, `[WARN] x`, and these after a time and groups in brackets. */
const MARKED = new RegExp(
  `^(?:(?:${TIME}|${GROUP})[ \\t]+){0,3}?(?:\\[ ?(${WORD}) ?\\]|(${WORD})(?: ?[:|]|[ \\t]+-[ \\t]))`,
  "i",
);
/**
 * `2026-01-15 10:00:00,123 INFO x`, `2026-01-15 10:00:00,123 - root - INFO - x`, `[10:00:00] [main] WARN x`. In capital letters,
 * since what follows a time may be any sentence.
 */
const TIMED = new RegExp(
  `^${TIME}(?:[ \\t]+${GROUP}| - [\\w.]{1,60}(?= - )){0,2}(?: -)?[ \\t]+(${WORD.toUpperCase()})[ \\t]`,
);
/** logfmt, as logrus and slog write it. */
const LOGFMT = new RegExp(`^(?:time=(?:"[^"]{1,60}"|[^" ]{1,60}) )?level=(${WORD})(?= |$)`, "i");

const COLOR = /\u001b\[[\d;]{0,12}m/g;

/**
 * The level that the logger of a line has written at its beginning, in lower case: `warning` of `WARNING:root:careful`. A word
 * counts only with what loggers put after it: a sentence may begin with one, as may the report of a crash
 * (`FATAL ERROR: Reached heap limit`). The words that loggers.ts knows besides are none here: `panic:` and `http:` begin what Go
 * writes of a crash.
 */
export function leadingLevel(line: string): string | undefined {
  let head = line.length > HEAD ? line.slice(0, HEAD) : line;
  if (head.includes("\u001b")) head = head.replace(COLOR, "");
  const marked = MARKED.exec(head);
  const word = marked?.[1] ?? marked?.[2] ?? TIMED.exec(head)?.[1] ?? LOGFMT.exec(head)?.[1];
  return word?.toLowerCase();
}

/** `127.0.0.1 - - [01/Dec/2026 10:00:00] code 404, message File not found`, of Python's http.server. */
const CODE = /^\S{1,60} - - \[[^\]]{10,40}\] code ([1-5]\d\d), message /;

/** `Not Found: /x` and `Method Not Allowed (GET): /x`, as Django's logger `django.request` has them. */
const REASON =
  /^(Bad Request|Forbidden|Not Found|Method Not Allowed|Internal Server Error|Service Unavailable)(?: \([^()]{1,120}\))?: \/.*$/;

const STATUSES: Readonly<Record<string, number>> = {
  "Bad Request": 400,
  Forbidden: 403,
  "Not Found": 404,
  "Method Not Allowed": 405,
  "Internal Server Error": 500,
  "Service Unavailable": 503,
};

/** The status that a server's remark on a request says, in a line of its own beside that of the access log. */
export function leadingStatus(line: string): number | undefined {
  if (line.length > MAX_LENGTH) return undefined;
  const code = line.includes("] code ") ? CODE.exec(line)?.[1] : undefined;
  return code === undefined ? STATUSES[REASON.exec(line)?.[1] ?? ""] : Number(code);
}

/** Servers bound a request at 8 KB, and http.server quotes all of a wrong one. */
const MAX_LENGTH = 16_384;
