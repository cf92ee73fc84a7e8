// Some of all that apps do: /json, /page, /upload, /slow?ms=, /hang, /bytes?n=, /sse?n= events, /log?lines=, /exit,
// /children (one is left behind), and an echo of websocket frames of up to 125 bytes.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer } from "node:http";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const server = createServer(async (req, res) => {
  const { pathname, searchParams: ask } = new URL(req.url, "http://x");
  switch (pathname) {
    case "/json":
      res.writeHead(200, { "Content-Type": "application/json" });
      return res.end(JSON.stringify({ n: ask.get("n"), pid: process.pid, generation: process.env.GENERATION }));
    case "/page":
      res.writeHead(200, { "Content-Type": "text/html" });
      return res.end(`<html><head></head><body>${"<p>word</p>".repeat(200)}</body></html>`);
    case "/upload": {
      const hash = createHash("sha256");
      req.on("data", (part) => hash.update(part));
      return req.on("end", () => res.end(hash.digest("hex")));
    }
    case "/slow":
      await pause(Number(ask.get("ms")));
      return res.end("slow");
    case "/hang":
      return;
    case "/bytes":
      return res.end(Buffer.alloc(Number(ask.get("n")), "x"));
    case "/sse":
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      for (let i = 1; i <= Number(ask.get("n")) && !res.destroyed; i++) await pause(20, res.write(`data: ${i}\n\n`));
      return res.end();
    case "/log":
      for (let i = 0; i < Number(ask.get("lines")); i++) {
        console.log(JSON.stringify({ level: "info", message: "order placed", fields: { i } }));
        console.error(`plain line ${i}`);
      }
      return res.end("logged");
    case "/children":
      return res.end(String(spawn("sleep", ["1000"], { stdio: "ignore" }).pid));
    case "/exit":
      return process.exit(7);
    default:
      return res.writeHead(404, { "Content-Type": "text/plain" }).end("no such page");
  }
});

server.on("upgrade", (req, socket) => {
  socket.on("error", () => {});
  const key = req.headers["sec-websocket-key"];
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on("data", (frame) => {
    const length = frame[1] & 0x7f;
    const mask = frame.subarray(2, 6);
    const payload = frame.subarray(6, 6 + length).map((byte, i) => byte ^ mask[i % 4]);
    socket.write(Buffer.concat([Buffer.from([frame[0], length]), payload]));
  });
});

server.listen(process.env.PORT);
