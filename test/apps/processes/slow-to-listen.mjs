// Listens after 400 ms, or after the milliseconds in DELAY.
import { createServer } from "node:http";

setTimeout(
  () => createServer((_req, res) => res.end("at last")).listen(process.env.PORT),
  Number(process.env.DELAY ?? 400),
);
