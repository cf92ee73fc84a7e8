/** All of a stream, or the first `maxBytes` of it and what came with them. */
export async function readStream(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const piece = Buffer.from(chunk as Uint8Array);
    chunks.push(piece);
    bytes += piece.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks);
}
