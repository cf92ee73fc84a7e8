#!/usr/bin/env node
// The entry of the command. It prints the version before anything else is loaded; the rest is in main.ts.
import { writeSync } from "node:fs";
import { version } from "./version.ts";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  try {
    // process.stdout would load the stream classes, a third of the time that this takes.
    writeSync(1, `${version}\n`);
  } catch (error) {
    // The reader is gone.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
} else {
  void import("./main.ts").then(({ main }) => main());
}
