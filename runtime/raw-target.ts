// Requests whose target holds bytes beyond ASCII, as they are: old clients and scripts send `GET /?q=café` without
// percent encoding. Node's parser refuses them; other servers take them, and so does this one, percent-encoded.
import type { Socket } from "node:net";
import type { Clock } from "../grammar/units/clock.ts";
import { PARSED_HEAD_BYTES } from "./malformed.ts";

/** The time that Node's server waits for the whole head of a request. */
const HEAD_TIMEOUT_MS = 60_000;

const LF = 10;

/**
 * The bytes of a packet from the request line that the parser stopped in, with its bytes beyond ASCII percent-encoded;
 * undefined if it stopped at something else, or if the line begins in an earlier packet. `stoppedAt` is the first byte
 * that it refused.
 */
function withEncodedTarget(packet: Buffer, stoppedAt: number): Buffer | undefined {
  if (!(packet[stoppedAt]! >= 0x80)) return undefined;
  const start = packet.lastIndexOf(LF, stoppedAt) + 1;
  const line = packet.subarray(start, lineEnd(packet, stoppedAt));
  const text = line.toString("latin1");
  if (!/^[A-Z-]+ [!-~]/.test(text)) return undefined;
  const encoded = text.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return Buffer.concat([Buffer.from(encoded, "latin1"), packet.subarray(start + line.length)]);
}

function lineEnd(packet: Buffer, from: number): number {
  const end = packet.indexOf(LF, from);
  return end === -1 ? packet.length : end;
}

/** The packet that the parser failed on. */
export interface Stopped {
  readonly packet: Buffer;
  /** The first byte of it that the parser refused. */
  readonly stoppedAt: number;
}

/**
 * Takes a connection from the parser that failed on it, and resolves with the bytes that another parser is to begin
 * with: from the request line on, up to its end at least. Undefined if the line does not end, or the connection ends
 * before: nothing is left to read then. To be called while the parser reports its error.
 */
export function takeOver(socket: Socket, stopped: Stopped, clock: Clock): Promise<Buffer | undefined> | undefined {
  const { packet, stoppedAt } = stopped;
  const parser = (socket as { parser?: NodeParser | null }).parser;
  if (parser?.unconsume === undefined || parser.remove === undefined) return undefined;
  if (withEncodedTarget(packet, stoppedAt) === undefined) return undefined;
  // As node:http itself does when a connection changes its protocol, with the parser's own functions.
  parser.unconsume();
  parser._consumed = false;
  parser.remove();
  setImmediate(() => parser.close?.());
  (socket as { parser?: unknown }).parser = null;
  for (const event of ["data", "end", "timeout", "drain", "pause", "resume"]) {
    for (const listener of socket.listeners(event)) {
      if (/^(?:bound )?socketOn/.test(listener.name)) socket.off(event, listener as () => void);
    }
  }
  return untilLineEnd(socket, stopped, clock);
}

interface NodeParser {
  _consumed?: boolean;
  unconsume?(): void;
  /** From the server's list of connections whose time is watched. */
  remove?(): void;
  close?(): void;
}

function untilLineEnd(socket: Socket, { packet, stoppedAt }: Stopped, clock: Clock): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let read = packet;
    const timer = clock.after(HEAD_TIMEOUT_MS, () => settle(undefined));
    const onEnd = () => settle(undefined);
    const look = () => {
      if (read.indexOf(LF, stoppedAt) !== -1) settle(withEncodedTarget(read, stoppedAt));
      else if (read.length - packet.length > PARSED_HEAD_BYTES) settle(undefined);
    };
    const onData = (more: Buffer) => {
      read = Buffer.concat([read, more]);
      look();
    };
    socket.on("data", onData).once("end", onEnd).once("close", onEnd);
    look();

    function settle(bytes: Buffer | undefined): void {
      timer.stop();
      socket.off("data", onData).off("end", onEnd).off("close", onEnd);
      socket.pause();
      resolve(bytes);
    }
  });
}
