// The real command, with a record of what it was started with, for programs that start it. It can be held at its start.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliPath } from "./cli.ts";

export interface RecordedCall {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly input: string;
  readonly noColor: string | undefined;
}

export interface RecordedTool {
  /** A file to run by Node. */
  readonly path: string;
  /** The calls of `tool env` that were begun, in order. */
  calls(): readonly RecordedCall[];
  /** From now on `tool env` waits at its start until the returned function is called. */
  hold(): () => void;
}

export function recordedTool(folder: string): RecordedTool {
  const path = join(folder, "tool.cjs");
  const file = (name: string) => join(folder, name);
  const cli = JSON.stringify(cliPath);
  writeFileSync(
    path,
    `if (process.argv[2] !== "env") require(${cli});
else {
  const { spawnSync } = require("node:child_process");
  const { appendFileSync, existsSync, readFileSync } = require("node:fs");
  const words = process.argv.slice(2);
  const input = readFileSync(0, "utf8");
  const call = { words, cwd: process.cwd(), input, noColor: process.env.NO_COLOR };
  appendFileSync(${JSON.stringify(file("calls"))}, JSON.stringify(call) + "\\n");
  const begin = () => {
    if (existsSync(${JSON.stringify(file("held"))})) return setTimeout(begin, 20);
    const { status } = spawnSync(process.execPath, [${cli}, ...words], { input, stdio: ["pipe", "inherit", "inherit"] });
    process.exitCode = status ?? 1;
  };
  begin();
}
`,
  );
  return {
    path,
    calls() {
      if (!existsSync(file("calls"))) return [];
      // The last part is empty, or a line that is being written.
      const lines = readFileSync(file("calls"), "utf8").split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line) as RecordedCall);
    },
    hold() {
      writeFileSync(file("held"), "");
      return () => rmSync(file("held"));
    },
  };
}
