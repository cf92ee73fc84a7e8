// One of the servers of the bench: node subject.js app | bare PORT | stock PORT | ours | full
import { Agent, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import httpProxy from "http-proxy";
import { systemClock } from "../../../grammar/units/clock.ts";
import { EntryLog } from "../../../runtime/entries.ts";
import { serve } from "../../../runtime/index.ts";
import { pipeline } from "../../../runtime/pipeline.ts";
import { listen } from "../../../runtime/server.ts";
import { configOf } from "../../support/runtime.ts";
import { LOAD_CPU } from "./servers.ts";
import { stockHop } from "./stock-hop.ts";

/** As small JSON answers are: 650 bytes. */
const ANSWER = JSON.stringify({
  items: Array.from({ length: 12 }, (_, id) => ({ id, name: `item ${id}`, price: id * 1.5, tags: ["a", "b"] })),
});
const LARGE = Buffer.alloc(5 * 1024 * 1024, "x");

const [kind = "", appPort = ""] = process.argv.slice(2);

switch (kind) {
  case "app":
    announce(
      createServer((request, response) => {
        const body = request.url === "/large" ? LARGE : ANSWER;
        response.setHeader("Content-Type", request.url === "/large" ? "application/octet-stream" : "application/json");
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("Content-Length", body.length);
        request.resume();
        response.end(body);
      }),
    );
    break;
  case "bare": {
    const agent = new Agent({ keepAlive: true });
    const proxy = httpProxy.createProxyServer({ target: `http://127.0.0.1:${appPort}`, agent });
    proxy.on("error", () => {});
    announce(createServer((request, response) => proxy.web(request, response)));
    break;
  }
  case "stock":
    await stock(Number(appPort));
    break;
  default:
    await ours(kind);
}

async function ours(kind: string): Promise<void> {
  const rules = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/part-${i}/*`, { [`X-Part-${i}`]: "yes" }]));
  const moved = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`/moved-${i}/:id`, { location: `/items-${i}/:id`, status: 301 }]),
  );
  const config =
    kind === "full"
      ? { headers: { "/*": { "X-Frame-Options": "DENY" }, ...rules }, redirects: moved, cors: {} }
      : { logs: { disable: true }, error_pages: { disable: true } };
  let written = 0;
  const server = await serve({
    config: configOf({ command: "x", config }),
    directory: process.cwd(),
    stage: "bench",
    version: "bench",
    command: `exec taskset -c ${LOAD_CPU} ${process.execPath} ${fileURLToPath(import.meta.url)} app`,
    env: process.env,
    host: "127.0.0.1",
    port: 0,
    log: (entries) => {
      for (const entry of entries) written += JSON.stringify(entry).length;
    },
  });
  process.on("SIGTERM", () => {
    server.kill();
    process.exit(written < 0 ? 1 : 0);
  });
  process.send!({ port: server.port });
}

/** The same as `ours`, but for the hop: the edge and the pipeline, with http-proxy in front of the app. */
async function stock(appPort: number): Promise<void> {
  const entries = new EntryLog({ log: () => {}, clock: systemClock, stage: "bench", version: "bench" });
  const { port } = await listen({
    handler: pipeline({
      entries,
      clock: systemClock,
      logsRequests: false,
      logsRules: false,
      headers: [],
      cors: undefined,
      redirects: [],
      errorPages: undefined,
      inject: undefined,
      static: undefined,
      app: stockHop({ host: "127.0.0.1", port: appPort, stage: "bench" }),
    }),
    entries,
    clock: systemClock,
    logsRequests: () => false,
    host: "127.0.0.1",
    port: 0,
    switchesProtocols: () => false,
  });
  process.on("SIGTERM", () => process.exit());
  process.send!({ port });
}

function announce(server: Server): void {
  process.on("SIGTERM", () => process.exit());
  // Run by the proxy, it is told where to listen; run by the bench, it tells.
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  );
}
