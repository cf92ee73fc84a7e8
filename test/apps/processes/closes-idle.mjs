// Closes connections that idle for half a second, as some servers do.
import { createServer } from "node:http";

const server = createServer((_req, res) => res.end(String(process.pid)));
server.keepAliveTimeout = 500;
server.listen(process.env.PORT);
