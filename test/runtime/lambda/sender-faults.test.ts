// A log service that is slow, refuses, or is none at all: how often and how long a request waits for it, by the clock, and that nothing
// is lost or doubled once it is well again. The real sender over real connections.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import t, { type Test } from "tap";
import type { Entry } from "../../../grammar/entry.ts";
import { openIngest } from "../../../runtime/lambda/ingest.ts";
import { Sender } from "../../../runtime/lambda/sender.ts";
import { root } from "../../support/cli.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until, within } from "../../support/until.ts";

/** The answer of a service to a batch that it has read. */
interface Fault {
  readonly answer: (res: ServerResponse, world: { readonly clock: TestClock; store(): void }) => void;
  /** The request waits in vain: 250 ms, once in each pause. */
  readonly isSilent?: boolean;
  /** Why entries are not taken, as it is said once; none if they are. */
  readonly reason?: RegExp;
  readonly isSecure?: boolean;
  /** Pauses between attempts, in seconds of the clock; by default they double. */
  readonly attemptsAtS?: readonly number[];
}

const TAKEN = JSON.stringify({ accepted: 1_000, errors: [] });
const answerWith =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (res: ServerResponse) =>
    void res.writeHead(status, headers).end(body);

const DOUBLING = [0, 1, 3, 7, 15, 31];
const GIGABYTE = 1024 ** 3;

const FAULTS: Readonly<Record<string, Fault>> = {
  "ten seconds until the answer": {
    isSilent: true,
    answer(res, { clock, store }) {
      store();
      clock.after(10_000, () => res.end(TAKEN));
    },
    // Its answers come, and are good: the pause is only as long as no answer is there.
    attemptsAtS: [0, 10, 20, 30],
  },
  "429 that asks for 7 s": {
    answer: answerWith(429, '{"type":"rate_limited","message":"slow down"}', { "retry-after": "7" }),
    reason: /^429 slow down$/,
    attemptsAtS: [0, 7, 14, 21, 29],
  },
  "500": { answer: answerWith(500, '{"type":"internal","message":"a bug"}'), reason: /^500 a bug$/ },
  "200 of something else": { answer: answerWith(200, "<html>"), reason: /does not answer as a log service$/ },
  "bytes that are no HTTP": {
    answer: (res) => void res.socket!.end(Buffer.from([0, 1, 2, 3, 255, 13, 10])),
    reason: /cannot be reached: HPE_INVALID/,
  },
  "a certificate that nobody has signed": {
    answer: answerWith(200, TAKEN),
    isSecure: true,
    reason: /DEPTH_ZERO_SELF_SIGNED_CERT: put a file with its certificate, /,
  },
  "a token that was revoked": {
    answer: answerWith(401, '{"type":"unauthorized","message":"the token is not known"}'),
    reason: /^401 the token is not known$/,
  },
  "a redirect to elsewhere": { answer: answerWith(307, "", { location: "/elsewhere" }), reason: /^307$/ },
  "an answer without an end, byte by byte": {
    isSilent: true,
    answer(res, { clock }) {
      res.writeHead(200);
      const more = clock.every(1_000, () => void res.write(" "));
      res.on("close", () => more.stop());
    },
    reason: /^no answer within 15 s$/,
    // Each pause in which it did not come has doubled the next one: the fifth is 16 s.
    attemptsAtS: [0, 31],
  },
  "hints without an end": {
    isSilent: true,
    answer(res, { clock }) {
      const more = clock.every(1_000, () => res.writeEarlyHints({ link: "</a>; rel=preload" }));
      res.on("close", () => more.stop());
    },
    reason: /^no answer within 15 s$/,
    // Each pause in which it did not come has doubled the next one: the fifth is 16 s.
    attemptsAtS: [0, 31],
  },
  "an answer of a gigabyte": {
    answer(res) {
      res.writeHead(200, { "content-length": String(GIGABYTE) });
      const part = Buffer.alloc(64 * 1024, 32);
      const more = () => {
        while (!res.destroyed && res.write(part));
      };
      res.on("drain", more);
      more();
    },
    reason: /does not answer as a log service$/,
  },
  "a head without an end": {
    answer(res) {
      const { socket } = res;
      socket!.write("HTTP/1.1 200 OK\r\n");
      const more = () => {
        while (!socket!.destroyed && socket!.write(`x-${"y".repeat(1_000)}: z\r\n`));
      };
      socket!.on("drain", more);
      more();
    },
    reason: /cannot be reached: HPE_HEADER_OVERFLOW$/,
  },
};

/** Seconds of the clock with a request in each. */
const SECONDS = 34;

async function open(t: Test, fault: Fault) {
  const clock = new TestClock();
  const stored = new Map<string, readonly string[]>();
  const attemptsAtS: number[] = [];
  const paths = new Set<string | undefined>();
  const sockets = new Set<Socket>();
  let isWell = false;
  const beganMs = clock.nowMs();
  const listener: RequestListener = async (req: IncomingMessage, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    paths.add(req.url);
    const lines = gunzipSync(Buffer.concat(parts)).toString().split("\n");
    const messages = lines.map((line) => (JSON.parse(line) as Entry).message);
    const store = () => void stored.set(String(req.headers["idempotency-key"]), messages);
    arrived++;
    if (!isWell) return fault.answer(res, { clock, store });
    store();
    res.end(TAKEN);
  };
  const server = fault.isSecure ? createSecureServer(certificate(), listener) : createServer(listener);
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `${fault.isSecure ? "https" : "http"}://127.0.0.1:${port}/ingest/shop`;
  const notes: string[] = [];
  const written: string[] = [];
  let arrived = 0;
  const post = await openIngest({ url, token: "lgs_x", clock });
  const write = (level: string, message: string) => {
    const entry = { timestamp: new Date(clock.nowMs()).toISOString(), level, message, fields: {} };
    written.push(message);
    sender.write([entry], [JSON.stringify(entry)]);
  };
  const sender: Sender = new Sender({
    instance: "0123456789abcdef",
    clock,
    async post(batch) {
      attemptsAtS.push((clock.nowMs() - beganMs) / 1000);
      return post(batch);
    },
    note(level, message, { entries, reason }) {
      notes.push(`${message}: ${entries ?? reason}`);
      write(level, `${message} ${notes.length}`);
    },
    print: undefined,
  });
  return {
    ...{ clock, sender, write, written, notes, stored, attemptsAtS, paths, sockets },
    /** Whether the service has each attempt that was made. */
    haveArrived: () => arrived >= attemptsAtS.length,
    recover: () => {
      isWell = true;
    },
  };
}

for (const [name, fault] of Object.entries(FAULTS)) {
  t.test(name, async (t) => {
    const world = await open(t, fault);
    const { clock, sender, write, written, notes, stored, attemptsAtS } = world;
    let waits = 0;
    const early: number[] = [];
    const waited = new Set<number>();
    for (let second = 0; second < SECONDS; second++) {
      write("info", `r${second}`);
      const before = clock.monotonicMs();
      let isAnswered = false;
      const answered = sender.answered(undefined).then(() => {
        isAnswered = true;
      });
      if (fault.isSilent) {
        // Nothing but the clock ends it.
        await until(
          "an answer, or an attempt without one",
          () => isAnswered || (isWaiting(clock) && world.haveArrived()),
        );
        if (!isAnswered) await clock.advance(249);
        if (isAnswered && clock.monotonicMs() > before) early.push(second);
        if (!isAnswered) await clock.advance(1);
      }
      await answered;
      const ms = clock.monotonicMs() - before;
      waited.add(ms);
      if (ms > 0) waits++;
      await clock.advance(1_000 - ms);
    }
    t.same([...waited].sort(), fault.isSilent ? [0, 250] : [0], "250 ms, or nothing");
    t.same(early, [], "and no less, while no answer comes");
    if (!fault.isSilent) t.equal(waits, 0, "only silence takes time");
    t.same(
      attemptsAtS.map(Math.floor).filter((second) => second < 32),
      (fault.attemptsAtS ?? DOUBLING).filter((second) => second < 32),
    );
    // The pauses of an attempt without an answer are 1, 2, 4, 8 and 16 s.
    if (fault.isSilent)
      t.ok(waits <= 5 * attemptsAtS.length, `${waits} of ${SECONDS} requests waited, one in each pause`);
    if (fault.reason !== undefined) {
      t.equal(notes.length, 1, "said once");
      t.match(notes[0]!.replace(/^log service does not take entries: /, ""), fault.reason);
      t.equal(stored.size, 0);
    }
    t.same(
      [...world.paths].filter((path) => path !== "/ingest/shop"),
      [],
      "nobody goes elsewhere",
    );
    const bytes = [...world.sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0);
    t.ok(bytes < 64 * 1024 * 1024, `${bytes} bytes of answers were taken`);

    // As soon as it is well, all of it arrives, once.
    world.recover();
    if (fault.isSecure) {
      // Node reads it for each connection: in place of a certificate that it trusts.
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
      t.teardown(() => void delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    }
    // An attempt that is under way ends by its own time.
    await clock.advance(20_000);
    for (let second = 0; second < 65; second++) {
      await within("an answer", sender.answered(undefined));
      await clock.advance(1_000);
    }
    t.same([...stored.values()].flat(), written, "nothing is lost or doubled, and all is in order");
  });
}

const certificate = () => ({
  key: readFileSync(join(root, "test/fixtures/localhost.key.pem")),
  cert: readFileSync(join(root, "test/fixtures/localhost.cert.pem")),
});

/** Whether a request waits for the service: its limit is a timer. */
const isWaiting = (clock: TestClock) => clock.timers.includes(250);
