import { isUtf8 } from "node:buffer";
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "../../grammar/json-bytes.ts";
import { LEVEL_SPELLINGS, LEVELS } from "../../grammar/query/index.ts";
import { RpcError } from "../error.ts";
import { type Instant, LONGEST_EXACT, readInstant } from "../events/instant.ts";
import { type EncodedEvent, encodeEvent, encodeLine } from "../events/journal/line.ts";
import { LIMITS } from "../limits.ts";
import { parseExactJson } from "./parse-json.ts";
import { MAX_ID_LENGTH, readNewEvent } from "./read-events.ts";
import { isZeroTime } from "./read-input.ts";
import { JsonScan, NO_INDEX, NULL } from "./scan-json.ts";

export interface ScannedBatch {
  readonly project: string;
  readonly events: readonly EncodedEvent[];
  /** The request allows a partial batch, so the answer is a report. No event of a scanned batch is left out. */
  readonly isPartial: boolean;
}

/**
 * Reads a body of `add_events` several times as fast as parsing it: the parts of an event are copied from the body as they
 * are. Returns what `readInput` and `readNewEvents` would, or undefined if the body is unusual or anything in it is wrong:
 * then they have to read it, and say what is wrong.
 */
export function scanEvents(body: Buffer, nowMs: number): ScannedBatch | undefined {
  return isUtf8(body) ? new EventsScan(body, new Date(nowMs).toISOString()).batch() : undefined;
}

class EventsScan {
  readonly #json: JsonScan;
  readonly #bytes: Buffer;
  /** The body as latin1, of which slices are cheap. */
  readonly #text: string;
  readonly #now: string;
  readonly #nowInstant: Instant;
  /** Offset past what was read last. */
  #at = 0;
  /** Whether a message was cut. */
  #isCut = false;

  constructor(body: Buffer, now: string) {
    this.#json = new JsonScan(body);
    this.#bytes = body;
    this.#text = body.toString("latin1");
    this.#now = now;
    this.#nowInstant = readInstant(now)!;
  }

  batch(): ScannedBatch | undefined {
    const json = this.#json;
    let project: string | undefined;
    let events: EncodedEvent[] | undefined;
    let isStrict: boolean | undefined;
    let isPartial: boolean | undefined;
    let at = json.space(0);
    if (this.#bytes[at] !== OPEN_BRACE) return undefined;
    do {
      at = json.space(at + 1);
      const end = json.plainText(at);
      if (end === NO_INDEX) return undefined;
      const key = this.#text.slice(at + 1, end - 1);
      at = json.space(end);
      if (this.#bytes[at] !== COLON) return undefined;
      at = json.space(at + 1);
      if (key === "project_id" && project === undefined) {
        const end = json.plainText(at);
        if (end === NO_INDEX) return undefined;
        project = this.#bytes.toString("latin1", at + 1, end - 1);
        at = end;
      } else if (key === "events" && events === undefined) {
        events = this.#events(at);
        at = this.#at;
      } else if (key === "strict" && isStrict === undefined) {
        isStrict = json.isTrue(at);
        at = json.truth(at);
      } else if (key === "partial" && isPartial === undefined) {
        isPartial = json.isTrue(at);
        at = json.truth(at);
      } else return undefined;
      if (at === NO_INDEX) return undefined;
      at = json.space(at);
    } while (this.#bytes[at] === COMMA);
    if (this.#bytes[at] !== CLOSE_BRACE || json.space(at + 1) !== this.#bytes.length) return undefined;
    if (project === undefined || !PROJECT.test(project) || events === undefined) return undefined;
    if (isStrict === true && this.#isCut) return undefined;
    return { project, events, isPartial: isPartial === true };
  }

  #events(from: number): EncodedEvent[] | undefined {
    const json = this.#json;
    const events: EncodedEvent[] = [];
    let at = from;
    if (this.#bytes[at] !== OPEN_BRACKET) return undefined;
    do {
      at = json.space(at + 1);
      const event = this.#event(at) ?? this.#unusual(at);
      if (event === undefined || events.length === LIMITS.eventsPerBatch) return undefined;
      events.push(event);
      at = json.space(this.#at);
    } while (this.#bytes[at] === COMMA);
    if (this.#bytes[at] !== CLOSE_BRACKET) return undefined;
    this.#at = at + 1;
    return events;
  }

  /** Reads an event in canonical form and moves `#at` past it; undefined if it has to be parsed. */
  #event(from: number): EncodedEvent | undefined {
    const json = this.#json;
    const bytes = this.#bytes;
    const text = this.#text;
    let id: string | undefined;
    let idJson = "";
    let timestamp = this.#now;
    let instant: Instant | undefined = this.#nowInstant;
    let level: string | undefined;
    let messageJson = "";
    let fieldsJson = "{}";
    let seen = 0;
    let at = from;
    if (bytes[at] !== OPEN_BRACE) return undefined;
    do {
      at = json.space(at + 1);
      const member = MEMBERS[bytes[at + 1]!];
      if (member === undefined || (seen & member.bit) !== 0) return undefined;
      seen |= member.bit;
      at = json.literal(at, member.key);
      if (at === NO_INDEX) return undefined;
      at = json.space(at);
      if (bytes[at] !== COLON) return undefined;
      const begin = json.space(at + 1);
      at = this.#memberEnd(member, begin);
      if (at === NO_INDEX) return undefined;
      const isAbsent = bytes[begin] === NULL[0] || (bytes[begin] === QUOTE && at === begin + 2);
      switch (member.name) {
        case "id":
          if (isAbsent) break;
          if (at - begin - 2 > MAX_ID_LENGTH) return undefined;
          // A slice of the text would keep the whole text in memory as long as the id is remembered.
          id = bytes.toString("utf8", begin + 1, at - 1);
          idJson = text.slice(begin, at);
          break;
        case "timestamp":
          if (isAbsent) break;
          if (at - begin - 2 > LONGEST_EXACT) return undefined;
          timestamp = bytes.toString("latin1", begin + 1, at - 1);
          if (timestamp.startsWith("0001-") && isZeroTime(timestamp)) timestamp = this.#now;
          else instant = readInstant(timestamp);
          if (instant === undefined) return undefined;
          break;
        case "level":
          level = spellingOf(text.slice(begin + 1, at - 1));
          break;
        case "message":
          if (bytes[begin] !== QUOTE || at - begin - 2 > LIMITS.messageBytes) return undefined;
          messageJson = text.slice(begin, at);
          break;
        case "fields":
          if (bytes[begin] === OPEN_BRACE) fieldsJson = withoutGaps(text, begin, at, json.gaps);
      }
      at = json.space(at);
    } while (bytes[at] === COMMA);
    if (bytes[at] !== CLOSE_BRACE || level === undefined || messageJson === "") return undefined;
    // With its quotes and escapes, the event counts as a little larger than it is.
    if (fieldsJson.length + messageJson.length + idJson.length > LIMITS.eventBytes) return undefined;
    this.#at = at + 1;
    return encodeLine({ id, idJson, timestamp, instant, level, isCut: false, messageJson, fieldsJson });
  }

  #memberEnd({ name }: Member, at: number): number {
    const json = this.#json;
    if (this.#bytes[at] === NULL[0]) return json.literal(at, NULL);
    if (name === "fields") return json.fields(at);
    return name === "message" ? json.text(at) : json.plainText(at);
  }

  /** Parses an event that is not in canonical form, such as with other escapes; undefined if it is not valid. */
  #unusual(from: number): EncodedEvent | undefined {
    const end = this.#objectEnd(from);
    if (end === NO_INDEX) return undefined;
    this.#at = end;
    try {
      const event = readNewEvent(parseExactJson(this.#bytes.toString("utf8", from, end)), "", this.#now);
      if (event.truncated === true) this.#isCut = true;
      return encodeEvent(event);
    } catch (error) {
      if (error instanceof RpcError) return undefined;
      throw error;
    }
  }

  /** Offset past the brace that closes the one at `at`, provided that the text is JSON. */
  #objectEnd(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at] !== OPEN_BRACE) return NO_INDEX;
    let depth = 0;
    for (let to = at; to < bytes.length; to++) {
      const code = bytes[to];
      if (code === QUOTE) {
        for (to++; bytes[to] !== QUOTE; to++) {
          if (to >= bytes.length) return NO_INDEX;
          if (bytes[to] === BACKSLASH) to++;
        }
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
      else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return to + 1;
    }
    return NO_INDEX;
  }
}

/** Ids of projects that need no escapes. Others are left to the schema. */
const PROJECT = /^[A-Za-z0-9_-]{1,64}$/;

interface Member {
  readonly name: "id" | "timestamp" | "level" | "message" | "fields";
  readonly key: Uint8Array;
  readonly bit: number;
}

/** The members of an event by the first byte of their names, which are all different. */
const MEMBERS: readonly (Member | undefined)[] = (() => {
  const members: (Member | undefined)[] = Array.from({ length: 256 }, () => undefined);
  for (const [i, name] of (["id", "timestamp", "level", "message", "fields"] as const).entries()) {
    members[name.charCodeAt(0)] = { name, key: Buffer.from(`"${name}"`), bit: 1 << i };
  }
  return members;
})();

/** The spellings of levels in lower and upper case, each as a string of its own and not a slice of a body. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  LEVELS.flatMap((level) =>
    LEVEL_SPELLINGS[level].flatMap((spelling) =>
      [spelling, spelling.toUpperCase()].map((text) => [text, spelling] as const),
    ),
  ),
);

/** The spelling of a level in lower case, given in any case. */
function spellingOf(text: string): string | undefined {
  return SPELLINGS.get(text) ?? SPELLINGS.get(text.toLowerCase());
}

function withoutGaps(text: string, begin: number, end: number, gaps: readonly number[]): string {
  if (gaps.length === 0) return text.slice(begin, end);
  let result = "";
  let from = begin;
  for (let i = 0; i < gaps.length; i += 2) {
    result += text.slice(from, gaps[i]);
    from = gaps[i + 1]!;
  }
  return result + text.slice(from, end);
}
