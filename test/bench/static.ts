// The cost of a small file, compared with sirv and a bare server that only writes it: node dist/test/bench/static.js
//
// Each server is a process of its own with the same file of 1 KB; the CPU time that it takes for a request is what
// counts, in turns, medians. Ours runs the whole pipeline, entries off, and asks the file system for each request.
import { type ChildProcess, fork } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { fileURLToPath } from "node:url";
import { serve } from "../../runtime/index.ts";
import { configOf, makeProject } from "../support/runtime.ts";
import { rival } from "./rival.ts";

const SERVERS = ["bare", "ours", "sirv"] as const;
const ROUNDS = 5;
const REQUESTS = 15_000;
const CONNECTIONS = 16;
const FILE = "x".repeat(1024);
const REQUEST = "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n";

export async function main(print: (line: string) => void): Promise<void> {
  await rival("sirv");
  const us: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of SERVERS) {
      const child = fork(fileURLToPath(import.meta.url), [name]);
      try {
        const { port } = await nextMessage<{ port: number }>(child);
        await load(port, REQUESTS / 5);
        const before = await cpuUsOf(child);
        await load(port, REQUESTS);
        us[name] = [...(us[name] ?? []), ((await cpuUsOf(child)) - before) / REQUESTS];
      } finally {
        child.kill();
      }
    }
  }
  for (const name of SERVERS) {
    const sorted = us[name]!.sort((a, b) => a - b);
    print(`${name}: ${median(sorted).toFixed(1)} us (${sorted[0]!.toFixed(1)} to ${sorted.at(-1)!.toFixed(1)})`);
  }
  print(`sirv takes ${(median(us.sirv!) / median(us.ours!)).toFixed(2)}x what ours takes`);
  print(`ours takes ${(median(us.ours!) / median(us.bare!)).toFixed(2)}x what the bare server takes`);
}

async function serveAs(name: string): Promise<void> {
  const directory = makeProject({ "a.txt": FILE });
  const port = await listen(name, directory);
  process.send!({ port });
  process.on("message", () => process.send!(process.cpuUsage()));
  process.on("SIGTERM", () => {
    rmSync(directory, { recursive: true });
    process.exit();
  });
}

async function listen(name: string, directory: string): Promise<number> {
  if (name === "ours") {
    const options = { directory, stage: "bench", version: "bench", env: {}, host: "127.0.0.1", port: 0, log: () => {} };
    return (await serve({ config: configOf({ config: { logs: { disable: true } } }), ...options })).port;
  }
  const handler =
    name === "bare" ? bare : (await rival<{ default: (dir: string) => RequestListener }>("sirv")).default(directory);
  const server = createServer(handler).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  return (server.address() as AddressInfo).port;
}

const body = Buffer.from(FILE);
const bare: RequestListener = (_req, res) => {
  res.writeHead(200, { "Content-Type": "text/plain; charset=utf-8", "Content-Length": body.length, ETag: '"400-1"' });
  res.end(body);
};

/** Each connection sends four requests ahead. */
function load(port: number, requests: number): Promise<unknown> {
  let left = requests;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      let text = "";
      let open = 0;
      const send = () => {
        let batch = "";
        for (; open < 4 && left > 0; open++, left--) batch += REQUEST;
        if (batch !== "") socket.write(batch);
        else if (open === 0) {
          socket.destroy();
          resolve();
        }
      };
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("data", (part) => {
        text += part.toString("latin1");
        for (;;) {
          const end = text.indexOf("\r\n\r\n");
          if (end === -1 || text.length < end + 4 + FILE.length) break;
          text = text.slice(end + 4 + FILE.length);
          open--;
        }
        send();
      });
    });
  return Promise.all(Array.from({ length: CONNECTIONS }, one));
}

async function cpuUsOf(child: ChildProcess): Promise<number> {
  const answer = nextMessage<NodeJS.CpuUsage>(child);
  child.send("cpu");
  const { user, system } = await answer;
  return user + system;
}

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once("message", (message) => resolve(message as T)));
}

function median(sorted: readonly number[]): number {
  return [...sorted].sort((a, b) => a - b)[sorted.length >> 1]!;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === undefined) await main((line) => process.stdout.write(`${line}\n`));
  else await serveAs(process.argv[2]);
}
