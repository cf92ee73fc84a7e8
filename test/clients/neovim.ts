import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { cleanEnv, cliPath, root } from "../support/cli.ts";
import { runScenario } from "../support/editor-scenario.ts";
import { makeTrafficProjects, TRAFFIC_LENSES, TRAFFIC_PROJECTS } from "../support/editor-traffic.ts";
import { requires } from "../support/require.ts";

const argvOf = (script: string) => ["--headless", "--clean", "-u", "NONE", "-S", join(root, "test/clients", script)];

runScenario({ program: "nvim", packages: "neovim", argv: argvOf("neovim.lua") });

t.test(
  "hits of the development log, of a log service, and none where there is neither",
  { skip: requires("nvim", "Debian: apt-get install neovim") },
  async (t) => {
    const dir = t.testdir({ home: {}, projects: {} });
    const projects = join(dir, "projects");
    const { env, questions } = await makeTrafficProjects(t, projects);
    const results = join(dir, "results.json");
    const child = spawn("nvim", argvOf("neovim-traffic.lua"), {
      cwd: projects,
      env: cleanEnv({
        ...env,
        HOME: join(dir, "home"),
        LANG: "C.UTF-8",
        TOOL_PROJECTS: JSON.stringify(TRAFFIC_PROJECTS),
        TOOL_RESULTS: results,
        TOOL_SERVER: JSON.stringify([process.execPath, cliPath, "lsp", "--stdio"]),
      }),
      stdio: "ignore",
    });
    t.teardown(() => child.kill("SIGKILL"));
    const [code] = await once(child, "close");
    const shown = JSON.parse(readFileSync(results, "utf8"));
    t.equal(code, 0, "Neovim ends well", shown);
    for (const project of TRAFFIC_PROJECTS) {
      t.match(shown[project], TRAFFIC_LENSES[project], project);
      t.equal(shown[project]?.length, TRAFFIC_LENSES[project].length, project);
    }
    t.same(questions(), ["aggregate", "aggregate", "discoveredFields"], "the service is asked once");
  },
);
