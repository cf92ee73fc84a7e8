import type { Readable } from "node:stream";

/** "The maximum event size is 1 MB": a line without an end is cut there. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * Passes on what a stream says as whole lines, those of one read together, so that two streams of a process do not meet
 * within a line. The last one gets an end when the stream ends.
 */
export function passOnLines(stream: Readable, pass: (lines: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      pass(rest + text.slice(0, end));
      rest = text.slice(end);
      return;
    }
    rest += text;
    if (rest.length < MAX_CHARACTERS) return;
    pass(`${rest}\n`);
    rest = "";
  });
  stream.on("end", () => {
    if (rest !== "") pass(`${rest}\n`);
  });
}
