// Ignores SIGTERM.
import { createServer } from "node:http";

process.on("SIGTERM", () => console.log("no"));
createServer((_req, res) => res.end(String(process.pid))).listen(process.env.PORT);
