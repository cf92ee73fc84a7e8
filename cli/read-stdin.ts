import type { Io } from "./io.ts";

/** All of stdin, or the first `maxBytes` of it and what came with them. */
export async function readStdin({ stdin }: Pick<Io, "stdin">, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks);
}
