// Ends in the ways that apps end. Each start and each request is noted in the file COUNT, if it is given.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const note = (what) => process.env.COUNT && appendFileSync(process.env.COUNT, `${what}\n`);
note(`start ${process.pid}`);

createServer((req, res) => {
  const { pathname } = new URL(req.url, "http://x");
  note(`${req.method} ${pathname}`);
  switch (pathname) {
    case "/throw":
      throw new Error("thrown on request");
    case "/exit":
      return process.exit(7);
    case "/exit-cleanly":
      return process.exit(0);
    case "/abort":
      return process.abort();
    case "/kill":
      return process.kill(process.pid, "SIGKILL");
    case "/answer-then-exit":
      return res.end("answered", () => setTimeout(() => process.exit(3), 5));
    case "/reset-then-exit":
      req.socket.resetAndDestroy();
      return setTimeout(() => process.exit(9), 30);
    case "/slow":
      return setTimeout(() => res.end(String(process.pid)), 300);
    default:
      return res.end(String(process.pid));
  }
}).listen(process.env.PORT);
