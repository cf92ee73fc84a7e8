#!/usr/bin/env node
// The entry of the command. It prints the version before anything else is loaded; the rest is in main.ts.
import { writeSync } from "node:fs";
import { printedVersion } from "./version.ts";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  try {
    // process.stdout would load the stream classes, a third of the time that this takes.
    writeSync(1, `${printedVersion}\n`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // After EPIPE the reader is gone.
    if (code !== "EPIPE") {
      console.error(`error: ${message}`);
      process.exitCode = 1;
    }
  }
} else {
  // A value in the arguments would be in the list of processes for as long as this one runs.
  if (process.argv.includes("env")) process.title = "tool env";
  void import("./main.ts").then(({ main }) => main());
}
