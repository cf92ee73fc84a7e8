// Answers that take their time, break off or never end, and the other protocols: /sse, /websocket, /half, /half-chunked,
// /trickle, /half-head, /reset, /nonsense, /odd-*, /bytes?n=, /hang; /aborted: how many of /hang, /sse and /trickle lost
// their client.
import { createHash } from "node:crypto";
import { createServer } from "node:http";

let aborted = 0;

const server = createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url, "http://x");
  const countAborted = () => res.once("close", () => res.writableFinished || aborted++);
  switch (pathname) {
    case "/sse":
      countAborted();
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      return void res.write("data: first\n\n");
    case "/trickle":
      countAborted();
      res.writeHead(200, { "Content-Type": "text/html" });
      return void res.write("<p>first</p>");
    case "/quiet-sse":
      return void res.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    case "/half":
      res.writeHead(200, { "Content-Length": "100" });
      res.write("only this");
      return void setTimeout(() => res.destroy(), 20);
    case "/half-chunked":
      res.writeHead(200, { "Content-Type": "text/plain" });
      res.write("only this");
      return void setTimeout(() => res.destroy(), 20);
    case "/half-head":
      resets++;
      req.socket.write("HTTP/1.1 200 OK\r\nContent-");
      return void setTimeout(() => req.socket.destroy(), 20);
    case "/reset":
      resets++;
      return void req.socket.destroy();
    case "/resets":
      return void res.end(String(resets));
    case "/nonsense":
      return void req.socket.end("this is not HTTP\r\n\r\n");
    case "/odd-status":
      return void req.socket.end("HTTP/1.1 042 What\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    case "/odd-header":
      return void req.socket.end(
        "HTTP/1.1 200 OK\r\nX-Odd: a\u007fb\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      );
    case "/odd-reason":
      return void req.socket.end("HTTP/1.1 200 O\u007fK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    case "/bytes": {
      let left = Number(searchParams.get("n"));
      const part = Buffer.alloc(64 * 1024, "x");
      const more = () => {
        while (left > 0) {
          const size = Math.min(left, part.length);
          left -= size;
          if (!res.write(part.subarray(0, size))) return void res.once("drain", more);
        }
        res.end();
      };
      return more();
    }
    case "/hang":
      return countAborted();
    case "/aborted":
      return void res.end(String(aborted));
    default:
      return void res.writeHead(404).end();
  }
});

let resets = 0;

// The smallest echo of RFC 6455: one masked frame of up to 125 bytes at a time.
server.on("upgrade", (req, socket) => {
  socket.on("error", () => {});
  if (req.url.startsWith("/refused")) {
    return socket.end(
      "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-Own: 1\r\n\r\nno",
    );
  }
  if (req.url.startsWith("/broken")) return socket.destroy();
  const key = req.headers["sec-websocket-key"];
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n` +
      `X-Url: ${req.url}\r\nX-Seen-Context: ${req.headers["x-context"] !== undefined}\r\n\r\n`,
  );
  socket.on("data", (frame) => {
    const length = frame[1] & 0x7f;
    const mask = frame.subarray(2, 6);
    const payload = frame.subarray(6, 6 + length).map((byte, i) => byte ^ mask[i % 4]);
    socket.write(Buffer.concat([Buffer.from([frame[0], length]), payload]));
  });
});

server.listen(process.env.PORT);
