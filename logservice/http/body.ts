import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import { RpcError } from "../error.ts";
import type { Limits } from "../limits.ts";

/** Receives the bodies of requests and bounds the memory that they take together. */
export class RequestBodies {
  readonly #limits: Limits;
  #heldBytes = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Size of the bodies in memory in bytes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Runs `use` with the decoded body of a request. A body that is too large is refused as soon as that is known, without
   * reading the rest; decompression stops at the limit. Throws RpcErrors, the signal's reason, and ClientGone.
   */
  async receive<T>(request: IncomingMessage, signal: AbortSignal, use: (body: Buffer) => Promise<T>): Promise<T> {
    const limits = this.#limits;
    const coding = codingOf(request);
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced > limits.bodyBytes) throw tooLarge(limits);
    let held = 0;
    const hold = (bytes: number) => {
      if (this.#heldBytes + bytes > limits.bodyBytesInFlight) {
        throw new RpcError("unavailable", "too much is being received at once: try again", { retryAfterMs: 1_000 });
      }
      held += bytes;
      this.#heldBytes += bytes;
    };
    try {
      const packed = await read(request, limits, signal, hold);
      if (packed.length === 0) return await use(packed);
      const bytes = coding === undefined ? packed : await unpack(packed, coding, limits);
      if (bytes !== packed) hold(bytes.length);
      return await use(bytes);
    } finally {
      this.#heldBytes -= held;
    }
  }
}

/** The client disconnected: nobody waits for an answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

type Coding = "gzip" | "deflate" | "br";

function codingOf(request: IncomingMessage): Coding | undefined {
  const coding = (request.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (coding === "" || coding === "identity") return undefined;
  if (coding === "x-gzip") return "gzip";
  if (coding === "gzip" || coding === "deflate" || coding === "br") return coding;
  throw new RpcError("unsupported_media_type", "Content-Encoding: must be gzip, deflate, br or identity");
}

function read(
  request: IncomingMessage,
  limits: Limits,
  signal: AbortSignal,
  hold: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const fail = (error: unknown) => {
      request.off("data", onData);
      reject(error as Error);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limits.bodyBytes) return fail(tooLarge(limits));
      try {
        hold(chunk.length);
      } catch (error) {
        return fail(error);
      }
      chunks.push(chunk);
    };
    if (signal.aborted) return fail(signal.reason);
    request.on("data", onData);
    const onAbort = () => fail(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    // Each request closes in the end: making the error costs more than the rest of this function.
    const onGone = () => reject(new ClientGone("the client left"));
    request.once("end", () => {
      signal.removeEventListener("abort", onAbort);
      request.off("close", onGone);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    // It stays: without a listener an error after the body would end the process.
    request.once("error", onGone);
    request.once("close", onGone);
  });
}

function tooLarge({ bodyBytes }: Limits): RpcError {
  return new RpcError("too_large", `the body must be at most ${bodyBytes} bytes: send it in parts`);
}

const UNPACK = { gzip: promisify(gunzip), br: promisify(brotliDecompress) };

async function unpack(packed: Buffer, coding: Coding, { inflatedBytes }: Limits): Promise<Buffer> {
  const options: ZlibOptions = { maxOutputLength: inflatedBytes };
  try {
    if (coding !== "deflate") return await UNPACK[coding](packed, options);
    return await promisify(hasZlibHeader(packed) ? inflate : inflateRaw)(packed, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      const message = `the body must be at most ${inflatedBytes} bytes when decompressed: send it in parts`;
      throw new RpcError("too_large", message);
    }
    throw new RpcError("bad_request", `the body is not valid ${coding}`, { cause: error });
  }
}

/** RFC 1950 section 2.2. `deflate` means zlib (RFC 9110 section 8.4.1.2), but some clients send the raw stream. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && (bytes[0]! & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}
