// A program that plays `tool env add`, and is the real command for everything else. For the integration: once the command
// has `env`, `playedTool` is `cliPath` with TOOL_SANDBOX=1, and what is kept is read by `tool env get`.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliPath } from "./cli.ts";

export interface PlayedCall {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly input: string;
  readonly noColor: string | undefined;
}

export interface PlayedTool {
  /** A file to run by Node. */
  readonly path: string;
  /** The calls of `tool env` that were begun, in order. */
  calls(): readonly PlayedCall[];
  /** From now on calls fail with this text on stderr. */
  fail(stderr: string): void;
  /** From now on calls wait until the returned function is called. */
  hold(): () => void;
}

export function playedTool(folder: string): PlayedTool {
  const path = join(folder, "tool.cjs");
  const file = (name: string) => join(folder, name);
  writeFileSync(
    path,
    `if (process.argv[2] !== "env") require(${JSON.stringify(cliPath)});
else {
  const { appendFileSync, existsSync, readFileSync } = require("node:fs");
  const input = readFileSync(0, "utf8");
  const call = { words: process.argv.slice(2), cwd: process.cwd(), input, noColor: process.env.NO_COLOR };
  appendFileSync(${JSON.stringify(file("calls"))}, JSON.stringify(call) + "\\n");
  console.log("text on stdout");
  const end = () => {
    if (existsSync(${JSON.stringify(file("held"))})) return setTimeout(end, 20);
    if (!existsSync(${JSON.stringify(file("failure"))})) return;
    process.stderr.write(readFileSync(${JSON.stringify(file("failure"))}, "utf8"));
    process.exitCode = 1;
  };
  end();
}
`,
  );
  return {
    path,
    calls() {
      if (!existsSync(file("calls"))) return [];
      const lines = readFileSync(file("calls"), "utf8").trimEnd().split("\n");
      return lines.map((line) => JSON.parse(line) as PlayedCall);
    },
    fail: (stderr) => writeFileSync(file("failure"), stderr),
    hold() {
      writeFileSync(file("held"), "");
      return () => rmSync(file("held"));
    },
  };
}
