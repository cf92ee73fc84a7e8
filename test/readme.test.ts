// The README's example, typed into a shell as it stands. Only `tool`, the port and the wait for it are the test's.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { anyPort } from "../runtime/port.ts";
import { cliPath, root } from "./support/cli.ts";
import { requires } from "./support/require.ts";

const skip = requires("bash") || requires("curl");

t.test("the example of the README does what it says", { skip }, async (t) => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const example = /## An example[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme)![1]!;
  const port = await anyPort();
  const directory = mkdtempSync(join(tmpdir(), "tool-readme-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));

  const script = [
    "set -e",
    `tool() { "${process.execPath}" "${cliPath}" "$@"; }`,
    'curl() { for i in $(seq 100); do command curl -fs -o /dev/null localhost:3000/ && break; sleep 0.1; done; command curl "$@"; }',
    example.replace(
      "tool start &",
      `"${process.execPath}" "${cliPath}" start --address :3000 >start.log 2>&1 & pid=$!; trap 'kill $pid; wait $pid || true' EXIT`,
    ),
  ]
    .join("\n")
    .replaceAll(":3000", `:${port}`);
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], {
    cwd: directory,
    encoding: "utf8",
    timeout: 60_000,
  });
  t.equal(status, 0, stderr);
  const lines = stdout.trim().split("\n");
  t.equal(lines.shift(), "hello", "the redirect is followed to the app");
  t.same(
    lines.map((line) => JSON.parse(line).fields.status),
    [500],
    "the query finds the failed answer alone",
  );
});
