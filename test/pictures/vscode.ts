// Makes the pictures of the extension's README from the real thing: npm run pictures:extension [-- logs ...].
// Each scene is brought about in VS Code by keys, in light and in dark, and cut to the editor.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { root } from "../support/cli.ts";
import { type CodeServer, startCodeServer } from "../support/code-server.ts";
import { copyExample } from "../support/copy-example.ts";
import { packExtension } from "../support/extension-package.ts";
import { until } from "../support/until.ts";
import { startChromium, VscodeWindow } from "../support/vscode-window.ts";

interface Scene {
  readonly name: string;
  /** Size of the window; what is around the editor is cut off. */
  readonly size: { readonly width: number; readonly height: number };
  readonly show: (window: VscodeWindow) => Promise<void>;
}

const CONFIG = `{
  "name": "orders",
  "hooks": {
    "build": "npm run build"
  },
  "stages": {
    "staging": {},
    "production": {}
  },
  "logs": {
    "queries": {
      "failed": "status >= 500 or level >= error",
      "slow": "duration > 500ms"
    }
  },
  "redirects": {
    "/order/:id": {
      "location": "/orders/:id",
      "status": 301
    },
    "/latest": {
      "location": "/orders/48"
    }
  }
}
`;

const SCENES: readonly Scene[] = [
  {
    name: "completion",
    size: { width: 640, height: 400 },
    async show(window) {
      await window.edit({ replace: '"duration > 500ms"', with: '"duration > 500ms and s|"' });
      await window.suggestions();
    },
  },
  {
    name: "diagnostics",
    size: { width: 640, height: 400 },
    async show(window) {
      await window.edit({ replace: '"status": 301', with: '"|statsu": 301' });
      await window.page.locator(".squiggly-error").first().waitFor({ state: "attached" });
      await window.showHover();
    },
  },
  {
    name: "hover",
    size: { width: 760, height: 400 },
    async show(window) {
      await window.edit({ at: "status >= 500 or l|evel" });
      await window.showHover();
    },
  },
  {
    name: "lenses",
    size: { width: 640, height: 450 },
    async show(window) {
      await window.lenses();
    },
  },
  {
    name: "logs",
    size: { width: 640, height: 280 },
    async show(window) {
      await window.command("Tool: Start");
      const item = await window.statusItem(/development: .+:\d+/);
      const url = `http://${item.replace(/^.*development: /, "")}`;
      const paths = ["/", "/api/orders/42", "/api/orders/7", "/api/orders/42?fail=1"];
      await window.command("Tool: Show Logs");
      await until("the box", async () => (await window.listed())[0] === "Show all entries");
      await window.quickInput.locator("input").first().fill("status >= 200");
      await until("the query", async () => (await window.listed())[0] === "status >= 200");
      await window.page.keyboard.press("Enter");
      await window.page.locator(".tab.active", { hasText: "orders: " }).waitFor();
      await window.command("View: Hide Panel").catch(() => {});
      for (const path of paths) await fetch(`${url}${path}`);
      await until("the last request", async () => (await window.lines()).some((line) => line.includes("fail=1")));
    },
  },
];

/** Nothing but the text, its widgets and its tab. */
const SETTINGS = {
  "window.autoDetectColorScheme": true,
  "workbench.activityBar.location": "hidden",
  "workbench.layoutControl.enabled": false,
  "breadcrumbs.enabled": false,
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false,
  "editor.scrollBeyondLastLine": false,
  "editor.overviewRulerBorder": false,
  "editor.hideCursorInOverviewRuler": true,
  "editor.cursorBlinking": "solid",
  "editor.scrollbar.vertical": "hidden",
  "editor.scrollbar.horizontal": "hidden",
  "editor.fontSize": 13,
};

/** Crisp where pixels are small; twice as many would be too many bytes. */
const SCALE = 1.5;

/** A README with more would be slow to open. */
const MAX_BYTES = 80_000;

const dir = mkdtempSync(join(tmpdir(), "tool-pictures-"));
let server: CodeServer | undefined;
let browser: Browser | undefined;
try {
  server = await startCodeServer({ dir, vsix: packExtension(), settings: SETTINGS });
  browser = await startChromium();
  const named = process.argv.slice(2);
  for (const scene of SCENES.filter(({ name }) => named.length === 0 || named.includes(name))) {
    for (const colorScheme of ["light", "dark"] as const) await picture(server, browser, scene, colorScheme);
  }
} finally {
  await browser?.close();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function picture(server: CodeServer, browser: Browser, scene: Scene, colorScheme: "light" | "dark") {
  const { name, size, show } = scene;
  const app = copyExample(mkdtempSync(join(dir, "scene-")), "orders");
  writeFileSync(join(app, "tool.json"), CONFIG);
  const window = await VscodeWindow.open(browser, server, app, { size, deviceScaleFactor: SCALE, colorScheme });
  await window.openFile("tool.json");
  await window.statusItem("development: stopped");
  await window.page.keyboard.press("Control+B");
  await window.lenses();
  // A hover goes away when the mouse moves.
  await window.page.mouse.move(0, 0);
  await show(window);
  const path = join(root, `vscode-extension/images/${name}-${colorScheme}.png`);
  await window.page.locator(".editor-group-container").first().screenshot({ path, animations: "disabled" });
  const { size: bytes } = statSync(path);
  console.log(`${name}-${colorScheme}.png: ${Math.ceil(bytes / 1000)} KB`);
  if (bytes > MAX_BYTES) process.exitCode = 1;
  await window.close();
}
