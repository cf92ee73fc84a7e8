import { memberPath, type SummaryPart, summaryOf, wholeExchange } from "../../../grammar/summary/index.ts";
import type { Event } from "../../../schema/rpc.generated.ts";
import { textOfValue } from "./field-values.ts";

/** An event as the text of a row: its summary, and the fields that have room after it. */
export interface RowLine {
  readonly parts: readonly SummaryPart[];
  readonly fields: readonly (readonly [name: string, text: string])[];
}

export interface RowLineOptions {
  /** The request of a response, if both are one row. */
  readonly request?: Event | undefined;
  /** The fields that every row has with the same value, which are said once, above the rows. */
  readonly common: ReadonlyMap<string, string>;
  /** The fields that others of the same source have with the same value: they have room after the others. */
  readonly settled?: ReadonlyMap<string, string> | undefined;
  /** Whether there is room for all of the message. */
  readonly isWrapped: boolean;
}

/** So many fields are worth a place beside the message. */
const MOST_FIELDS = 8;
const MOST_FIELD = 60;
/** Objects that are deeper in each other are for the open event. */
const MOST_DEPTH = 3;

export function rowLine(event: Event, { request, common, settled, isWrapped }: RowLineOptions): RowLine {
  const { timestamp, message } = event;
  const all = request === undefined ? event.fields : wholeExchange(request.fields, event.fields);
  const summary = summaryOf({ timestamp, message, fields: all });
  const { kind, used, isOfFields } = summary;
  const fields: [string, string][] = [];
  const settledFields: [string, string][] = [];
  const add = (name: string, path: string, value: unknown, depth: number): void => {
    if (fields.length === MOST_FIELDS || used.has(path)) return;
    if (typeof value === "object" && value !== null) {
      if (Array.isArray(value) || depth === MOST_DEPTH) return;
      for (const [key, inner] of Object.entries(value)) add(`${name}.${key}`, memberPath(path, key), inner, depth + 1);
      return;
    }
    const text = textOfValue(value);
    if (text === "" || text.length > MOST_FIELD || common.get(name) === text) return;
    if (kind !== "text" || !hasWord(message, text))
      (settled?.get(name) === text ? settledFields : fields).push([name, text]);
  };
  for (const [name, value] of Object.entries(all)) add(name, memberPath("", name), value, 1);
  const isWhole = isWrapped && !isOfFields;
  return {
    parts: isWhole ? [{ text: message, tone: "plain" }] : summary.parts,
    fields: [...fields, ...settledFields].slice(0, MOST_FIELDS),
  };
}

/** Whether a text has another in it, between its words. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!LETTER.test(text[at - 1] ?? "") && !LETTER.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}

const LETTER = /[\p{L}\d]/u;

/** Fewer events have nothing in common that is worth a line. */
export const LEAST_EVENTS = 3;

/**
 * The fields that all events have with the same value, in the order of the first: rows need not repeat them. Those that
 * summaries say themselves are not among them.
 */
export function commonFields(events: readonly Event[]): ReadonlyMap<string, string> {
  const common = new Map<string, string>();
  if (events.length < LEAST_EVENTS) return common;
  for (const [name, value] of Object.entries(events[0]!.fields)) {
    const text = textOfValue(value);
    if ((typeof value === "object" && value !== null) || text === "" || text.length > MOST_FIELD) continue;
    if (events.every((event) => isCommon(event, name, text))) common.set(name, text);
  }
  if (common.size === 0) return common;
  for (const event of events) {
    const { used } = summaryOf(event);
    for (const name of common.keys()) if (used.has(name)) common.delete(name);
  }
  return common;
}

/** Fields that say what an event is of, as `tool` and most senders name them. */
const SOURCE_FIELDS = ["app", "service", "project", "stage"];

/** The source of an event, as a text to compare. */
const sourceOf = ({ fields }: Event): string =>
  JSON.stringify(SOURCE_FIELDS.map((name) => (Object.hasOwn(fields, name) ? textOfValue(fields[name]) : "")));

/** A function for the fields that all events of the same source have with the same value, by a sample of events. */
export function settledFields(events: readonly Event[]): (event: Event) => ReadonlyMap<string, string> | undefined {
  const bySource = new Map<string, Event[]>();
  for (const event of events) {
    const own = bySource.get(sourceOf(event));
    if (own === undefined) bySource.set(sourceOf(event), [event]);
    else own.push(event);
  }
  const settled = new Map([...bySource].map(([source, own]) => [source, commonFields(own)]));
  return (event) => settled.get(sourceOf(event));
}

/** Whether an event has a field with a value. */
export const isCommon = ({ fields }: Event, name: string, text: string): boolean =>
  Object.hasOwn(fields, name) && textOfValue(fields[name]) === text;
