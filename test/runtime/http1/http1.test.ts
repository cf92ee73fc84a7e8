// Our HTTP/1.1 client: what it reads, however the bytes are cut, beside Node's own client; and what becomes of the
// connections.

import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Readable } from "node:stream";
import fc from "fast-check";
import t from "tap";
import { systemClock } from "../../../grammar/units/clock.ts";
import type { Header } from "../../../runtime/exchange.ts";
import { Pool } from "../../../runtime/http1/pool.ts";
import { type ResponseHead, ResponseParser } from "../../../runtime/http1/response-parser.ts";
import { until } from "../../support/until.ts";

interface Read {
  readonly interim: number[];
  readonly head?: ResponseHead;
  readonly body: string;
  readonly trailers?: readonly Header[];
  /** Came to its end; with the connection, where that is what ends it. */
  readonly ended: boolean;
  readonly error?: string;
}

/** The response to one request, its bytes cut into these parts, and then the connection is closed. */
function read(parts: readonly Buffer[], method = "GET"): Read {
  const seen: { interim: number[]; head?: ResponseHead; trailers?: readonly Header[]; ended: boolean } = {
    interim: [],
    ended: false,
  };
  const body: Buffer[] = [];
  const parser = new ResponseParser({
    interim: ({ status }) => seen.interim.push(status),
    head: (head) => {
      seen.head = head;
    },
    data: (part) => body.push(part),
    end: (trailers) => {
      seen.ended = true;
      if (trailers.length > 0) seen.trailers = trailers;
    },
  });
  parser.begin(method);
  let error: string | undefined;
  try {
    for (const part of parts) parser.read(part);
    parser.close();
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  return { ...seen, body: Buffer.concat(body).toString("latin1"), ...(error !== undefined && { error }) };
}

interface Row {
  readonly name: string;
  readonly text: string;
  readonly method?: string;
  readonly expected: object;
}

const ok = "HTTP/1.1 200 OK\r\n";
const rows: Row[] = [
  {
    name: "a length",
    text: `${ok}Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello`,
    expected: {
      head: {
        status: 200,
        reason: "OK",
        headers: [
          ["Content-Type", "text/plain"],
          ["Content-Length", "5"],
        ],
        keepsAlive: true,
      },
      body: "hello",
      ended: true,
    },
  },
  { name: "too short", text: `${ok}Content-Length: 6\r\n\r\nhello`, expected: { body: "hello", ended: false } },
  {
    name: "too long",
    text: `${ok}Content-Length: 4\r\n\r\nhello`,
    expected: { body: "hell", ended: true, error: "bytes after the end of the response" },
  },
  {
    name: "chunks with an extension and trailers",
    text: `${ok}Transfer-Encoding: chunked\r\n\r\n4;a=b\r\nwiki\r\n5\r\npedia\r\n0\r\nServer-Timing: app;dur=1\r\nContent-Length: 9\r\n\r\n`,
    expected: { head: { headers: [] }, body: "wikipedia", ended: true, trailers: [["Server-Timing", "app;dur=1"]] },
  },
  {
    name: "chunks that do not end",
    text: `${ok}Transfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n`,
    expected: { body: "wiki", ended: false },
  },
  { name: "a coding in capitals", text: `${ok}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`, expected: { ended: true } },
  {
    name: "until the connection closes",
    text: `${ok}Server: old\r\n\r\nto the end`,
    expected: { head: { keepsAlive: false }, body: "to the end", ended: true },
  },
  { name: "HEAD", method: "HEAD", text: `${ok}Content-Length: 5\r\n\r\n`, expected: { body: "", ended: true } },
  { name: "204", text: "HTTP/1.1 204 No Content\r\n\r\n", expected: { body: "", ended: true } },
  { name: "304 with a length", text: "HTTP/1.1 304 \r\nContent-Length: 5\r\n\r\n", expected: { ended: true } },
  {
    name: "interim answers",
    text: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${ok}Content-Length: 0\r\n\r\n`,
    expected: { interim: [103], head: { status: 200 }, ended: true },
  },
  {
    name: "an empty line too many in front",
    text: `\r\n${ok}Content-Length: 0\r\n\r\n`,
    expected: { head: { status: 200 }, ended: true },
  },
  { name: "HTTP/1.0", text: "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", expected: { head: { keepsAlive: false } } },
  {
    name: "HTTP/1.0, kept alive",
    text: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n",
    expected: { head: { keepsAlive: true } },
  },
  {
    name: "headers of the connection",
    text: `${ok}Connection: close, X-Mine\r\nX-Mine: 1\r\nX-Yours: 2\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n`,
    expected: {
      head: {
        headers: [
          ["X-Yours", "2"],
          ["Content-Length", "0"],
        ],
        keepsAlive: false,
      },
    },
  },
  {
    name: "blanks, no blank, nothing, bytes",
    text: `${ok}A:\t 1 \t\r\nB:2\r\nC:\r\nD: caf\u00e9\r\nContent-Length: 0\r\n\r\n`,
    expected: {
      head: {
        headers: [
          ["A", "1"],
          ["B", "2"],
          ["C", ""],
          ["D", "caf\u00e9"],
          ["Content-Length", "0"],
        ],
      },
    },
  },
  {
    name: "the same length twice",
    text: `${ok}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`,
    expected: { ended: true },
  },
  ...(
    [
      [
        "two lengths",
        `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
        "two different values of Content-Length",
      ],
      [
        "a length and chunks",
        `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
        "both Content-Length and Transfer-Encoding",
      ],
      ["another coding", `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`, 'the transfer coding "gzip, chunked"'],
      ["a length of words", `${ok}Content-Length: -1\r\n\r\n`, 'Content-Length "-1"'],
      ["no status line", "HTTP/1.1 OK\r\n\r\n", "the first line is not a status line"],
      ["HTTP/2", "HTTP/2 200\r\n\r\n", "the first line is not a status line"],
      ["another protocol", "SSH-2.0-OpenSSH_9.2\n", "it does not begin with HTTP/1."],
      ["lone line feeds", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", "lines that do not end in CR LF"],
      ["a lone line feed in a header", `${ok}A: 1\nB: 2\r\n\r\n`, "a control character in a header"],
      ["no name", `${ok}: 1\r\n\r\n`, 'the header line ": 1"'],
      ["a blank behind the name", `${ok}A : 1\r\n\r\n`, 'the header line "A : 1"'],
      ["a folded line", `${ok}A: 1\r\n  2\r\n\r\n`, 'the header line "  2"'],
      ["no colon", `${ok}nonsense\r\n\r\n`, 'the header line "nonsense"'],
      ["NUL", `${ok}A: a\0b\r\n\r\n`, "a control character in a header"],
      ["status 42", "HTTP/1.1 042 What\r\n\r\n", "the status 42"],
      ["a switch that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "the status 101"],
      ["no chunk size", `${ok}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`, "a chunk without a size"],
      [
        "a chunk size beyond all measure",
        `${ok}Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n`,
        "a chunk without a size",
      ],
      [
        "a chunk that is longer than it says",
        `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n`,
        "a chunk is longer than it says",
      ],
      ["endless headers", `${ok}${"A: 1\r\n".repeat(10_000)}`, "headers of more than 16384 bytes"],
    ] as const
  ).map(([name, text, error]) => ({ name, text, expected: { ended: false, error } })),
];

t.test("a response", (t) => {
  for (const { name, text, method, expected } of rows) {
    const bytes = Buffer.from(text, "latin1");
    const whole = read([bytes], method);
    t.match(whole, expected, name);
    if (!("error" in expected)) t.equal(whole.error, undefined, name);
    // The error of cut bytes may come with an earlier or a later byte, but it comes.
    const single = read(
      Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
      method,
    );
    if (whole.error === undefined) t.same(single, whole, `${name}, byte by byte`);
    else t.not(single.error, undefined, `${name}, byte by byte`);
  }
  t.end();
});

/** Responses as servers write them, some of them damaged in one place. */
const responses = fc
  .record({
    status: fc.constantFrom("200 OK", "201 Created", "404 Not Found", "204 No Content", "304 Not Modified", "500"),
    fields: fc.array(
      fc.constantFrom(
        "Content-Type: text/html",
        'ETag: "a"',
        "X-Empty:",
        "Set-Cookie: a=1",
        "Set-Cookie: b=2",
        "Connection: close",
        "Connection: keep-alive",
        "Vary: Accept , Origin ",
      ),
      { maxLength: 4 },
    ),
    body: fc.string({ maxLength: 40 }),
    framing: fc.constantFrom("length", "chunks", "close", "both", "none"),
    cuts: fc.array(fc.nat(200), { maxLength: 4 }),
    damage: fc.option(fc.record({ at: fc.nat(150), by: fc.constantFrom("", "\n", "\r\n", " ", "\0", "x", ":", "0") })),
  })
  .map(({ status, fields, body, framing, cuts, damage }) => {
    const content = Buffer.from(body).toString("latin1");
    const chunked = content === "" ? "" : `${content.length.toString(16)}\r\n${content}\r\n`;
    const length = `Content-Length: ${content.length}`;
    const more = { length: [length], chunks: ["Transfer-Encoding: chunked"], close: [], none: [], both: [length] }[
      framing
    ];
    const coding = framing === "both" ? ["Transfer-Encoding: chunked"] : [];
    const head = [`HTTP/1.1 ${status}`, ...fields, ...more, ...coding].join("\r\n");
    const isBodiless = /^(204|304)/.test(status);
    const payload = isBodiless ? "" : framing === "chunks" || framing === "both" ? `${chunked}0\r\n\r\n` : content;
    let text = `${head}\r\n\r\n${payload}`;
    if (damage !== null) text = text.slice(0, damage.at) + damage.by + text.slice(damage.at + 1);
    return { text, cuts };
  });

/** Returns Node's client's reading of bytes: the status, headers and body, or the failure. */
async function readByNode(server: Server): Promise<string> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => {
    const req = httpRequest({ port, host: "127.0.0.1", agent: false }, (res) => {
      const parts: Buffer[] = [];
      res.on("data", (part: Buffer) => parts.push(part));
      res.on("error", () => resolve("failed"));
      res.on("end", () => resolve(responseText(res.statusCode!, Buffer.concat(parts).toString("latin1"))));
    });
    req.on("error", () => resolve("failed"));
    // A switch of protocols that nobody listens for ends without an error.
    req.on("close", () => setImmediate(resolve, "failed"));
    req.end();
  });
}

async function readByUs(server: Server): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const pool = new Pool({ host: "127.0.0.1", port, idleMs: 1000, clock: systemClock });
  const outcome = await send(pool, { target: "/" }).then(
    ({ status, body }) => responseText(status, body),
    () => "failed",
  );
  pool.close();
  return outcome;
}

const responseText = (status: number, body: string) => `${status} ${JSON.stringify(body)}`;

t.test("our client and Node's read the same", async (t) => {
  let text = "";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(text, "latin1"));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => server.close());
  let [answers, failed, stricter] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(responses, async (response) => {
      text = response.text;
      const [ours, theirs] = [await soon(readByUs(server)), await soon(readByNode(server))];
      if (ours === "failed") failed++;
      else answers++;
      if (ours === "failed" && theirs !== "failed") stricter++;
      // Where only ours refuses, it is stricter; what it reads, Node must read alike.
      if (ours !== theirs && ours !== "failed" && !(theirs === "failed" && hasSurplus(text)))
        throw new Error(`ours ${ours}, Node's ${theirs}: ${JSON.stringify(text)}`);
    }),
    { numRuns: Number(process.env.FUZZ_COUNT ?? 1500), seed: 20261121, endOnFailure: true },
  );
  t.ok(answers > 500 && failed > 100, `${answers} read, ${failed} refused, ${stricter} of them by ours alone`);
});

/** An answer that does not come is a difference like others. */
function soon(answer: Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve("no end"), 3_000);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Node's client fails there; ours gives the answer and closes the connection. */
function hasSurplus(text: string): boolean {
  return read([Buffer.from(text, "latin1")]).error === "bytes after the end of the response";
}

interface Sending {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: readonly Header[];
  readonly body?: Readable;
  readonly bodyBytes?: number;
}

interface Received {
  readonly status: number;
  readonly body: string;
  readonly trailers: readonly Header[];
  readonly wasWhole: boolean;
}

function send(pool: Pool, { method = "GET", target = "/", headers = [], body, bodyBytes }: Sending): Promise<Received> {
  return new Promise((resolve, reject) => {
    const own: Header[] = [["Host", "x"], ...headers];
    if (bodyBytes !== undefined) own.push(["Content-Length", String(bodyBytes)]);
    pool.send(
      { method, target, headers: own, body, bodyBytes },
      {
        interim: () => {},
        failed: reject,
        response: async ({ status, body, trailers }) => {
          const parts: Buffer[] = [];
          try {
            if (Buffer.isBuffer(body)) parts.push(body);
            else for await (const part of body) parts.push(part as Buffer);
            const text = Buffer.concat(parts).toString("latin1");
            resolve({ status, body: text, trailers: trailers(), wasWhole: Buffer.isBuffer(body) });
          } catch (error) {
            reject(error);
          }
        },
      },
    );
  });
}

interface App {
  readonly pool: Pool;
  readonly sockets: Set<Socket>;
  /** Connections that were made. */
  count(): number;
}

async function app(
  t: { teardown(handler: () => void): void },
  listener: RequestListener,
  idleMs = 10_000,
): Promise<App> {
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, listener);
  const sockets = new Set<Socket>();
  let count = 0;
  server.on("connection", (socket) => {
    count++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const pool = new Pool({
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    idleMs,
    clock: systemClock,
  });
  t.teardown(() => {
    pool.close();
    server.closeAllConnections();
    server.close();
  });
  return { pool, sockets, count: () => count };
}

t.test("one connection serves request after request, many at a time take one each", async (t) => {
  const { pool, count } = await app(t, (req, res) => res.end(req.url));
  for (let i = 0; i < 20; i++) t.equal((await send(pool, { target: `/${i}` })).body, `/${i}`);
  t.equal(count(), 1);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => send(pool, { target: `/${i}` })));
  t.same(
    answers.map(({ body }) => body),
    ["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7"],
  );
  t.equal(count(), 8);
});

t.test("idle connections are closed, and those of a closed pool", async (t) => {
  const { pool, sockets } = await app(t, (_, res) => res.end(), 100);
  await Promise.all([send(pool, {}), send(pool, {})]);
  t.equal(sockets.size, 2);
  await until("both closed", () => sockets.size === 0);
  await send(pool, {});
  pool.close();
  await until("closed with the pool", () => sockets.size === 0);
  await send(pool, {});
  await until("not kept after it", () => sockets.size === 0);
});

t.test("a request that is given up takes its connection along, and no other's", async (t) => {
  const { pool, sockets } = await app(t, (req, res) => {
    if (req.url === "/hang") return;
    res.end("ok");
  });
  const nothing = { interim: () => {}, response: () => {} };
  let failure: unknown;
  const request = (target: string) => ({
    method: "GET",
    target,
    headers: [["Host", "x"]] as const,
    body: undefined,
    bodyBytes: undefined,
  });
  const giveUp = pool.send(request("/hang"), {
    ...nothing,
    failed: (_, how) => {
      failure = how;
    },
  });
  await until("sent", () => sockets.size === 1);
  giveUp();
  t.match(failure, { hasAnswered: false });
  await until("closed", () => sockets.size === 0);

  let late!: () => void;
  await new Promise<void>((done) => {
    late = pool.send(request("/"), { ...nothing, response: () => done(), failed: () => t.fail("failed") });
  });
  const next = send(pool, {});
  late();
  t.equal((await next).body, "ok", "its connection belongs to the next by then");
});

t.test("bodies", async (t) => {
  const { pool, count } = await app(t, async (req, res) => {
    if (req.url === "/refuse") return void res.writeHead(413).end("no");
    const parts: Buffer[] = [];
    req.on("error", () => {});
    req.on("data", (part: Buffer) => parts.push(part));
    await once(req, "end").catch(() => {});
    const body = Buffer.concat(parts);
    res.end(JSON.stringify({ bytes: body.length, coding: req.headers["transfer-encoding"] ?? "length" }));
  });
  const parts = () => Readable.from([Buffer.alloc(70_000, "a"), Buffer.alloc(0), Buffer.alloc(30_000, "b")]);
  const post = (sending: Sending) => send(pool, { method: "POST", ...sending });
  t.equal((await post({ body: parts() })).body, '{"bytes":100000,"coding":"chunked"}');
  t.equal((await post({ body: parts(), bodyBytes: 100_000 })).body, '{"bytes":100000,"coding":"length"}');
  t.equal((await post({ body: Readable.from([]) })).body, '{"bytes":0,"coding":"chunked"}');
  t.equal(count(), 1);
  await t.rejects(post({ body: parts(), bodyBytes: 99_999 }), {
    message: "the body is longer than its Content-Length",
  });
  await t.rejects(post({ body: parts(), bodyBytes: 100_001 }), {
    message: "the body is shorter than its Content-Length",
  });
  t.equal(count(), 2, "such a request ends the connection that it went over");
  const endless = new Readable({
    read() {
      setTimeout(() => this.push(Buffer.alloc(50_000)), 1);
    },
  });
  t.equal((await post({ target: "/refuse", body: endless })).status, 413, "an answer before the end of the request");
  endless.destroy();
});

t.test("an answer before the end of the request: the next one takes another connection", async (t) => {
  const { pool, count } = await app(t, (req, res) => {
    req.on("error", () => {});
    res.end(req.url);
  });
  const upload = new Readable({ read() {} });
  upload.push("the first part");
  t.equal((await send(pool, { method: "POST", target: "/early", body: upload })).body, "/early");
  t.equal((await send(pool, { target: "/next" })).body, "/next", "no part of the upload is in its way");
  t.equal(count(), 2);
  upload.destroy();
});

t.test("a socket that died before anything was written", async (t) => {
  // In a thread of its own, so that the connection is reset while nobody here can see it.
  const { Worker } = await import("node:worker_threads");
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
    const sockets = new Set();
    const server = require("node:http").createServer((req, res) => req.resume().on("end", () => res.end("ok")));
    server.on("connection", (socket) => sockets.add(socket));
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
    parentPort.on("message", () => {
      for (const socket of sockets) socket.resetAndDestroy();
      sockets.clear();
      setTimeout(() => { Atomics.store(workerData, 0, 1); Atomics.notify(workerData, 0); }, 20);
    });`,
    { eval: true, workerData: shared },
  );
  t.teardown(() => void worker.terminate());
  const [port] = (await once(worker, "message")) as [number];
  const pool = new Pool({ host: "127.0.0.1", port, idleMs: 10_000, clock: systemClock });
  t.teardown(() => pool.close());
  const how = (sending: Sending) =>
    new Promise<object>((resolve, reject) => {
      const { method = "POST", body, bodyBytes } = sending;
      const headers: Header[] = [
        ["Host", "x"],
        ["Content-Length", String(bodyBytes ?? 0)],
      ];
      const outcome = {
        interim() {},
        response: () => reject(new Error("answered")),
        failed: (_: Error, how: object) => resolve(how),
      };
      pool.send({ method, target: "/", headers, body, bodyBytes }, outcome);
    });
  for (const sending of [{ bodyBytes: 0 }, { body: Readable.from([Buffer.from("abc")]), bodyBytes: 3 }] as Sending[]) {
    t.equal((await send(pool, { method: "POST", bodyBytes: 0 })).body, "ok");
    Atomics.store(shared, 0, 0);
    worker.postMessage("reset");
    Atomics.wait(shared, 0, 0, 5_000);
    t.match(await how(sending), { wasSent: false, hasAnswered: false }, "whatever the method, it may be sent again");
  }
});

t.test("what came along with its head is no stream; trailers follow the body", async (t) => {
  const { pool } = await app(t, (req, res) => {
    if (req.url === "/small") return void res.end("small");
    res.writeHead(200, { Trailer: "X-Sum" });
    res.write("a".repeat(100_000));
    setTimeout(() => {
      res.write("b".repeat(100_000));
      res.addTrailers({ "X-Sum": "42" });
      res.end();
    }, 20);
  });
  t.match(await send(pool, { target: "/small" }), { body: "small", wasWhole: true, trailers: [] });
  const large = await send(pool, { target: "/large" });
  t.equal(large.body, "a".repeat(100_000) + "b".repeat(100_000));
  t.match(large, { wasWhole: false, trailers: [["X-Sum", "42"]] });
  t.match(await send(pool, { target: "/small" }), { body: "small" }, "the connection goes on");
});

t.test("a reader that takes its time holds the app back", async (t) => {
  let written = 0;
  const { pool } = await app(t, (_, res) => {
    const more = () => {
      while (written < 64 * 1024 * 1024) {
        written += 65_536;
        if (!res.write(Buffer.alloc(65_536))) return void res.once("drain", more);
      }
      res.end();
    };
    more();
  });
  const body = await new Promise<Readable>((resolve, reject) => {
    pool.send(
      { method: "GET", target: "/", headers: [["Host", "x"]], body: undefined, bodyBytes: undefined },
      { interim: () => {}, failed: reject, response: ({ body }) => resolve(body as Readable) },
    );
  });
  await new Promise((done) => setTimeout(done, 200));
  const held = written;
  t.ok(held < 32 * 1024 * 1024, `${held} bytes were written to a reader that does not read`);
  let bytes = 0;
  for await (const part of body) bytes += (part as Buffer).length;
  t.equal(bytes, 64 * 1024 * 1024);
});

t.test("what cannot be sent is refused before anything is", (t) => {
  const pool = new Pool({ host: "127.0.0.1", port: 1, idleMs: 1000, clock: systemClock });
  const never = { interim: () => {}, response: () => {}, failed: () => {} };
  const request = { method: "GET", target: "/", headers: [] as Header[], body: undefined, bodyBytes: undefined };
  t.throws(() => pool.send({ ...request, target: "/a b" }, never), { message: /request target/ });
  t.throws(() => pool.send({ ...request, headers: [["A", "1\r\nB: 2"]] }, never), { message: /header value.*A/ });
  pool.close();
  t.end();
});
