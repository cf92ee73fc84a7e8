// Fails where and how the query says, with once=file only where that file is not there yet:
// at=request|upload|head|body|length, how=kill|exit|throw|reset|half|hang|busy. /flood writes bytes=n to=stdout|stderr, with
// lines=n in each part; /children leaves one behind, in a session of its own with ?apart; /bytes?n= answers n bytes, and
// /written says how many of all these could be written; /sse never ends. /pid; /begun: how many requests came, /aborted: how
// many lost their client; /runs: each that was begun, by this app or one before it.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const RUNS = "runs";
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const never = () => new Promise(() => {});
let begun = 0;
let aborted = 0;
let written = 0;

const server = createServer(async (req, res) => {
  const { pathname, searchParams: ask } = new URL(req.url, "http://x");
  res.once("close", () => res.writableFinished || aborted++);
  if (!["/pid", "/begun", "/aborted", "/written", "/runs"].includes(pathname)) begun++;
  switch (pathname) {
    case "/pid":
      return void res.end(String(process.pid));
    case "/begun":
      return void res.end(String(begun));
    case "/aborted":
      return void res.end(String(aborted));
    case "/written":
      return void res.end(String(written));
    case "/runs":
      return void res.end(existsSync(RUNS) ? readFileSync(RUNS) : "");
    case "/children":
      return void res.end(String(spawn("sleep", ["1000"], { stdio: "ignore", detached: ask.has("apart") }).pid));
    case "/flood":
      return void flood(process[ask.get("to") ?? "stdout"], ask).then(() => res.end("written"));
    case "/bytes":
      return void bytes(res, Number(ask.get("n")));
    case "/sse":
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      return void res.write(`data: ${process.pid}\n\n`);
  }
  appendFileSync(RUNS, `${req.method} ${req.url}\n`);
  const at = ask.get("at");
  const isFailing = at !== null && !(ask.has("once") && existsSync(ask.get("once")));
  if (ask.has("once")) writeFileSync(ask.get("once"), "");
  const reach = async (point) => {
    if (!isFailing || at !== point) return;
    // What was written is on its way.
    await pause(20);
    await fail(ask.get("how"), req);
  };

  await reach("request");
  for await (const part of req) if (part.length > 0) await reach("upload");
  const length = at === "length" ? { "Content-Length": 20 } : {};
  res.writeHead(200, { "Content-Type": "text/plain", ...length }).flushHeaders();
  await reach("head");
  res.write("0123456789");
  await reach("body");
  await reach("length");
  res.end("0123456789");
});

async function fail(how, req) {
  switch (how) {
    case "kill":
      return process.kill(process.pid, "SIGKILL");
    case "exit":
      return process.exit(7);
    case "throw":
      setImmediate(() => {
        throw new Error("thrown on request");
      });
      return never();
    case "reset":
      return req.socket.resetAndDestroy();
    case "half":
      req.socket.write("HTTP/1.1 200 OK\r\nContent-");
      return never();
    case "busy":
      for (const end = Date.now() + 1_500; Date.now() < end; );
      return;
    case "hang":
      return never();
  }
}

/** Without `lines` there is no newline in all the bytes. */
async function flood(stream, ask) {
  const lines = Number(ask.get("lines") ?? 0);
  let left = Number(ask.get("bytes"));
  const part = Buffer.alloc(64 * 1024, "x");
  for (let at = 0; lines > 0 && at < part.length; at += Math.floor(part.length / lines)) part[at] = 10;
  for (; left > 0; left -= part.length) if (!stream.write(part)) await new Promise((go) => stream.once("drain", go));
}

function bytes(res, n) {
  const part = Buffer.alloc(64 * 1024, "x");
  let left = n;
  const more = () => {
    while (left > 0) {
      left -= part.length;
      written += part.length;
      if (!res.write(part)) return void res.once("drain", more);
    }
    res.end();
  };
  more();
}

// Neither answers nor closes its end, where the client closes the other; with ?closes it is the first to close.
server.on("upgrade", (req, socket) => {
  begun++;
  socket.on("error", () => {});
  socket.resume();
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  if (req.url.endsWith("?closes")) setTimeout(() => socket.end("last words"), 20);
});
if (process.env.MAX_CONNECTIONS) server.maxConnections = Number(process.env.MAX_CONNECTIONS);
server.listen(process.env.PORT);
