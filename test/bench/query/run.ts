// `npm run bench:query`: every measure of the query language beside its rivals, in one run.
import { cpus, release } from "node:os";
import { benchAgreement } from "./agreement.ts";
import { benchCold } from "./cold.ts";
import { benchComplete } from "./complete.ts";
import { benchFormat } from "./format.ts";
import { benchParse } from "./parse.ts";
import { benchScan, canBenchScan } from "./scan.ts";

console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, Linux ${release()}\n`,
);
benchParse();
console.log();
await benchCold();
console.log();
benchComplete();
console.log();
benchFormat();
console.log();
benchAgreement();
console.log();
if (canBenchScan()) benchScan();
else console.log("scan: needs jq (Debian: apt-get install jq ripgrep)");
