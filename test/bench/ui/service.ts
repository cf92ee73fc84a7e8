// The service with a project of many events, and a browser that is signed in to it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { listening, spawnTool, tool } from "../../support/cli.ts";
import { BATCH_EVENTS, PROJECT } from "../logservice/bodies.ts";
import { startLoad } from "../logservice/load.ts";

export interface UiService {
  readonly url: string;
  readonly token: string;
  /** A link that signs the owner in, once. */
  signInLink(): Promise<string>;
  stop(): Promise<void>;
}

const OWNER = "bench@example.com";
/** The one team of a new data directory. */
export const EXPLORER = `/t/owner/p/${PROJECT}/events`;

/** Starts the service over a data directory, which is made if it is missing. */
export async function startUiService(folder: string): Promise<UiService> {
  const tokenPath = join(folder, "token");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const run = async (...argv: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await tool(["service", ...argv, "--data", "data"], { cwd: folder });
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const isNew = !existsSync(tokenPath);
  if (isNew) {
    const made = await run("init", "--team", "owner", "--owner", OWNER, "--public-url", url, "--format", "json");
    writeFileSync(tokenPath, JSON.parse(made).token, { mode: 0o600 });
  }
  const token = readFileSync(tokenPath, "utf8").trim();
  const running = spawnTool(
    ["service", "start", "--data", "data", "--address", `127.0.0.1:${port}`, "--public-url", url],
    { cwd: folder },
  );
  await listening(running);
  if (isNew) await post({ url, token }, "add_project", { project: { id: PROJECT, name: PROJECT } });
  return {
    ...{ url, token },
    async signInLink() {
      const printed = await run("sign-in", OWNER, "--public-url", url);
      return /http\S+/.exec(printed)![0];
    },
    async stop() {
      running.kill("SIGTERM");
      await running.ended;
    },
  };
}

/** Sends so many events, in bounded batches. */
export async function fill({ url, token }: UiService, events: number, say: (text: string) => void): Promise<void> {
  const load = await startLoad(
    { url, token, firstBatch: 0, endBatch: Math.ceil(events / BATCH_EVENTS), connections: 4 },
    (sent, seconds) => say(`${sent} events after ${seconds.toFixed(0)} s`),
  );
  await load.done;
}

export async function post({ url, token }: Pick<UiService, "url" | "token">, operation: string, input: object) {
  const response = await fetch(`${url}/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${operation} answered ${response.status}: ${await response.text()}`);
}

export interface SignedIn {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/** Starts Chromium and signs it in. Its profile is on the disk, as people's are: a private window compiles every script anew. */
export async function signedIn(service: UiService, args: readonly string[] = []): Promise<SignedIn> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const profile = mkdtempSync(join(tmpdir(), "tool-bench-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    ...{ executablePath, args: ["--no-sandbox", ...args], viewport: { width: 1280, height: 800 } },
  });
  const page = await context.newPage();
  await page.goto(await service.signInLink());
  await page.getByRole("button").first().click();
  await page.waitForURL(/\/t\//);
  await page.close();
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
