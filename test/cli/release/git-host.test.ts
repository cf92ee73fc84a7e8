// Transfers that hardly progress, by a clock that the test turns.
import { join } from "node:path";
import t from "tap";
import { downloadFile } from "../../../cli/release/git-host.ts";
import { TestClock } from "../../support/test-clock.ts";

const PIECES = 200;

/** Downloads a file of which each piece comes a second after the one before; how many came, and the error. */
async function downloaded(t: Tap, pieceBytes: number) {
  const clock = new TestClock();
  let pieces = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pieces === PIECES) return controller.close();
        pieces++;
        await clock.advance(1_000);
        controller.enqueue(new Uint8Array(pieceBytes));
      },
    },
    { highWaterMark: 0 },
  );
  t.intercept(globalThis, "fetch", { value: async () => new Response(body) });
  const url = "https://localhost/a.tar.gz";
  const file = { edition: "pro", system: "any", kind: "tool", sha256: "", bytes: PIECES * pieceBytes + 1 } as const;
  const ended = await downloadFile(
    { version: "1.2.3", assets: new Map([["a.tar.gz", url]]) },
    { ...file, name: "a.tar.gz" },
    join(t.testdir({}), "a.tar.gz"),
    { origin: "https://localhost", token: undefined, clock, signal: new AbortController().signal, onBytes() {} },
  ).catch((error: unknown) => error);
  return { pieces, ended };
}

interface Tap {
  testdir(files: Record<string, never>): string;
  intercept(object: object, name: string, descriptor: PropertyDescriptor): unknown;
}

const SLOW = {
  message: "the download of https://localhost/a.tar.gz failed: less than 1024 bytes a second came for 60 seconds",
  hint: "check the network, then run this again",
};

for (const pieceBytes of [1, 1_023]) {
  t.test(`${pieceBytes} bytes a second: given up after a minute`, async (t) => {
    t.match(await downloaded(t, pieceBytes), { pieces: 60, ended: SLOW });
  });
}

t.test("1,024 bytes a second: waited for", async (t) => {
  t.match(await downloaded(t, 1_024), { pieces: PIECES, ended: { message: /^a\.tar\.gz is incomplete: / } });
});
