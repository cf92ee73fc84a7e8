import { pipeline, type Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createGunzip,
  createGzip,
  createInflate,
  gzip,
} from "node:zlib";

export type Coding = "br" | "gzip";

/** What a content coding can be undone by; names as they stand in Content-Encoding. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  br: createBrotliDecompress,
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
};

/** Quality 4 is gzip's speed at a better size; 11, the default, takes a second for a megabyte. */
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
const known = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>();

export function compressedBody(body: string | Buffer, coding: Coding): Promise<Buffer> {
  const compress = () => (coding === "br" ? brotlied(body) : gzipped(body));
  if (typeof body === "string") return compress();
  const ofBody = known.get(body) ?? new Map<Coding, Promise<Buffer>>();
  const compressed = ofBody.get(coding) ?? compress();
  known.set(body, ofBody.set(coding, compressed));
  return compressed;
}

/** What the app has sent goes on when it pauses, so that a page that is written bit by bit is seen bit by bit. */
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

/** The plain body of a decodable coding. Wrong data breaks the stream off. */
export function decodedStream(body: Readable, coding: string): Readable {
  return joined(body, DECODERS[coding]!());
}

/** What becomes of one stream becomes of the other: whoever destroys the far end lets go of the app's connection. */
export function joined(body: Readable, transform: Transform): Readable {
  transform.on("error", () => {});
  pipeline(body, transform, () => {});
  return transform;
}
