// The process of load.ts: some connections that stay open, each with the next batch as soon as the one before is
// acknowledged. Plain sockets: an HTTP client would cost as much as all the rest.
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BATCH_EVENTS, Bodies } from "./bodies.ts";
import { BURST_EVENTS, type LoadMessage, type LoadOptions } from "./load.ts";

const PROGRESS_MS = 5_000;
/** No batch is longer; a connection's batches are made in it, one after the other. */
const ROOM_BYTES = 1 << 20;

let isStopped = false;
const say = (message: LoadMessage) => void process.send?.(message);
process.on("disconnect", () => process.exit(1));
process.on("message", (message: LoadOptions | "stop") => {
  if (message === "stop") isStopped = true;
  else
    run(message).catch((error: Error) => {
      console.error(error);
      process.exit(1);
    });
});

async function run(options: LoadOptions): Promise<void> {
  const { firstBatch, endBatch = Number.POSITIVE_INFINITY, eventsPerSecond } = options;
  const bodies = new Bodies();
  bodies.prepare();
  const connections = await Promise.all(Array.from({ length: options.connections }, () => open(options)));
  say({ kind: "prepared" });

  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  const seconds = () => (performance.now() - began) / 1000;
  let [next, events, refused, burstRate] = [firstBatch, 0, 0, 0];
  const acknowledgeMs: number[] = [];
  const progress = setInterval(() => say({ kind: "progress", events, seconds: seconds() }), PROGRESS_MS);
  const client = async (connection: Connection) => {
    const room = Buffer.allocUnsafe(ROOM_BYTES);
    while (!isStopped && next < endBatch) {
      const number = next++;
      if (eventsPerSecond !== undefined) {
        const dueMs = began + ((number - firstBatch) * BATCH_EVENTS * 1000) / eventsPerSecond;
        await sleep(Math.max(0, dueMs - performance.now()));
      }
      const body = bodies.body(number, room);
      const sentMs = performance.now();
      for (;;) {
        const { status, retryAfterSeconds, text } = await connection.post(body, `bench-${number}`);
        if (status === 204) break;
        if (status !== 429 && status !== 503) throw new Error(`add_events answered ${status}: ${text}`);
        refused++;
        await sleep(retryAfterSeconds * 1000);
      }
      acknowledgeMs.push(performance.now() - sentMs);
      events += BATCH_EVENTS;
      if (events <= BURST_EVENTS) burstRate = events / seconds();
    }
  };
  await Promise.all(connections.map(client));
  clearInterval(progress);
  const took = seconds();
  const { user, system } = process.cpuUsage(cpuBefore);
  acknowledgeMs.sort((a, b) => a - b);
  const quantile = (q: number) => acknowledgeMs[Math.floor(q * (acknowledgeMs.length - 1))] ?? 0;
  say({
    kind: "done",
    result: {
      events,
      seconds: took,
      burstRate,
      rate: events / took,
      acknowledgeMs: { p50: quantile(0.5), p99: quantile(0.99), most: quantile(1) },
      refused,
      loadMicrosPerEvent: (user + system) / Math.max(1, events),
    },
  });
  for (const { socket } of connections) socket.destroy();
  process.disconnect();
}

interface PostAnswer {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly text: string;
}

interface Connection {
  readonly socket: Socket;
  post(body: Buffer, key: string): Promise<PostAnswer>;
}

async function open({ url, token }: LoadOptions): Promise<Connection> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  let received = "";
  let answered: ((answer: PostAnswer) => void) | undefined;
  let failed: (error: Error) => void = () => {};
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = "";
    answered?.(answer);
  });
  socket.on("error", (error) => failed(error));
  socket.on("close", () => failed(new Error("the service closed the connection")));
  return {
    socket,
    post: (body, key) =>
      new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
        socket.cork();
        socket.write(
          `POST /add_events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nIdempotency-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n`,
        );
        socket.write(body);
        socket.uncork();
      }),
  };
}

/** An answer with a Content-Length or without a body: the service sends no others here. Undefined until it is whole. */
function readAnswer(received: string): PostAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = received.slice(0, end);
  const numberOf = (name: string) => Number(new RegExp(`\r\n${name}: (\\d+)`, "i").exec(head)?.[1] ?? 0);
  const text = received.slice(end + 4);
  if (text.length < numberOf("content-length")) return undefined;
  return { status: Number(head.slice(9, 12)), retryAfterSeconds: numberOf("retry-after"), text };
}
