import { rmSync } from "node:fs";
import { type Context, EXIT } from "../context.ts";
import { stageUrl } from "../open-sandbox.ts";
import { byteSize } from "../output/byte-size.ts";
import {
  connectSandbox,
  findSandbox,
  type Sandbox,
  SandboxError,
  silentDaemon,
  stopSandbox,
} from "../sandbox/connect.ts";
import type { SandboxLanguage, SandboxStatus } from "../sandbox/control.ts";
import { SandboxFolder } from "../sandbox/folder.ts";
import type { Options } from "../table.ts";

/** `tool sandbox`, `tool sandbox status`: whether it runs, where, and what is deployed to it. Does not start it. */
export function status(context: Context): Promise<number> {
  return explained(context, async () => {
    const sandbox = await findSandbox(context.io.env, context.io.clock);
    const folder = SandboxFolder.of(context.io.env);
    const silent = sandbox === undefined ? await silentDaemon(context.io.env) : undefined;
    if (silent !== undefined) {
      return context.fail(`the sandbox runs and does not answer (process ${silent})`, "tool sandbox stop ends it");
    }
    if (sandbox === undefined) {
      if (context.format === "json") await context.print(toJson({ running: false, folder: folder.path }));
      else {
        const kept = folder.exists ? `; what was deployed to it is kept in ${folder.path}` : "";
        await context.print(`the sandbox is not running${kept}`);
        await context.say("tool deploy --sandbox starts it, and so does tool sandbox start");
      }
      return EXIT.ok;
    }
    const view = await viewOf(sandbox, context.io.nowMs());
    await context.print(context.format === "json" ? toJson(documentOf(sandbox, view)) : render(sandbox, view));
    return EXIT.ok;
  });
}

/** `tool sandbox start`: starts it if it does not run, and prints its address. */
export function start(context: Context): Promise<number> {
  return explained(context, async () => {
    const sandbox = await connectSandbox({
      env: context.io.env,
      clock: context.io.clock,
      say: (text) => void context.say(text),
    });
    if (context.format === "json") {
      await context.print(toJson(documentOf(sandbox, await viewOf(sandbox, context.io.nowMs()))));
    } else await context.print(`the sandbox is at ${addressOf(sandbox)}`);
    return EXIT.ok;
  });
}

/** `tool sandbox stop`: ends its process and all functions. What is deployed is there again at the next start. */
export function stop(context: Context): Promise<number> {
  return explained(context, async () => {
    const wasRunning = await stopSandbox(context.io.env, context.io.clock);
    if (context.format === "json") await context.print(toJson({ wasRunning }));
    else await context.print(wasRunning ? "the sandbox is stopped" : "the sandbox was not running");
    return EXIT.ok;
  });
}

/** `tool sandbox mail`: prints what alerts sent, oldest first. */
export function mail(context: Context): Promise<number> {
  return explained(context, async () => {
    // A sandbox that does not run has its mails all the same.
    const exists = SandboxFolder.of(context.io.env).exists;
    const sandbox = exists
      ? await connectSandbox({ env: context.io.env, clock: context.io.clock, say: () => {} })
      : undefined;
    const mails = (await sandbox?.mails()) ?? [];
    if (context.format === "json") await context.print(toJson({ mails }));
    else if (mails.length === 0) await context.print("no alert has sent anything yet");
    else {
      const texts = mails.map(({ at, to, subject, text }) => {
        const head = [`To: ${to}`, `Date: ${at}`, ...(subject === "" ? [] : [`Subject: ${subject}`])];
        return `${head.join("\n")}\n\n${text.trimEnd()}\n`;
      });
      await context.print(texts.join(`\n${"-".repeat(60)}\n\n`).trimEnd());
    }
    return EXIT.ok;
  });
}

/** `tool sandbox reset`: stops it and removes everything in it, once that is confirmed. */
export function reset(context: Context, { yes }: Options<"sandbox reset">): Promise<number> {
  return explained(context, async () => {
    const { io } = context;
    const folder = SandboxFolder.of(io.env);
    if (!folder.exists) {
      await context.print(context.format === "json" ? toJson({ removed: false }) : "there is no sandbox to reset");
      return EXIT.ok;
    }
    if (!yes) {
      if (io.stdin.isTTY !== true || !io.stderr.isTerminal) {
        return context.misuse(
          `this would remove ${folder.path}, and there is no terminal to confirm it`,
          "write --yes to agree",
        );
      }
      const sandbox = await findSandbox(io.env, io.clock);
      const apps = (await sandbox?.status())?.apps ?? [];
      if (apps.length > 0) await context.say(`This removes ${apps.map(({ name }) => name).join(", ")}.`);
      await context.say(`All of it, with the variables of tool env, is in ${folder.path}.`);
      const answer = await io.ask("Remove everything in the sandbox? Type yes to continue: ");
      if (answer?.trim() !== "yes") {
        await context.say("nothing was removed");
        return answer === undefined ? EXIT.interrupted : EXIT.failed;
      }
    }
    await stopSandbox(io.env, io.clock);
    rmSync(folder.path, { recursive: true, force: true });
    await context.print(context.format === "json" ? toJson({ removed: true }) : "the sandbox is empty");
    return EXIT.ok;
  });
}

async function explained(context: Context, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return context.fail(error.message, error.hint);
  }
}

const addressOf = ({ port }: Sandbox) => `http://127.0.0.1:${port}`;

interface StatusView {
  readonly status: SandboxStatus;
  readonly languages: readonly SandboxLanguage[];
  /** Why functions have no namespaces of their own. */
  readonly refusal: string | undefined;
  readonly nowMs: number;
}

async function viewOf(sandbox: Sandbox, nowMs: number): Promise<StatusView> {
  const [status, languages] = [await sandbox.status(), await sandbox.languages()];
  return { status, languages, refusal: await sandbox.refusalOfNamespaces(), nowMs };
}

function documentOf(sandbox: Sandbox, { status, languages, refusal }: StatusView) {
  const { apps, proof: _, resolvesNames: __, port: ___, ...fields } = status;
  return {
    running: true,
    address: addressOf(sandbox),
    folder: sandbox.folder.path,
    ...fields,
    languages: languages.map(({ runtime, here }) => ({
      runtime,
      program: here?.program ?? null,
      version: here?.version ?? null,
      matches: here?.matches ?? false,
    })),
    namespaces: { allowed: refusal === undefined, reason: refusal ?? null },
    apps: apps.map(({ name, directory, stages }) => ({
      name,
      directory: directory ?? null,
      stages: stages.map((stage) => ({
        stage,
        url: stageUrl(sandbox, name, stage),
        browserUrl: stageUrl({ ...sandbox, resolvesNames: true }, name, stage),
      })),
    })),
  };
}

function render(sandbox: Sandbox, { status, languages, refusal, nowMs }: StatusView): string {
  const { pid, memoryBytes, endsAt, apps, mails } = status;
  const minutes = Math.max(0, Math.round((Date.parse(endsAt) - nowMs) / 60_000));
  const lines = [
    `The sandbox is at ${addressOf(sandbox)}`,
    `  process   ${pid}, ${byteSize(memoryBytes)}; ends after ${minutes} more minutes without use`,
    `  folder    ${sandbox.folder.path}`,
    ...languages.map(
      ({ runtime, here }, i) => `  ${i === 0 ? "runs on" : "       "}   ${programOf(here)}  (platform: ${runtime})`,
    ),
    "  enforced  time; memory (sampled); not: CPU share, number of processes",
    `  hidden    ${refusal === undefined ? "other processes, and the sandbox's files" : `nothing: no namespaces (${refusal})`}`,
    `  mail      ${mails === 0 ? "none" : `${mails}: tool sandbox mail shows them`}`,
  ];
  if (apps.length === 0) lines.push("", "No app is deployed yet. Run tool deploy --sandbox in an app's folder.");
  for (const { name, directory, stages } of apps) {
    lines.push("", directory === undefined ? name : `${name}  ${directory}`);
    const width = Math.max(...stages.map((stage) => stage.length));
    for (const stage of stages) {
      const [url, inBrowser] = [sandbox, { ...sandbox, resolvesNames: true }].map((one) => stageUrl(one, name, stage));
      lines.push(`  ${stage.padEnd(width)}  ${inBrowser}`);
      if (url !== inBrowser) lines.push(`  ${" ".repeat(width)}  ${url}`);
    }
  }
  return lines.join("\n");
}

function programOf(here: SandboxLanguage["here"]): string {
  if (here === undefined) return "nothing here";
  const { runtime, version } = here;
  return `${runtime.startsWith("nodejs") ? "Node" : runtime.startsWith("python") ? "Python" : "Java"} ${version}`;
}

const toJson = (document: object) => JSON.stringify(document, null, 2);
