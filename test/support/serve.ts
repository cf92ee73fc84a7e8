// Serves the app whose command is the first argument until it is killed; prints the port, then each entry.
import { serve } from "../../runtime/index.ts";
import { configOf } from "./runtime.ts";

const command = process.argv[2]!;
const server = await serve({
  config: configOf({ command }),
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
