// Every operation of the log service, asked for by a program in another language that knows nothing of ours; then the same
// again after the service was killed in the middle.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { cliPath, listening, root, spawnTool, tool } from "../support/cli.ts";
import { requires } from "../support/require.ts";

t.test("Python's standard library", { skip: requires("python3") }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tool-service-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const init = ["service", "init", "--data", "data", "--owner", "ann@example.com", "--format", "json"];
  const made = await tool(init, { cwd: folder });
  const links = [process.execPath, cliPath, "service", "sign-in", "--data", join(folder, "data"), "--format", "json"];
  const { token } = JSON.parse(made.stdout);
  for (const round of ["first", "after kill -9"]) {
    const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder });
    try {
      const url = await listening(running);
      const { code, stdout, stderr } = await python([join(root, "test/slow/service-python.py"), url, token, ...links]);
      t.equal(code, 0, `${round}: ${stderr}`);
      t.same(
        JSON.parse(stdout.trim().split("\n").at(-1)!),
        { operations: Object.keys(rpcSchema.operations).length },
        round,
      );
      if (round !== "first") continue;
      // The next one is killed while the client is at work.
      const second = python([join(root, "test/slow/service-python.py"), url, token, ...links]);
      setTimeout(() => running.kill("SIGKILL"), 400);
      await Promise.all([second, running.ended]);
    } finally {
      running.kill("SIGKILL");
      await running.ended;
    }
  }
});

function python(argv: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn("python3", argv, { stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done({ code, ...output }));
  });
}
