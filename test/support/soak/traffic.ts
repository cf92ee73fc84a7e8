// The work of the clients of the soak: each exchange asks, and throws if the answer is not the right one.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { converse } from "../http-stream.ts";
import type { Random } from "../random.ts";

/** The changes to the app and its configuration meanwhile. */
export type Disturbance = "edit" | "bad edit" | "restart" | "kill" | "exit";

export interface Exchange {
  readonly name: string;
  /** How often, compared with the others. */
  readonly share: number;
  /** Where its answer may be another one: README.md of the runtime says which. */
  readonly mayFailAt: readonly Disturbance[];
  run(world: World, random: Random): Promise<void>;
}

export interface World {
  readonly port: number;
  readonly agent: Agent;
  /** The configuration that was in force at last, and the newest that was written. */
  readonly generation: { inForce: number; written: number };
  /** The ids of the requests that were answered in full. */
  readonly answered: Set<string>;
}

export const SMALL = "a small file\n".repeat(20);
export const LARGE_BYTES = 2_000_000;
export const INJECTED = "<!-- of the soak -->";

/** They reach the app, so that one that exits takes them along. */
const TO_APP = ["exit"] as const;
/** They also must not run twice, or their answer is under way for a time. */
const LONG = ["exit", "kill"] as const;
/** They have no end to wait for. */
const ENDLESS = ["exit", "kill", "restart"] as const;

export const exchanges: readonly Exchange[] = [
  {
    name: "a file, and its condition",
    share: 20,
    mayFailAt: [],
    async run(world) {
      const { headers, body } = await expectStatus(200, world, { path: "/assets/small.txt" });
      expect(body.toString() === SMALL, "the file's text");
      await expectStatus(304, world, { path: "/assets/small.txt", headers: { "If-None-Match": headers.etag! } });
    },
  },
  {
    name: "a part of a large file",
    share: 5,
    mayFailAt: [],
    async run(world) {
      const headers = { Range: "bytes=100-199" };
      const { body } = await expectStatus(206, world, { path: "/assets/large.bin", headers });
      expect(body.length === 100, `${body.length} bytes`);
    },
  },
  {
    name: "a large file",
    share: 2,
    mayFailAt: [],
    async run(world) {
      const { body } = await expectStatus(200, world, { path: "/assets/large.bin" });
      expect(body.length === LARGE_BYTES, `${body.length} bytes`);
    },
  },
  {
    name: "the app",
    share: 20,
    mayFailAt: TO_APP,
    async run(world, random) {
      const n = random.below(1_000_000);
      const { body } = await expectStatus(200, world, { path: `/json?n=${n}` });
      expect(JSON.parse(body.toString()).n === String(n), body.toString());
    },
  },
  {
    name: "a page, compressed and injected into",
    share: 8,
    mayFailAt: TO_APP,
    async run(world) {
      const headers = { "Accept-Encoding": "gzip", Accept: "text/html" };
      const { body } = await expectStatus(200, world, { path: "/page", headers });
      const page = gunzipSync(body).toString();
      expect(page.includes(`${INJECTED}</head>`) && page.endsWith("</html>"), page);
    },
  },
  {
    name: "a redirect",
    share: 8,
    mayFailAt: [],
    async run(world, random) {
      const n = random.below(1000);
      const { headers } = await expectStatus(301, world, { path: `/old/${n}` });
      expect(headers.location === `/new/${n}`, `to ${headers.location}`);
    },
  },
  {
    name: "a rewrite",
    share: 5,
    mayFailAt: TO_APP,
    async run(world) {
      const { body } = await expectStatus(200, world, { path: "/rewritten/json?n=5" });
      expect(JSON.parse(body.toString()).n === "5", body.toString());
    },
  },
  {
    name: "an error page",
    share: 5,
    mayFailAt: TO_APP,
    async run(world) {
      const { body } = await expectStatus(404, world, { path: "/nothing", headers: { Accept: "text/html" } });
      expect(body.toString() === "<p>not found: 404</p>", body.toString());
    },
  },
  {
    name: "HEAD",
    share: 3,
    mayFailAt: TO_APP,
    async run(world) {
      const { body } = await expectStatus(200, world, { method: "HEAD", path: "/json" });
      expect(body.length === 0, `${body.length} bytes`);
    },
  },
  {
    name: "an upload",
    share: 8,
    mayFailAt: LONG,
    async run(world, random) {
      const upload = randomBytes(random.below(random.chance(0.1) ? 1_000_000 : 20_000));
      const headers = random.chance(0.5) ? { "Transfer-Encoding": "chunked" } : {};
      const { body } = await expectStatus(200, world, { method: "POST", path: "/upload", headers, upload });
      expect(body.toString() === createHash("sha256").update(upload).digest("hex"), "the upload arrived as it was");
    },
  },
  {
    name: "a slow answer",
    share: 3,
    mayFailAt: TO_APP,
    async run(world, random) {
      await expectStatus(200, world, { path: `/slow?ms=${random.below(300)}` });
    },
  },
  {
    name: "an app that writes its log",
    share: 3,
    mayFailAt: TO_APP,
    async run(world) {
      await expectStatus(200, world, { path: "/log?lines=20" });
    },
  },
  {
    name: "an event stream",
    share: 3,
    mayFailAt: ENDLESS,
    async run(world) {
      const { body } = await expectStatus(200, world, { path: "/sse?n=5" });
      expect(body.toString() === [1, 2, 3, 4, 5].map((i) => `data: ${i}\n\n`).join(""), body.toString());
    },
  },
  {
    name: "a websocket",
    share: 3,
    mayFailAt: ENDLESS,
    run: (world) => onSocket(world, websocket),
  },
  {
    name: "a client that leaves an event stream",
    share: 2,
    mayFailAt: ENDLESS,
    run: (world) =>
      onSocket(world, async (socket) => {
        socket.write("GET /sse?n=1000 HTTP/1.1\r\nHost: x\r\n\r\n");
        await once(socket, "data");
      }),
  },
  ...[
    { name: "before the answer", bytes: "GET /hang HTTP/1.1\r\nHost: x\r\n\r\n" },
    { name: "in its headers", bytes: "GET /json HTTP/1.1\r\nHos" },
    {
      name: "in its upload",
      bytes: `POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n${"x".repeat(500)}`,
    },
    { name: "in a long answer", bytes: "GET /bytes?n=20000000 HTTP/1.1\r\nHost: x\r\n\r\n" },
  ].map(({ name, bytes }) => ({
    name: `a client that leaves ${name}`,
    share: 1,
    mayFailAt: [],
    run: (world: World, random: Random) =>
      onSocket(world, async (socket) => {
        socket.on("error", () => {});
        socket.write(bytes);
        await new Promise((done) => setTimeout(done, random.below(100)));
        if (random.chance(0.3)) socket.resetAndDestroy();
      }),
  })),
  {
    name: "requests ahead of their answers",
    share: 2,
    mayFailAt: TO_APP,
    async run({ port }) {
      const one = "GET /json?n=1 HTTP/1.1\r\nHost: x\r\n\r\n";
      const file = "GET /assets/small.txt HTTP/1.1\r\nHost: x\r\n\r\n";
      const { responses } = await converse(port, Buffer.from(one + file + one), ["GET", "GET", "GET"]);
      const statuses = responses.map(({ status }) => status).join();
      expect(statuses === "200,200,200", statuses);
    },
  },
  {
    name: "what is no request",
    share: 2,
    mayFailAt: [],
    async run({ port }) {
      const { responses } = await converse(port, Buffer.from("GARBAGE\r\n\r\n"), ["GET"]);
      expect(responses[0]?.status === 400, `${responses[0]?.status}`);
    },
  },
];

interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly upload?: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export function send({ port, agent, answered }: World, ask: Ask): Promise<Answer> {
  const { method = "GET", path, headers = {}, upload } = ask;
  const id = randomUUID();
  return new Promise((resolve, reject) => {
    const req = request({ port, agent, method, path, headers: { ...headers, "X-Request-Id": id } }, (res) => {
      const parts: Buffer[] = [];
      res.on("data", (part) => parts.push(part));
      res.on("error", reject);
      res.on("end", () => {
        answered.add(id);
        resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(parts) });
      });
    });
    req.on("error", reject);
    req.end(upload);
  });
}

/** An answer of the configuration that was in force when it was sent, or of one that was written since. */
async function expectStatus(status: number, world: World, ask: Ask): Promise<Answer> {
  const oldest = world.generation.inForce;
  const answer = await send(world, ask);
  expect(answer.status === status, `${ask.path}: ${answer.status} ${answer.body.toString("utf8", 0, 200)}`);
  const generation = Number(answer.headers["x-generation"]);
  expect(
    generation >= oldest && generation <= world.generation.written,
    `configuration ${generation}, not ${oldest} to ${world.generation.written}`,
  );
  return answer;
}

async function onSocket({ port }: World, talk: (socket: Socket) => Promise<void>): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    await talk(socket);
  } finally {
    socket.destroy();
  }
}

/** The example of RFC 6455, sections 1.3 and 5.7, three times over. */
async function websocket(socket: Socket): Promise<void> {
  socket.write(
    "GET /websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  const [head] = await once(socket, "data");
  expect(head.includes("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), head.toString());
  for (let i = 0; i < 3; i++) {
    socket.write(Buffer.from([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]));
    const [frame] = await once(socket, "data");
    expect(frame.toString("latin1") === "\x81\x05Hello", frame.toString());
  }
}

function expect(isRight: boolean, what: string): asserts isRight {
  if (!isRight) throw new Error(what.slice(0, 500));
}
