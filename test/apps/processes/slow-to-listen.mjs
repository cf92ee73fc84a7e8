import { createServer } from "node:http";

setTimeout(() => createServer((_req, res) => res.end("at last")).listen(process.env.PORT), 400);
