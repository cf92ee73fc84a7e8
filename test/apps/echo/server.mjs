// Answers with what it got, or as the query asks: ?status=404&type=text/html&body=...&bytes=hex&header=name:value&delay=ms
import { createHash } from "node:crypto";
import { createServer } from "node:http";

createServer((req, res) => {
  const { searchParams: ask } = new URL(req.url === "*" ? "http://x/" : `http://x${req.url}`);
  const hash = createHash("sha256");
  let bytes = 0;
  req.on("data", (chunk) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  req.on("end", () => setTimeout(() => answer({ bytes, sha256: hash.digest("hex") }), Number(ask.get("delay") ?? 0)));

  function answer(body) {
    const { method, url, rawHeaders } = req;
    const bytes = ask.get("bytes") && Buffer.from(ask.get("bytes"), "hex");
    const text = bytes ?? ask.get("body") ?? JSON.stringify({ method, url, body, rawHeaders });
    const headers = ["Content-Type", ask.get("type") ?? "application/json"];
    for (const header of ask.getAll("header")) {
      const colon = header.indexOf(":");
      headers.push(header.slice(0, colon), header.slice(colon + 1));
    }
    res.writeHead(Number(ask.get("status") ?? 200), headers);
    res.end(text);
  }
}).listen(process.env.PORT);
