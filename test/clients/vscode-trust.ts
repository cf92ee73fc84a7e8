// A folder that is not trusted: everything that reads works, and nothing starts a process.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { requiresCodeServer, startCodeServer } from "../support/code-server.ts";
import { copyExample } from "../support/copy-example.ts";
import { packExtension } from "../support/extension-package.ts";
import { until } from "../support/until.ts";
import { startChromium, VscodeWindow } from "../support/vscode-window.ts";

/** As after "No, I don't trust the authors". */
const RESTRICTED = { "security.workspace.trust.startupPrompt": "never" };

t.test("the extension without trust in VS Code", { skip: requiresCodeServer() }, async (t) => {
  const vsix = packExtension();
  const browser = await startChromium();
  t.teardown(() => browser.close());
  const dir = t.testdir();
  const server = await startCodeServer({ dir, vsix, trust: true, settings: RESTRICTED });
  t.teardown(() => server.stop());
  const app = copyExample(dir);
  // A folder that would have its own program run.
  mkdirSync(join(app, ".vscode"));
  writeFileSync(join(app, ".vscode/settings.json"), JSON.stringify({ "tool.path": join(app, "evil") }));
  const window = await VscodeWindow.open(browser, server, app);
  const { page } = window;
  const started = () => server.processes().filter((line) => /cli\.cjs|bin\/tool|evil|server\.js/.test(line));

  await t.test("the text is checked and completed", async (t) => {
    await window.statusItem("Restricted Mode");
    await window.openFile("tool.json");
    await window.showProblems();
    await window.edit({ replace: '"status": 301', with: '"|statsu": 301' });
    t.match(await window.problemsOnce(1), [/^23:7 unknown key "statsu"/]);
    t.same(await window.fixes(), ["Change to status", 'Sort "redirects" by specificity, as rules are tried']);
    await window.acceptFix("Change to status");
    await window.edit({ replace: "duration > 500ms", with: "dura| > 500ms" });
    t.same(await window.suggestions(), ["duration"]);
    await window.acceptSuggestion("duration");
    t.same(await window.problemsOnce(0), []);
    t.same(started(), []);
  });

  await t.test("a lens says why it starts nothing", async (t) => {
    await window.go(0);
    // A second click on a slow machine shows it twice for a moment, and the editor has messages of its own.
    const message = page.locator(".notifications-toasts .notification-list-item-message", {
      hasText: "Cannot start the app",
    });
    await window.clickLens("Start", async () => (await message.count()) > 0);
    t.equal(
      await message.first().innerText(),
      "Cannot start the app: this workspace is not trusted, so no process is started in it. Trust it first.",
    );
    t.same(started(), []);
  });

  await t.test("the fix of a secret says why it runs nothing", async (t) => {
    const text = '{\n  "name": "orders",\n  "environment": { "API_KEY": "hunter2!" }\n}\n';
    await window.openFile("tool.json");
    await window.replaceAll(text);
    await window.problemsOnce(1);
    await window.edit({ at: "API|_KEY" });
    t.same((await window.fixes()).slice(0, 1), ["Move API_KEY to tool env"]);
    await page.locator(".action-widget .monaco-list-row.action").first().click();
    const message = page.locator(".notifications-toasts .notification-list-item-message", {
      hasText: "Cannot run tool",
    });
    t.equal(
      await message.first().innerText(),
      "Cannot run tool: this workspace is not trusted, so no process is started in it. Trust it first.",
    );
    t.equal(await window.save(), text);
    t.same(started(), []);
  });

  await t.test("the palette does not offer what starts a process", async (t) => {
    await page.keyboard.press("F1");
    await window.quickInput.locator("input").first().fill(">Tool: ");
    await until("the commands", async () => (await window.listed()).some((row) => row.startsWith("Tool: ")));
    const rows = (await window.listed()).filter((row) => row.startsWith("Tool: "));
    for (const command of [
      "Tool: Start",
      "Tool: Show Logs",
      "Tool: Validate Workspace",
      "Tool: Run Hook",
      "Tool: Deploy",
      "Tool: Open Stage",
    ]) {
      t.notOk(rows.includes(command), command);
    }
    t.ok(rows.includes("Tool: Restart Server"), "what starts no process stays");
    await page.keyboard.press("Escape");
    t.same(started(), []);
  });
});
