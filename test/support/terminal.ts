// The command on a terminal: script(1) opens one.
import { spawn } from "node:child_process";
import { cleanEnv, cliPath, type SpawnOptions } from "./cli.ts";
import { until } from "./until.ts";

interface Test {
  teardown(handler: () => void): void;
}

type TerminalOptions = Pick<SpawnOptions, "cwd" | "env"> & {
  /** Commands of a shell on this terminal after the command. */
  readonly afterwards?: string;
};

/** A command that runs on a terminal of its own. */
export interface Terminal {
  /** Returns its output so far, without sequences that move the cursor and without colors. */
  text(): string;
  type(keys: string): void;
  readonly ended: Promise<{ readonly code: number | null; readonly text: string }>;
}

/** Runs `tool ...argv` on a terminal of its own, until it ends or the test does. */
export function openTerminal(t: Test, argv: readonly string[], options: TerminalOptions): Terminal {
  const words = [process.execPath, cliPath, ...argv].map((word) => `'${word}'`).join(" ");
  const command = options.afterwards === undefined ? words : `${words}; ${options.afterwards}`;
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: options.cwd,
    env: cleanEnv({ ...options.env, NO_COLOR: "1" }),
  });
  t.teardown(() => child.kill());
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more.replace(/\u001b\[[\d;?]*[A-Za-z]/g, "");
  });
  const ended = new Promise<number | null>((done) => {
    child.once("close", done);
  });
  return {
    text: () => text,
    type: (keys) => void child.stdin.write(keys),
    ended: ended.then((code) => ({ code, text })),
  };
}

/** Runs `tool ...argv` on a terminal of its own, and types each answer when its question is there. */
export async function typeInto(
  t: Test,
  argv: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
  options: TerminalOptions,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const terminal = openTerminal(t, argv, options);
  let seen = 0;
  for (const [question, answer] of answers) {
    await until(`${question} in ${terminal.text()}`, () => terminal.text().indexOf(question, seen) >= 0);
    seen = terminal.text().indexOf(question, seen) + question.length;
    // A remark is before the question that is asked again.
    await until("the end of the prompt", () => terminal.text().endsWith(": "));
    terminal.type(`${answer}\r`);
  }
  return terminal.ended;
}
