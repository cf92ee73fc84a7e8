// Listens in a grandchild, which lives on where its parent is killed.
import { spawn } from "node:child_process";
import { createServer } from "node:http";

if (process.argv[2] === "child") {
  createServer((_req, res) => res.end(`${process.ppid} ${process.pid}`)).listen(process.env.PORT);
} else {
  spawn(process.execPath, [process.argv[1], "child"], { stdio: "inherit" });
  setInterval(() => {}, 1000);
}
