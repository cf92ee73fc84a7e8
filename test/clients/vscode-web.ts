// The extension in VS Code for the Web, where it runs in workers of the browser: the languages, and nothing that needs a
// process.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { root } from "../support/cli.ts";
import { packExtension } from "../support/extension-package.ts";
import { until } from "../support/until.ts";
import { unpack } from "../support/unzip.ts";
import { requiresVscodeWeb, startVscodeWeb } from "../support/vscode-web.ts";
import { startChromium, VscodeWindow } from "../support/vscode-window.ts";

const CONFIG = `{
  "name": "orders",
  "stages": { "beta": {} },
  "redirects": {
    "/old/:id": { "location": "/orders/:id", "statsu": 301 }
  },
  "logs": { "queries": { "slow": "dura > 1s" } }
}
`;

t.test("the extension in VS Code for the Web", { skip: requiresVscodeWeb() }, async (t) => {
  const dir = t.testdir();
  unpack(readFileSync(packExtension()), join(dir, "package"));
  const app = join(dir, "app");
  mkdirSync(app);
  writeFileSync(join(app, "tool.json"), CONFIG);
  writeFileSync(join(app, "errors.logq"), "status>=500   AND error\n");
  const server = await startVscodeWeb(join(dir, "package/extension"), app);
  t.teardown(() => server.stop());
  const browser = await startChromium();
  t.teardown(() => browser.close());
  const window = await VscodeWindow.open(browser, server, app, { isVirtual: true });
  const { page } = window;
  t.teardown(async () => {
    if (!t.passing()) await page.screenshot({ path: join(root, "dist/pictures/vscode-web-failure.png") });
  });

  await t.test("a wrong tool.json: problems, a fix and a completion", async (t) => {
    await window.openFile("tool.json");
    await window.showProblems();
    t.match(await window.problemsOnce(1), [/^5:46 unknown key "statsu"/]);
    await window.edit({ at: "stat|su" });
    t.equal((await window.fixes())[0], "Change to status");
    // This version takes no click on the row from a driver.
    await page.keyboard.press("Enter");
    t.match(await window.changed(), /"status": 301 \}$/m);
    await window.edit({ at: "dura| > 1s" });
    t.same(await window.suggestions(), ["duration"]);
    t.match(await window.acceptSuggestion("duration"), /"duration > 1s"/);
    t.same(await window.problemsOnce(0), []);
    await window.edit({ at: '"sta|tus"' });
    t.match(await window.hover(), /301/);
  });

  await t.test("a query file is formatted", async (t) => {
    await window.openFile("errors.logq");
    t.equal(await window.format(), "status >= 500 and error\n");
  });

  await t.test("no lens and no command of what needs a process", async (t) => {
    await page.keyboard.press("F1");
    await window.quickText.fill(">Tool: ");
    await until("the commands", async () => (await window.listed()).some((row) => row.startsWith("Tool: ")));
    const rows = (await window.listed()).filter((row) => row.startsWith("Tool: "));
    t.same(rows.sort(), [
      "Tool: Create tool.json",
      "Tool: Migrate Configuration",
      "Tool: Restart Server",
      "Tool: Show Output",
      "Tool: Sort Configuration",
    ]);
    await page.keyboard.press("Escape");
    t.equal(await page.locator(".pane-header", { hasText: "Tool Logs" }).count(), 0);
    await window.openFile("tool.json");
    await window.replaceAll(
      '{ "name": "a", "stages": { "beta": {} }, "redirects": { "/a": { "location": "/b", "status": 301 }, "/*": { "location": "/c", "status": 301 } } }\n',
    );
    const lenses = window.editor.locator(".codelens-decoration");
    await lenses.first().waitFor();
    t.match(await lenses.allInnerTexts(), [/\S/], "the fact about a route alone");
    t.notMatch((await lenses.allInnerTexts()).join(), /Start|Deploy|Open|Logs/);
  });

  await t.test("a command that is called all the same says what to do", async (t) => {
    await window.command("Preferences: Open Keyboard Shortcuts (JSON)");
    await page.locator(".tab.active", { hasText: "keybindings.json" }).waitFor();
    await window.replaceAll('[{ "key": "ctrl+alt+9", "command": "tool.start" }]');
    const message = page.locator(".notifications-toasts .notification-list-item-message", { hasText: '"Start"' });
    await until("the message", async () => {
      await page.keyboard.press("Control+Alt+9");
      return message.first().isVisible();
    });
    t.equal(
      await message.first().innerText(),
      '"Start" needs the program tool, and a browser can start none. Clone the repository, and open its folder in VS Code on a machine with tool.',
    );
  });
});
