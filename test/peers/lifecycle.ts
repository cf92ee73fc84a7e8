// The life of an app by the commands that people type, on an emulator that others wrote: as far as it goes there.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { root, tool } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { installPeers, startPeer } from "./servers.ts";

const missing = requires("python3") || installPeers();

t.test("from a directory to stages and back, on ministack", { skip: missing || false }, async (t) => {
  const endpoint = await startPeer(t, "ministack");
  // In no repository: else versions were named by its commits.
  const folder = mkdtempSync(join(tmpdir(), "tool-peers-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const directory = join(folder, "app");
  cpSync(join(root, "examples/node-server"), directory, { recursive: true, filter: (path) => !path.endsWith(".tool") });
  const env = {
    TOOL_AWS_ENDPOINT: endpoint,
    CLOUD_REGION: "us-east-1",
    CLOUD_ACCESS_KEY_ID: "test",
    CLOUD_SECRET_ACCESS_KEY: "test",
  };
  const rows: readonly [argv: string[], says: RegExp, code?: number][] = [
    [["env", "add", "API_KEY", "one", "BRACES={{x}}", "EMPTY="], /^added for all stages: API_KEY, BRACES, EMPTY$/m],
    [["env", "add", "API_KEY", "two", "-s", "staging", "-c", "-d", "of staging"], /^added for staging: API_KEY$/m],
    [["env", "set", "API_KEY", "three", "-s", "staging"], /^changed for staging: API_KEY$/m],
    [["env", "add", `LARGE=${"large ".repeat(2000)}`], /^added for all stages: LARGE$/m],
    [["env", "ls"], /^API_KEY +staging +\(encrypted\) .* of staging$/m],
    [["env", "get", "API_KEY"], /^three$/],
    [["env", "get", "LARGE"], /^(large ){2000}$/],
    [["env", "export"], /^export API_KEY='three'\nexport BRACES='\{\{x\}\}'\nexport EMPTY=''\nexport LARGE=/],
    [["env", "rm", "LARGE", "BRACES"], /^removed for all stages: BRACES, LARGE$/m],
    // They do not run what is deployed.
    [["deploy", "--no-check"], /staging is deployed: version 1 /],
    [["url"], /^https:\/\/\w+\.execute-api\.us-east-1\.amazonaws\.com\/staging\/\n/],
    [["deploy"], /staging is unchanged: version 1 is already active, nothing was uploaded/],
    [["deploy", "production", "--no-check"], /production is deployed: version 2 /],
    [["deploy", "--no-check"], /staging is deployed: version 3, previously 1 /],
    [["deploys"], /^staging +3 .* current\nproduction +2 .* current\nstaging +1 .* previous$/m],
    [["rollback"], /staging is rolled back to version 1, from version 3/],
    [["rollback"], /staging is rolled back to version 3, from version 1/],
    [["prune", "-r", "1"], /0 deployments of staging removed, 2 kept/],
    [["stack"], /production +https:/],
    [["stack", "plan"], /nothing to do: the stack matches tool\.json/],
    [["metrics"], /Cost +\$0\.00/],
    // Its gateway does not start functions that bring a wrapper, so that there is no log to read.
    [["logs"], /^$/],
    [
      ["stack", "delete", "--yes", "--env"],
      /removed: stack orders, .*, variables for all stages API_KEY, EMPTY, variables for staging API_KEY/,
    ],
    [["deploys"], /orders is not deployed/],
  ];
  for (const [i, [argv, says, code = 0]] of rows.entries()) {
    if (i === 13) writeFileSync(join(directory, "public/change.txt"), "changed\n");
    const outcome = await tool(argv, { cwd: directory, env });
    const said = argv[0] === "logs" ? outcome.stdout : outcome.stdout + outcome.stderr;
    const name = ["tool", ...argv].join(" ");
    if (!t.equal(outcome.code, code, `${name}: ends with ${code}`)) t.comment(outcome.stderr);
    t.match(said, says, name);
  }
});
