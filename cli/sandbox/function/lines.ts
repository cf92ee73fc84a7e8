import type { Readable } from "node:stream";

/** "The maximum event size is 1 MB": a line without an end is cut there. */
const MAX_BYTES = 1024 * 1024;

/**
 * Passes on what a stream says as whole lines, those of one read together, so that two streams of a process do not meet
 * within a line. The last one gets an end when the stream ends.
 */
export function passOnLines(stream: Readable, pass: (lines: string) => void): void {
  let rest = "";
  let bytes = 0;
  const keep = (text: string) => {
    rest = text;
    bytes = Buffer.byteLength(text);
  };
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      pass(rest + text.slice(0, end));
      keep(text.slice(end));
      return;
    }
    rest += text;
    bytes += Buffer.byteLength(text);
    if (bytes < MAX_BYTES) return;
    pass(`${rest}\n`);
    keep("");
  });
  stream.on("end", () => {
    if (rest !== "") pass(`${rest}\n`);
  });
}
