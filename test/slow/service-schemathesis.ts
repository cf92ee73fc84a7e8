// The log service held against its own description by schemathesis, which makes requests out of /openapi.json: whatever it
// sends, what comes back is what is described, and no failure of the service. SCHEMATHESIS_EXAMPLES requests of each kind (10);
// `npm run fuzz:openapi` makes 100.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { cleanEnv, listening, spawnTool, tool } from "../support/cli.ts";
import { requires } from "../support/require.ts";

const folder = mkdtempSync(join(tmpdir(), "tool-schemathesis-"));
const bin = join(folder, "venv/bin");

/** False, or why the test is left out: no Python, or no way to the package. */
function absent(): string | false {
  const python = requires("python3");
  if (python !== false) return python;
  const rows = [
    ["python3", "-m", "venv", join(folder, "venv")],
    [join(bin, "pip"), "install", "--quiet", "--disable-pip-version-check", "schemathesis"],
  ];
  for (const [command, ...args] of rows) {
    const { status, stderr } = spawnSync(command!, args, { encoding: "utf8", timeout: 300_000 });
    if (status === 0) continue;
    const why = `schemathesis does not install: ${stderr.trim().split("\n").at(-1)}`;
    if (process.env.TOOL_TEST_REQUIRE === "all") throw new Error(why);
    return why;
  }
  return false;
}

t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
t.test("schemathesis", { skip: absent() }, async (t) => {
  const made = await tool(["service", "init", "--data", "data", "--format", "json"], { cwd: folder });
  const { token } = JSON.parse(made.stdout);
  const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder });
  t.teardown(async () => {
    running.kill("SIGKILL");
    await running.ended;
  });
  const url = await listening(running);
  const checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
  const { status, stdout } = spawnSync(
    join(bin, "schemathesis"),
    [
      ...["run", `${url}/openapi.json`, "--header", `Authorization: Bearer ${token}`, "--no-color", "--checks", checks],
      ...["--max-examples", process.env.SCHEMATHESIS_EXAMPLES ?? "10", "--seed", "1"],
      // A stream has no end; and it would find out that it can remove its own token.
      ...["--exclude-path", "/tail", "--exclude-path", "/remove_token"],
    ],
    { encoding: "utf8", cwd: folder, env: cleanEnv({ HOME: folder }), timeout: 1_400_000 },
  );
  t.equal(status, 0, stdout.slice(-4000));
  t.comment(/Test cases:\n.*/.exec(stdout)?.[0] ?? "");
  t.equal(running.stderr(), "", "nothing went wrong by itself");
});
