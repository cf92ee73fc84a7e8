#!/usr/bin/env node
// The command's first file. The version is answered before anything else is loaded; the rest is in main.ts.
import { writeSync } from "node:fs";
import { version } from "./version.ts";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  try {
    // process.stdout would load the stream classes: a third of the time that all of this takes.
    writeSync(1, `${version}\n`);
  } catch (error) {
    // Nobody reads it.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
} else {
  void import("./main.ts").then(({ main }) => main());
}
