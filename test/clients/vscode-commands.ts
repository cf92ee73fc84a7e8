// The commands, views and tasks of the extension, used in VS Code as a user would: in one window, where each test begins as
// the one before ended.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { root } from "../support/cli.ts";
import { requiresCodeServer, startCodeServer } from "../support/code-server.ts";
import { copyExample } from "../support/copy-example.ts";
import { packExtension } from "../support/extension-package.ts";
import { recordedTool } from "../support/recorded-tool.ts";
import { testSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";
import { startChromium, VscodeWindow } from "../support/vscode-window.ts";

t.test("the extension's commands in VS Code", { skip: requiresCodeServer() }, async (t) => {
  const vsix = packExtension();
  const browser = await startChromium();
  t.teardown(() => browser.close());
  const dir = t.testdir();
  const sandbox = testSandbox(t);
  const server = await startCodeServer({ dir, vsix, env: { XDG_STATE_HOME: sandbox.stateHome, DISPLAY: "none" } });
  const opened = join(dir, "opened");
  writeFileSync(join(dir, "bin/xdg-open"), `#!/bin/sh\nprintf %s "$1" > "${opened}"\n`, { mode: 0o755 });
  t.teardown(() => server.stop());
  const app = copyExample(dir);
  const window = await VscodeWindow.open(browser, server, app);
  const { page } = window;
  t.teardown(async () => {
    if (!t.passing()) await page.screenshot({ path: join(root, "dist/pictures/vscode-commands.png") });
  });

  const processes = (word: string) => server.processes().filter((line) => line.includes(word));
  let url = "";

  // Each test builds on those before it: after a failure the rest would only wait.
  const test = (name: string, run: (t: Test) => Promise<void>) =>
    t.test(name, { skip: !t.passing() && "the test before failed" }, run);

  const ticked = () =>
    page
      .locator(".getting-started-step [role=checkbox][aria-checked=true]")
      .evaluateAll((boxes) => boxes.map((box) => box.getAttribute("aria-label")));

  // First, for VS Code ticks what happens while it knows the walkthrough, and not what was so before.
  await test("the walkthrough opens, and its first step finds the command", async (t) => {
    await window.statusItem("development: stopped");
    await window.command("Welcome: Open Walkthrough...");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Get Started with tool" }).click();
    const steps = page.locator(".getting-started-step");
    await steps.first().waitFor();
    t.same(
      await steps.evaluateAll((steps) => steps.map((step) => step.querySelector(".step-title")?.textContent ?? "")),
      [
        "Install the command",
        "Describe your app in tool.json",
        "Let the editor help",
        "Start the app",
        "Search its logs",
      ],
    );
    await steps.locator("a", { hasText: "Check Installation" }).click();
    await until("the step to be ticked", async () => (await ticked())[0] === "Install the command: Completed");
  });

  await test("a lens starts the app, and the status bar says where it is", async (t) => {
    await window.openFile("tool.json");
    t.equal(await window.statusItem("development"), "development: stopped");
    t.same(processes("cli.cjs"), [], "no process before it is asked for");
    await window.clickLens("Start", async () => (await window.statusItem("development")) !== "development: stopped");
    const item = await window.statusItem(/development: .+:\d+/);
    url = `http://${item.replace(/^.*development: /, "")}`;
    const answer = await fetch(`${url}/api/orders/42`);
    t.equal(answer.status, 200);
    t.match(await answer.json(), { id: 42 });
    t.ok(processes("server.js").length > 0, "the app runs");
  });

  await test("the query box completes, and says what is wrong with its remedy", async () => {
    await window.command("Tool: Show Logs");
    const input = window.quickInput.locator("input").first();
    await input.waitFor();
    await until("the saved queries", async () => (await window.listed()).includes("@slow"));
    await input.fill("dura");
    // At once, as experienced users type.
    await page.keyboard.press("Tab");
    await until("the completed word", async () => (await input.inputValue()) === "duration ");
    await input.fill("status => 200");
    await until("the problem", async () => (await window.listed())[0] === '"=>" is not an operator');
    // Enter takes the remedy where it is certain.
    await page.keyboard.press("Enter");
    await until("the mended query", async () => (await input.inputValue()) === "status >= 200");
    await input.fill("status = 200");
    await page.keyboard.press("Enter");
    await window.quickInput.waitFor({ state: "hidden" });
  });

  await test("the logs show the request just made, and follow", async (t) => {
    const tab = page.locator(".tab.active", { hasText: "app: status = 200" });
    await tab.waitFor().catch(async () => t.fail(`tabs: ${await page.locator(".tab").allInnerTexts()}`));
    const entry = (path: string) =>
      until(
        `${path} in the logs`,
        async () => (await window.lines()).find((line) => line.includes(path)),
        () => window.lines(),
      );
    t.match(await entry("/api/orders/42"), /GET \/api\/orders\/42 200 /);
    t.ok((await window.lines()).some((line) => line.startsWith("Logs of app: status = 200 (live, ")));
    await fetch(`${url}/api/orders/48`);
    await fetch(`${url}/nothing/here`);
    t.match(await entry("/api/orders/48"), /GET \/api\/orders\/48 200 /);
    t.notMatch((await window.lines()).join("\n"), /nothing/, "what the query excludes");
    t.ok(processes(" logs ").length > 0, "a process follows");
    await window.command("View: Close Editor");
    await until("the end of the process behind a closed tab", () => processes(" logs ").length === 0);
  });

  await test("Stop ends the app and leaves no process", async (t) => {
    await window.command("Tool: Stop");
    t.equal(await window.statusItem("development: stopped"), "development: stopped");
    t.same(processes("server.js"), []);
    t.same(processes("cli.cjs"), []);
  });

  const choose = (label: string) =>
    page.locator(".quick-input-list .label-name").getByText(label, { exact: true }).click();

  await test("Deploy and Open Stage offer the sandbox, and the app answers there", async (t) => {
    await window.command("Tool: Deploy");
    await until("the stages", async () => (await window.listed())[0] === "staging");
    t.same(await window.listed(), ["staging", "production", "staging in the sandbox", "production in the sandbox"]);
    await choose("production in the sandbox");
    const answers = async () => {
      if (!existsSync(join(sandbox.folder, "daemon.json"))) return false;
      return (await sandbox.ask("orders", "production", "/api/orders/42")).status === 200;
    };
    await until("the app in the sandbox", answers);
    t.match(JSON.parse((await sandbox.ask("orders", "production", "/api/orders/42")).body), { id: 42 });
    const status = JSON.parse((await sandbox.tool(app, "sandbox", "--format", "json")).stdout);
    t.match(status.apps, [{ name: "orders", stages: [{ stage: "production" }] }], "and no other stage");

    await window.command("Tool: Open Stage");
    await choose("production in the sandbox");
    const address = await until("the browser", () => existsSync(opened) && readFileSync(opened, "utf8"));
    t.equal(address, `http://production.orders.localhost:${sandbox.daemon().port}/`);
    t.equal((await sandbox.tool(app, "sandbox", "stop")).code, 0);
  });

  await test("the fix of a secret moves it to tool env, where the user says", async (t) => {
    const recorded = recordedTool(dir);
    writeFileSync(join(dir, "bin/tool"), `#!/bin/sh\nexec "${process.execPath}" "${recorded.path}" "$@"\n`);
    await window.openFile("tool.json");
    const before = window.text();
    await window.replaceAll(before.replace("{", '{\n  "environment": { "API_KEY": "hunter2!" },'));
    await window.edit({ at: "API|_KEY" });
    const fix = "Move API_KEY to tool env";
    await until("the fix", async () => {
      if ((await window.fixes()).includes(fix)) return true;
      await page.keyboard.press("Escape");
      return false;
    });
    await page.locator(".action-widget .monaco-list-row.action").getByText(fix, { exact: true }).click();
    t.same(await window.listed(), ["all stages", "all stages in the sandbox"]);
    await choose("all stages in the sandbox");
    t.equal(await window.changed(), before);
    const words = ["env", "add", "API_KEY", "-", "-s", "all", "--sandbox"];
    t.same(recorded.calls(), [{ words, cwd: app, input: "hunter2!", noColor: "1" }]);
    t.equal((await sandbox.tool(app, "env", "get", "API_KEY")).stdout, "hunter2!");
    t.equal((await sandbox.tool(app, "sandbox", "stop")).code, 0);
    const said = page.locator(".notification-list-item-message", { hasText: "API_KEY is kept by tool env now" });
    t.match(
      await said.first().innerText(),
      /for all stages in the sandbox, and no longer by tool\.json\. Deploy again/,
    );
  });

  await test("Validate Workspace lists what is wrong in files that are not open", async (t) => {
    mkdirSync(join(app, "drafts"));
    writeFileSync(join(app, "drafts/next.tool.json"), '{\n  "name": "orders",\n  "memroy": 512\n}\n');
    await window.command("Tool: Validate Workspace");
    await page.locator(".markers-panel").waitFor();
    const [problem, ...others] = await window.problemsOnce(1);
    t.match(problem, /^3:3 unknown key "memroy"/);
    t.same(others, []);
    await window.openFile("drafts/next.tool.json");
    await window.lenses();
    t.same((await window.problems()).length, 1, "listed once, although the server reports it too");
  });

  await test("Migrate Configuration rewrites the older dialect", async (t) => {
    await window.replaceAll('{\n  "name": "orders",\n  "lambda": { "memory": 512 }\n}\n');
    await window.problemsOnce(1);
    await window.command("Tool: Migrate Configuration");
    t.equal(await window.changed(), '{\n  "name": "orders",\n  "function": { "memory": 512 }\n}\n');
    t.same(await window.problemsOnce(0), []);
  });

  await test("slips of syntax are reported once, by the editor's own JSON server", async (t) => {
    await window.replaceAll('{\n  "name" "orders",\n  "hoks": {}\n}\n');
    t.same(await window.problemsOnce(2), ["2:10 Colon expected", '3:3 unknown key "hoks"\ndid you mean "hooks"?']);
  });

  await test("Restart Server goes on with the open files", async (t) => {
    await window.command("Tool: Restart Server");
    await window.replaceAll('{\n  "name": "orders",\n  "redirect": {}\n}\n');
    t.match(await window.problemsOnce(1), [/^3:3 unknown key "redirect"/]);
  });

  await test("the walkthrough has ticked what was done since it opened", async (t) => {
    await page.locator(".tab", { hasText: "Welcome" }).click();
    await until("all five", async () => (await ticked()).length === 5).catch(() => {});
    t.same(await ticked(), [
      "Install the command: Completed",
      "Describe your app in tool.json: Completed",
      "Let the editor help: Completed",
      "Start the app: Completed",
      "Search its logs: Completed",
    ]);
  });

  await test("VS Code ends with all that it started", async (t) => {
    await window.close();
    t.same(await server.stop(), []);
  });
});
