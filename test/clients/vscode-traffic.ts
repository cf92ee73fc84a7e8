// The hits of rules in VS Code: of the development log, of a log service, and none where there is neither. A workspace that is
// not trusted asks no service.
import { join } from "node:path";
import t, { type Test } from "tap";
import { root } from "../support/cli.ts";
import { type CodeServerOptions, requiresCodeServer, startCodeServer } from "../support/code-server.ts";
import {
  makeTrafficProjects,
  TRAFFIC_LENSES,
  TRAFFIC_PROJECTS,
  type TrafficProject,
  UNTRUSTED_LENSES,
} from "../support/editor-traffic.ts";
import { packExtension } from "../support/extension-package.ts";
import { until } from "../support/until.ts";
import { startChromium, VscodeWindow } from "../support/vscode-window.ts";

t.test("the hits of rules in VS Code", { skip: requiresCodeServer() }, async (t) => {
  const vsix = packExtension();
  const browser = await startChromium();
  t.teardown(() => browser.close());

  /** Calls back for each project, once its tool.json and a lens of it are shown. */
  const open = async (t: Test, options: Pick<CodeServerOptions, "trust" | "settings">) => {
    const dir = t.testdir({ projects: {} });
    const folder = join(dir, "projects");
    const { env, questions } = await makeTrafficProjects(t, folder);
    const settings = { "tool.traffic.source": "service", ...options.settings };
    const server = await startCodeServer({ dir, vsix, env, ...options, settings });
    t.teardown(() => server.stop());
    const window = await VscodeWindow.open(browser, server, folder);
    t.teardown(async () => {
      if (!t.passing()) await window.page.screenshot({ path: join(root, "dist/pictures/vscode-traffic.png") });
      await window.close();
    });
    const show = async (project: TrafficProject) => {
      await window.openFile(`${project}/tool.json`);
      const name = `"name": "${project}"`;
      await until(project, async () => (await window.lines()).some((line) => line.includes(name)));
      return window.lenses();
    };
    /** The lenses, once they are as many as are expected; those that there are at the end of the wait where they never are. */
    const lenses = async (project: TrafficProject, expected: readonly RegExp[]) => {
      let shown = await show(project);
      await until(`lenses of ${project}`, async () => {
        if (shown.length < expected.length) shown = await window.lenses();
        return shown.length >= expected.length;
      }).catch(() => {});
      return shown;
    };
    return { questions, show, lenses };
  };

  await t.test("trusted", async (t) => {
    const { questions, show, lenses } = await open(t, {});
    for (const project of TRAFFIC_PROJECTS) {
      const expected = TRAFFIC_LENSES[project];
      const shown = await lenses(project, expected);
      t.equal(shown.length, expected.length, project);
      t.match(shown, expected, project);
    }
    // Their logs were looked for before those of the others were found.
    for (const project of ["neither", "away"] as const) t.same(await show(project), ["2 Start"], project);
    t.same(questions(), ["aggregate", "aggregate", "discoveredFields"], "the service is asked once");
  });

  await t.test("not trusted", async (t) => {
    const { questions, lenses } = await open(t, {
      trust: true,
      settings: { "security.workspace.trust.startupPrompt": "never" },
    });
    const shown = await lenses("service", UNTRUSTED_LENSES);
    t.equal(shown.length, UNTRUSTED_LENSES.length);
    t.match(shown, UNTRUSTED_LENSES, "the development log instead");
    t.same(questions(), [], "no service is asked");
  });
});
