#!/usr/bin/env node
// The command's first file. The version is answered before anything else is loaded; the rest is in main.ts.
import { version } from "./version.ts";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${version}\n`);
} else {
  void import("./main.ts").then(({ run }) => run());
}
