import { pipeline, Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import {
  brotliCompress,
  brotliDecompress,
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createGunzip,
  createGzip,
  createInflate,
  gunzip,
  gzip,
  inflate,
  type ZlibOptions,
} from "node:zlib";

export type Coding = "br" | "gzip";

/** The decoders, by the name of their coding in Content-Encoding. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  br: createBrotliDecompress,
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
};

/** Quality 4 is gzip's speed at a better size; 11, the default, takes a second per megabyte. */
const BROTLI_QUALITY = 4;

/** A window of 512 KB: the default of 4 MB is memory for each connection that text seldom gains by. */
const BROTLI_WINDOW_BITS = 19;

const BROTLI = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};

const gzipped = promisify(gzip);
const brotlied = promisify((bytes: Buffer | string, done: (error: Error | null, result: Buffer) => void) =>
  brotliCompress(bytes, { params: { ...BROTLI.params, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }, done),
);

/** A buffer that is sent again and again, a cached file, is compressed once; it goes when the buffer goes. */
const compressedByBody = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>();

export function compressedBody(body: string | Buffer, coding: Coding): Promise<Buffer> {
  const compress = () => (coding === "br" ? brotlied(body) : gzipped(body));
  if (typeof body === "string") return compress();
  const ofBody = compressedByBody.get(body) ?? new Map<Coding, Promise<Buffer>>();
  const compressed = ofBody.get(coding) ?? compress();
  compressedByBody.set(body, ofBody.set(coding, compressed));
  return compressed;
}

/** Flushes when the app pauses, so that a page that is written bit by bit is seen bit by bit. */
export function compressedStream(body: Readable, coding: Coding): Readable {
  const compressor = coding === "br" ? createBrotliCompress(BROTLI) : createGzip();
  let isWaiting = false;
  body.on("data", () => {
    if (isWaiting) return;
    isWaiting = true;
    setImmediate(() => {
      isWaiting = false;
      if (!compressor.writableEnded && !compressor.destroyed) compressor.flush();
    });
  });
  return joined(body, compressor);
}

export function isDecodable(coding: string): boolean {
  return Object.hasOwn(DECODERS, coding);
}

/** If more came in one packet, it is not a page: it is left as it is. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

const UNPACK: Readonly<Record<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>>> = {
  br: promisify((bytes: Buffer, { maxOutputLength }: ZlibOptions, done: (error: Error | null, plain: Buffer) => void) =>
    brotliDecompress(bytes, { maxOutputLength }, done),
  ),
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
};

/** The plain bytes, the outermost coding first; undefined if the bytes are not in these codings. */
export async function decodedBytes(bytes: Buffer, codings: readonly string[]): Promise<Buffer | undefined> {
  try {
    let plain = bytes;
    for (const coding of codings) plain = await UNPACK[coding]!(plain, { maxOutputLength: MAX_UNPACKED_BYTES });
    return plain;
  } catch {
    return undefined;
  }
}

/**
 * The plain body, the outermost coding first; what came where its beginning is not in these codings (servers send raw
 * deflate as `deflate`). Resolves with the first plain byte. Wrong data further in breaks the stream off.
 */
export function decodedStream(
  body: Readable,
  codings: readonly string[],
): Promise<{ readonly body: Readable } | { readonly asItIs: Readable }> {
  const decoders = codings.map((coding) => DECODERS[coding]!());
  const first = decoders[0]!;
  const last = decoders.at(-1)!;
  for (const [i, decoder] of decoders.entries()) {
    if (decoder === last) break;
    decoder.on("error", (error) => last.destroy(error));
    decoder.pipe(decoders[i + 1]!);
  }
  return new Promise((resolve) => {
    let held: Buffer[] | undefined = [];
    let bodyError: Error | undefined;
    const onData = (chunk: Buffer) => {
      held?.push(chunk);
      if (!first.write(chunk)) body.pause();
    };
    const onEnd = () => first.end();
    const onDrain = () => body.resume();
    const onClose = () => {
      if (!body.readableEnded) last.destroy(bodyError ?? new Error("the body was closed before its end"));
    };
    body.on("data", onData).once("end", onEnd).once("close", onClose);
    body.on("error", (error) => {
      bodyError = error;
    });
    first.on("drain", onDrain);
    if (body.closed) {
      bodyError = body.errored ?? new Error("the body was closed before its end");
      onClose();
    }

    const settle = () => {
      for (const event of ["readable", "end", "error"]) last.off(event, settle);
      const parts = held!;
      held = undefined;
      last.on("error", () => {});
      if (last.errored === null || bodyError !== undefined) {
        last.once("close", () => body.destroy());
        resolve({ body: last });
        return;
      }
      body.off("data", onData).off("end", onEnd).off("close", onClose);
      for (const decoder of decoders) decoder.destroy();
      resolve({ asItIs: withBeginning(parts, body) });
    };
    for (const event of ["readable", "end", "error"]) last.on(event, settle);
  });
}

/** A body whose first parts have been read already. */
function withBeginning(parts: readonly Buffer[], rest: Readable): Readable {
  rest.pause();
  const chunks = async function* () {
    yield* parts;
    for await (const chunk of rest) yield chunk as Buffer;
  };
  return Readable.from(chunks(), { objectMode: false }).once("close", () => rest.destroy());
}

/** If one stream ends or is destroyed, so is the other: destroying the result also frees the app's connection. */
export function joined(body: Readable, transform: Transform): Readable {
  transform.on("error", () => {});
  pipeline(body, transform, () => {});
  return transform;
}
