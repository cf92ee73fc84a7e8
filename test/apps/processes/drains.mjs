// Takes half a second to end after SIGTERM, and says so.
import { createServer } from "node:http";

process.on("SIGTERM", () => {
  console.log("draining");
  setTimeout(() => {
    console.log("drained");
    process.exit(0);
  }, 500);
});
createServer((_req, res) => res.end("ok")).listen(process.env.PORT);
