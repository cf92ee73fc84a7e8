import { crc32 } from "node:zlib";

/**
 * The journal is NDJSON: each batch is a line of its own, the frame, and behind it the lines of its events. The frame says
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
  readonly isDrop: boolean;
}

export interface FrameAndBody {
  readonly frame: Frame;
  /** The event lines, each with its line end. */
  readonly body: Buffer;
}

/** The line that stands before the body. */
export function encodeFrame(frame: Omit<Frame, "bytes">, body: Buffer): Buffer {
  const { sequence, project, lines, atMs, key, isDrop } = frame;
  const head = `{"b":${sequence},"p":"${project}","n":${lines},"z":${body.length},"at":${atMs}${
    key === undefined ? "" : `,"k":${JSON.stringify(key)}`
  }${isDrop ? ',"drop":true' : ""},"c":`;
  const sum = sumOf(head, body);
  return Buffer.from(`${head}${sum}}\n`);
}

// Of no bytes crc32 gives 0, whatever came before, where the buffer has no memory of its own: after it was written.
const sumOf = (head: string, body: Buffer) => (body.length === 0 ? crc32(head) : crc32(body, crc32(head)));

/**
 * Reads frames one behind the other. `torn` is where the text stops being a journal: everything before is whole. A frame
 * that is not whole but has a whole one behind it is `bad`, and reading goes on there: that is damage, not a crash.
 */
export function* readFrames(text: Buffer): Generator<{ whole: FrameAndBody } | { bad: number } | { torn: number }> {
  let at = 0;
  while (at < text.length) {
    const found = frameAt(text, at);
    if (found !== undefined) {
      yield { whole: found.whole };
      at = found.end;
      continue;
    }
    const next = nextWhole(text, at);
    if (next === undefined) {
      yield { torn: at };
      return;
    }
    yield { bad: at };
    at = next;
  }
}

function frameAt(text: Buffer, at: number): { whole: FrameAndBody; end: number } | undefined {
  if (text.subarray(at, at + BEGINNING.length).compare(BEGINNING) !== 0) return undefined;
  const lineEnd = text.indexOf(0x0a, at);
  if (lineEnd < 0) return undefined;
  const line = text.subarray(at, lineEnd).toString();
  const split = line.lastIndexOf('"c":') + 4;
  let parsed: { b: number; p: string; n: number; z: number; at: number; k?: string; drop?: boolean; c: number };
  try {
    parsed = JSON.parse(line) as typeof parsed;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
  const end = lineEnd + 1 + parsed.z;
  if (!Number.isInteger(parsed.z) || end > text.length) return undefined;
  const body = text.subarray(lineEnd + 1, end);
  if (sumOf(line.slice(0, split), body) !== parsed.c) return undefined;
  const { b: sequence, p: project, n: lines, z: bytes, at: atMs, k: key, drop = false } = parsed;
  return { whole: { frame: { sequence, project, lines, bytes, atMs, key, isDrop: drop }, body }, end };
}

const BEGINNING = Buffer.from('{"b":');
const NEXT = Buffer.from('\n{"b":');

function nextWhole(text: Buffer, from: number): number | undefined {
  for (let at = text.indexOf(NEXT, from); at >= 0; at = text.indexOf(NEXT, at + 1)) {
    if (frameAt(text, at + 1) !== undefined) return at + 1;
  }
  return undefined;
}
