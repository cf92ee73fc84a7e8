import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { root } from "../support/cli.ts";
import { requiresCodeServer, startCodeServer } from "../support/code-server.ts";
import { copyExample } from "../support/copy-example.ts";
import { type Differences, playScenario, type Step } from "../support/editor-scenario.ts";
import { packExtension } from "../support/extension-package.ts";
import { startChromium, VscodeWindow } from "../support/vscode-window.ts";

const DIFFERS: Differences = {
  // The menu shows fixes and rewrites; what fixes a whole file is a source action, with a menu of its own.
  "quick fix": {
    shows: { titles: ["Change to status", 'Sort "redirects" by specificity, as rules are tried'], problems: [] },
  },
  // VS Code's own JSON server adds the values that the key has elsewhere in the file.
  "completion of a value": { shows: { labels: ["301", "302", "303", "307", "308", "200", "301", "302"] } },
  // VS Code's own JSON server formats, so that nobody is asked to choose; unless told by a setting it takes the last line
  // end away.
  format: { removes: [""] },
  // The server is a thread of the extension host: what ends is the whole, without anything that must be killed.
  shutdown: { shows: { killed: [] } },
};

t.test("VS Code", { skip: requiresCodeServer() }, async (t) => {
  const vsix = packExtension();
  const browser = await startChromium();
  t.teardown(() => browser.close());

  await t.test("the scenario", async (t) => {
    const dir = t.testdir();
    const server = await startCodeServer({ dir, vsix });
    t.teardown(() => server.stop());
    const app = copyExample(dir);
    const original = readFileSync(join(app, "tool.json"), "utf8");
    const window = await VscodeWindow.open(browser, server, app);

    const actions: Record<string, (step: Step) => Promise<object>> = {
      async open() {
        await window.openFile("tool.json");
        await window.showProblems();
        // The server has answered once its lenses are there.
        await window.lenses();
        return { problems: await window.problemsOnce(0) };
      },
      async diagnostics(step) {
        await window.edit(step);
        return { problems: await window.problemsOnce(1) };
      },
      async fix(step) {
        await window.edit(step);
        const titles = await window.fixes();
        await window.acceptFix(step.pick!);
        return { titles, problems: await window.problemsOnce(0) };
      },
      async complete(step) {
        await window.edit(step);
        const labels = await window.suggestions();
        await window.acceptSuggestion(step.pick!);
        return { labels };
      },
      async hover(step) {
        await window.edit(step);
        return { hover: await window.hover() };
      },
      async definition(step) {
        await window.edit(step);
        return { at: await window.definition() };
      },
      async rename(step) {
        await window.edit(step);
        await window.rename(step.to!);
        return {};
      },
      async format(step) {
        await window.edit(step);
        await window.format();
        return {};
      },
      lens: async () => ({ lenses: await window.lenses() }),
      async shutdown() {
        await window.close();
        return { killed: await server.stop() };
      },
    };
    await playScenario(t, original, { actions: pictured(window, actions), text: async () => window.text() }, DIFFERS);
  });
});

/** The same actions; where one fails, dist/pictures/vscode-failure.png shows what the window did. */
function pictured<T extends Record<string, (step: Step) => Promise<object>>>(window: VscodeWindow, actions: T) {
  return Object.fromEntries(
    Object.entries(actions).map(([name, action]) => {
      const picturedAction = async (step: Step) => {
        try {
          return await action(step);
        } catch (error) {
          await window.page.screenshot({ path: join(root, "dist/pictures/vscode-failure.png") }).catch(() => {});
          throw error;
        }
      };
      return [name, picturedAction];
    }),
  );
}
