import type { Entry } from "../entry.ts";
import { accessLine } from "./access-line.ts";
import { loggedExchange, proxyExchange } from "./exchange.ts";
import { type EntrySummary, plain, quiet, type SummaryPart } from "./part.ts";
import { platformLine } from "./platform.ts";
import { type Trace, traceInFields, traceInMessage } from "./trace.ts";

/**
 * Sums an entry up in one line: of a request and its response `GET /orders/42 500 12ms 1.2 KB`, whoever wrote it and
 * however its fields are named; of the function platform's lines what they measure; of an error its first line and how many
 * lines its trace has besides; of anything else the message. Never throws, and takes no longer than the entry is.
 */
export function summaryOf(entry: Pick<Entry, "timestamp" | "message" | "fields">): EntrySummary {
  const exchange = proxyExchange(entry);
  if (exchange !== undefined) return exchange;
  const { timestamp, fields } = entry;
  const message = repeatsFields(entry) ? "" : entry.message;
  const other =
    platformLine(message, fields) ?? accessLine(message, timestamp !== "") ?? loggedExchange({ message, fields });
  const trace = traceInFields(fields) ?? (other === undefined ? traceInMessage(message) : undefined);
  if (other !== undefined) return trace === undefined ? other : withTrace(other, trace);
  return trace === undefined ? textSummary(entry.message) : traceSummary(message, trace);
}

/** Keys that are looked for: a long line is kept with its beginning alone. */
const KEYS = 4;

/** Whether the message is the line that the fields were read from, as the log service keeps it if it has no other message. */
function repeatsFields({ message, fields }: Pick<Entry, "message" | "fields">): boolean {
  if (!message.startsWith("{")) return false;
  const keys = Object.keys(fields).slice(0, KEYS);
  return keys.length > 0 && keys.every((key) => message.includes(JSON.stringify(key)));
}

/** The line as one text. */
export const summaryLine = ({ parts }: EntrySummary): string => parts.map(({ text }) => text).join(" ");

function textSummary(message: string): EntrySummary {
  return { kind: "text", parts: [plain(message)], used: NONE, isOfFields: false };
}

function traceSummary(message: string, trace: Trace): EntrySummary {
  const text = trace.used.length === 0 ? trace.headline : together(message, trace);
  return { kind: "text", parts: [plain(text), ...further(trace)], used: new Set(trace.used), isOfFields: false };
}

const NONE: ReadonlySet<string> = new Set();

/** The message and the error: one of them if it says what the other does. */
function together(message: string, { headline, said }: Trace): string {
  const text = traceInMessage(message)?.headline ?? message;
  if (headline.includes(text)) return headline;
  return text.includes(said) ? text : `${text}: ${headline}`;
}

function withTrace(summary: EntrySummary, trace: Trace): EntrySummary {
  const isSaid = summary.parts.some(({ text }) => text.includes(trace.said));
  return {
    ...summary,
    parts: [...summary.parts, ...(isSaid ? [] : [plain(trace.headline)]), ...further(trace)],
    used: new Set([...summary.used, ...trace.used]),
  };
}

function further({ furtherLines }: Trace): readonly SummaryPart[] {
  if (furtherLines === 0) return [];
  return [quiet(`+${furtherLines} ${furtherLines === 1 ? "line" : "lines"}`)];
}
