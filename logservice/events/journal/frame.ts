import { crc32 } from "node:zlib";

/**
 * The journal is NDJSON: each batch is a line of its own, the frame, followed by the lines of its events. The frame says
 * how many lines and bytes follow and the CRC-32 of the frame (up to the number itself) and those bytes. The deletion of
 * a project is a frame with no lines.
 */
export interface Frame {
  /** The sequence of the first event; of a deletion, the one that the next event gets. */
  readonly sequence: number;
  readonly project: string;
  readonly lines: number;
  readonly bytes: number;
  readonly atMs: number;
  readonly key: string | undefined;
  /** A hash of the batch that came with the key. */
  readonly digest?: string;
  readonly isDeletion: boolean;
}

export interface FrameAndBody {
  readonly frame: Frame;
  /** The event lines, each with its line end. */
  readonly body: Buffer;
}

/** The deletion of a project, as it is written. */
export const deletion = (project: string, sequence: number, atMs: number) => ({
  frame: { sequence, project, lines: 0, atMs, key: undefined, isDeletion: true },
  body: NO_LINES,
});

const NO_LINES = Buffer.alloc(0);

/** The frame of a batch, which is written before its body. */
export function encodeFrame(frame: Omit<Frame, "bytes">, body: Buffer): Buffer {
  const { sequence, project, lines, atMs, key, digest = "", isDeletion } = frame;
  const head = `{"b":${sequence},"p":"${project}","n":${lines},"z":${body.length},"at":${atMs}${
    key === undefined ? "" : `,"k":${JSON.stringify(key)}`
  }${key === undefined || digest === "" ? "" : `,"h":${JSON.stringify(digest)}`}${isDeletion ? ',"drop":true' : ""},"c":`;
  const sum = sumOf(head, body);
  return Buffer.from(`${head}${sum}}\n`);
}

// For an empty buffer without memory of its own crc32 returns 0 instead of the sum so far.
const sumOf = (head: string, body: Buffer) => (body.length === 0 ? crc32(head) : crc32(body, crc32(head)));

/**
 * Reads frames one after the other. `torn` is where the text stops being a journal: everything before is whole. A frame
 * that is not whole but is followed by a whole one is `bad`, and reading continues there: that is damage, not a crash.
 */
export function* readFrames(
  text: Buffer,
): Generator<{ whole: FrameAndBody; end: number } | { bad: number; end: number } | { torn: number }> {
  let at = 0;
  while (at < text.length) {
    const result = frameAt(text, at);
    if (result !== undefined) {
      yield result;
      at = result.end;
      continue;
    }
    const next = nextWhole(text, at);
    if (next === undefined) {
      yield { torn: at };
      return;
    }
    yield { bad: at, end: next };
    at = next;
  }
}

/** The line of a frame. */
interface FrameHead {
  readonly frame: Frame;
  /** Length of the line with its end. */
  readonly length: number;
  readonly bytes: number;
  /** CRC-32 that the line says, and that of the line up to there. */
  readonly sum: number;
  readonly headSum: number;
}

/** Reads the line that a text begins with: "unfinished" if its end is not there, undefined if it is none. */
export function frameHead(text: Buffer): FrameHead | "unfinished" | undefined {
  if (text.subarray(0, BEGINNING.length).compare(BEGINNING.subarray(0, text.length)) !== 0) return undefined;
  const lineEnd = text.indexOf(0x0a);
  if (lineEnd < 0) return "unfinished";
  const line = text.toString("utf8", 0, lineEnd);
  const parsed = parsedLine(line) as
    | { b: number; p: string; n: number; z: number; at: number; k?: string; h?: string; drop?: boolean; c: number }
    | undefined;
  if (parsed === undefined || !Number.isSafeInteger(parsed.z)) return undefined;
  const { b: sequence, p: project, n: lines, z: bytes, at: atMs, k: key, h: digest = "", drop = false } = parsed;
  const frame = { sequence, project, lines, bytes, atMs, key, digest, isDeletion: drop };
  const headSum = crc32(line.slice(0, line.lastIndexOf('"c":') + 4));
  return { frame, length: lineEnd + 1, bytes, sum: parsed.c, headSum };
}

function frameAt(text: Buffer, at: number): { whole: FrameAndBody; end: number } | undefined {
  const head = frameHead(text.subarray(at));
  if (head === undefined || head === "unfinished") return undefined;
  const begin = at + head.length;
  const end = begin + head.bytes;
  if (end > text.length) return undefined;
  const body = text.subarray(begin, end);
  const sum = body.length === 0 ? head.headSum : crc32(body, head.headSum);
  return sum === head.sum ? { whole: { frame: head.frame, body }, end } : undefined;
}

const NEXT = Buffer.from('\n{"b":');

function nextWhole(text: Buffer, from: number): number | undefined {
  for (let at = text.indexOf(NEXT, from); at >= 0; at = text.indexOf(NEXT, at + 1)) {
    if (frameAt(text, at + 1) !== undefined) return at + 1;
  }
  return undefined;
}

/** The facts that can be told of a frame that is not whole. */
export interface BadFrame {
  readonly bytes: number;
  /** Undefined if the frame and its first line do not say the same. */
  readonly project: string | undefined;
  readonly interval: readonly [first: number, last: number] | undefined;
}

export function readBadFrame(text: Buffer): BadFrame {
  const [frame, line] = text.toString("utf8").split("\n", 2).map(parsedLine);
  const { b: first, p: project, n: lines, z } = frame ?? {};
  const isClear =
    typeof project === "string" &&
    project === line?.p &&
    first === line?.q &&
    Number.isSafeInteger(first) &&
    Number.isSafeInteger(lines) &&
    // No other frame was swallowed.
    text.indexOf("\n") + 1 + Number(z) === text.length;
  if (!isClear) return { bytes: text.length, project: undefined, interval: undefined };
  return { bytes: text.length, project, interval: [first as number, (first as number) + (lines as number) - 1] };
}

function parsedLine(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/**
 * Whether the end of a file is what a crash leaves: the beginning of a frame, or zeros that a file system put there. A
 * frame that has its length and another sum is damaged.
 */
export function isTorn(text: Buffer): boolean {
  if (text.every((byte) => byte === 0)) return true;
  const head = frameHead(text);
  if (head === "unfinished") return text.length < MAX_FRAME_BYTES;
  if (head === undefined || head.length + head.bytes <= text.length) return false;
  // With all its lines there it is whole, and says a wrong length.
  let lines = 0;
  for (let at = text.indexOf(0x0a, head.length); at >= 0; at = text.indexOf(0x0a, at + 1)) lines++;
  return lines < head.frame.lines || head.frame.lines === 0;
}

// The longest key is a part of it.
const MAX_FRAME_BYTES = 4096;

const BEGINNING = Buffer.from('{"b":');
