import type { Readable } from "node:stream";

/** No client writes more before the text of a message. */
const MAX_HEADER_BYTES = 4096;

/**
 * Calls back once with the header of the first message that has no length. Nobody can tell where the next message begins then:
 * a server would read on, find none and answer nothing, for as long as its client waits.
 */
export function onLostFraming(input: Readable, act: (header: string) => void): void {
  let header = Buffer.alloc(0);
  let bodyBytesLeft = 0;
  const read = (chunk: Buffer): void => {
    let rest = chunk;
    while (rest.length > 0) {
      const skipped = Math.min(bodyBytesLeft, rest.length);
      bodyBytesLeft -= skipped;
      rest = rest.subarray(skipped);
      if (rest.length === 0) return;
      header = Buffer.concat([header, rest]);
      const end = header.indexOf("\r\n\r\n");
      if (end < 0 && header.length <= MAX_HEADER_BYTES) return;
      const text = header.toString("latin1", 0, end < 0 ? MAX_HEADER_BYTES : end);
      const length = end < 0 ? undefined : lengthIn(text);
      if (length === undefined) {
        input.off("data", read);
        act(text);
        return;
      }
      rest = header.subarray(end + 4);
      header = Buffer.alloc(0);
      bodyBytesLeft = Number(length);
    }
  };
  input.on("data", read);
}

/** The length that a header says; undefined if it has none, or a line that is none of a header's. */
function lengthIn(header: string): string | undefined {
  const lines = header.split("\r\n");
  if (lines.some((line) => !/^[\w-]+:/.test(line))) return undefined;
  return lines.flatMap((line) => /^Content-Length: *(\d+) *$/i.exec(line)?.[1] ?? [])[0];
}
