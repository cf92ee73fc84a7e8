// `npm run bench:runtime`: every measure of the proxy beside its rivals, in one run.
import { cpus, release } from "node:os";
import { benchHop, canBenchHop } from "./hop.ts";
import { benchPlatform } from "./platform.ts";

console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, Linux ${release()}\n`,
);
if (canBenchHop()) await benchHop();
else console.log("hop: needs wrk, nginx and taskset (Debian: apt-get install wrk nginx util-linux)");
console.log();
await benchPlatform();
process.exit(0);
