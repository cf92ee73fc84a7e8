// The command on a terminal: script(1) opens one.
import { spawn } from "node:child_process";
import { cleanEnv, cliPath, type SpawnOptions, until } from "./cli.ts";

interface Test {
  teardown(handler: () => void): void;
}

/** Runs `tool ...argv` on a terminal of its own, and types each answer when its question is there. */
export async function typeInto(
  t: Test,
  argv: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
  options: Pick<SpawnOptions, "cwd" | "env">,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const command = [process.execPath, cliPath, ...argv].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: options.cwd,
    env: cleanEnv({ ...options.env, NO_COLOR: "1" }),
  });
  t.teardown(() => child.kill());
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    // Without what moves the cursor.
    text += more.replace(/\u001b\[[\d;?]*[A-Za-z]/g, "");
  });
  const ended = new Promise<number | null>((done) => {
    child.once("close", done);
  });
  let seen = 0;
  for (const [question, answer] of answers) {
    await until(`${question} in ${text}`, () => text.indexOf(question, seen) >= 0);
    seen = text.indexOf(question, seen) + question.length;
    // A remark is before the question that is asked again.
    await until("the end of the prompt", () => text.endsWith(": "));
    child.stdin.write(`${answer}\r`);
  }
  return { code: await ended, text };
}
