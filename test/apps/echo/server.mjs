// Answers with what it got, or as the query asks: ?status=404&type=text/html&body=...&header=name:value&delay=ms, with
// part=... in place of body as often as the body has parts, bytes=hex for one that is no text, times=n for a body n times
// as long, encoding=gzip|br|deflate, length=1 for a Content-Length
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

const encode = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

createServer((req, res) => {
  const { searchParams: ask } = new URL(req.url === "*" ? "http://x/" : `http://x${req.url}`);
  const hash = createHash("sha256");
  let bytes = 0;
  req.on("data", (chunk) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  req.on("end", () => setTimeout(() => answer({ bytes, sha256: hash.digest("hex") }), Number(ask.get("delay") ?? 0)));

  async function answer(body) {
    const { method, url, rawHeaders } = req;
    const text = ask.get("body") ?? JSON.stringify({ method, url, body, rawHeaders });
    const coding = ask.get("encoding");
    const whole = ask.has("bytes")
      ? Buffer.from(ask.get("bytes"), "hex")
      : Buffer.from(text.repeat(Number(ask.get("times") ?? 1)));
    const parts = ask.has("part") ? ask.getAll("part") : [coding ? encode[coding](whole) : whole];
    const headers = ["Content-Type", ask.get("type") ?? "application/json"];
    if (coding) headers.push("Content-Encoding", coding);
    if (ask.has("length"))
      headers.push("Content-Length", String(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)));
    for (const header of ask.getAll("header")) {
      const colon = header.indexOf(":");
      headers.push(header.slice(0, colon), header.slice(colon + 1));
    }
    res.writeHead(Number(ask.get("status") ?? 200), headers);
    // Apart in time, so that they are apart in what the other end reads.
    for (const part of parts.slice(0, -1)) await pause(10, res.write(part));
    res.end(parts.at(-1));
  }
}).listen(process.env.PORT);
