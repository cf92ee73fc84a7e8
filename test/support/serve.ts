// Serves the app whose command is the first argument, with the configuration that may be the second, until it is killed;
// prints the port, then each entry. SIGUSR2: prints "heap" and the bytes that are in use after a collection.
import { serve } from "../../runtime/index.ts";
import { configOf } from "./runtime.ts";

const command = process.argv[2]!;
const config = JSON.parse(process.argv[3] ?? "{}");
const server = await serve({
  config: configOf({ command, config }),
  directory: process.cwd(),
  stage: "development",
  version: "development",
  command,
  env: { PATH: process.env.PATH },
  host: "127.0.0.1",
  port: 0,
  log: (entries) => process.stdout.write(entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")),
});
process.stdout.write(`${server.port}\n`);

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  process.stdout.write(`heap ${heapUsed + arrayBuffers}\n`);
});
