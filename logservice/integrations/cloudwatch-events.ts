import { isEntryId } from "../../grammar/entry-id.ts";
import { isFailedStart, readPlatformLine } from "../../grammar/query/cloudwatch/platform-line.ts";
import { isStorableTimestamp } from "../events/instant.ts";
import type { NewEvent } from "../events/store.ts";
import { lineEvent } from "../http/read-lines.ts";
import type { ProjectMode } from "../records/projects.ts";
import { MAX_ID_LENGTH, readNewEvent, readPart } from "../rpc/read-events.ts";
import type { CloudWatchEvent } from "./subscription.ts";

/**
 * Reads events as `/ingest` reads lines: level, message and time by the table of loggers, or the line as it is for a project of
 * plain text. Each has the platform's id, by which one that is delivered again counts once, and its time if the line has none. An
 * entry of a deployed app keeps the id that it was written with, as the app may have sent it, too.
 * Lines of the function platform have the level of what they say: nobody looks for the beginning and end of each invocation.
 * `log_group` and `log_stream` tell where an event comes from. Nothing is left out but blank lines: what cannot be read is kept
 * as text.
 */
export function readCloudWatchEvents(events: readonly CloudWatchEvent[], mode: ProjectMode, now: string): NewEvent[] {
  const read: NewEvent[] = [];
  for (const event of events) {
    const line = event.message.trimEnd();
    if (line.trim() === "") continue;
    const asText = withOrigin({ level: "info", message: line }, event);
    if (mode === "plain_text") {
      read.push(readNewEvent({ ...asText, fields: undefined }, "event", now));
      continue;
    }
    const errors: { index: number; message: string }[] = [];
    readPart({ events: read, errors }, 0, () => readNewEvent(withOrigin(lineEvent(line), event), "event", now));
    // Too many fields, or too large: its text is cut, as that of a long line is.
    if (errors.length > 0) read.push(readNewEvent(asText, "event", now));
  }
  return read;
}

function withOrigin(
  own: Readonly<Record<string, unknown>>,
  { group, stream, id, timeMs, message }: CloudWatchEvent,
): Record<string, unknown> {
  const isTimed = Number.isFinite(timeMs) && Math.abs(timeMs) <= MAX_TIME_MS;
  const time = isTimed ? new Date(timeMs).toISOString() : undefined;
  const { id: ownId, ...others } = own;
  // Sent by the deployed app itself, too: it counts once.
  const isSent = isEntryId(ownId);
  return {
    ...(time !== undefined && isStorableTimestamp(time) && { timestamp: time }),
    ...others,
    ...(isSent ? { id: ownId } : id !== "" && id.length <= MAX_ID_LENGTH && { id }),
    level: levelOfPlatform(message) ?? own.level,
    // A logger's id may be that of an order: two lines with it are two events.
    fields: {
      log_group: group,
      log_stream: stream,
      ...(ownId !== undefined && !isSent && { id: ownId }),
      ...(own.fields as object | undefined),
    },
  };
}

/** ECMA-262, section 21.4.1.1: no Date is further from 1970. */
const MAX_TIME_MS = 8.64e15;

function levelOfPlatform(line: string): string | undefined {
  const platform = readPlatformLine(line);
  if (platform === undefined) return isFailedStart(line) ? "error" : undefined;
  return platform.kind === "timeout" || platform.kind === "exit" ? "error" : "debug";
}
