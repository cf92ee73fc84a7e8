import { realpathSync } from "node:fs";
import type { ResolvedConfig } from "../schema/index.ts";
import type { Context } from "./context.ts";
import type { SandboxAccess } from "./platform/sandbox.ts";
import type { Sandbox } from "./sandbox/connect.ts";

/** The use that a command makes of the sandbox. */
interface SandboxUse {
  /** The name in tool.json; absent for what belongs to no app. */
  readonly app?: string;
  /** Whether the app is deployed by it: the name belongs to this folder from now on. */
  readonly deploys?: boolean;
}

/** The region of everything in the sandbox, whatever tool.json says: another one would be another app of the name. */
const REGION = "us-west-2";

/** The configuration as it counts in a place: the sandbox has neither regions nor profiles. */
export function placed(resolved: ResolvedConfig, sandbox: SandboxAccess | undefined): ResolvedConfig {
  if (sandbox === undefined) return resolved;
  const { profile: _, ...rest } = resolved;
  return { ...rest, regions: [REGION] };
}

/** Whether a command works on the sandbox: by its flag, else by `TOOL_SANDBOX`. */
export function usesSandbox(context: Context, flag: boolean): boolean {
  const written = context.io.env.TOOL_SANDBOX ?? "";
  if (flag || /^(1|true|yes|on)$/i.test(written)) return true;
  if (/^(0|false|no|off|)$/i.test(written)) return false;
  return context.misuse(
    `TOOL_SANDBOX is ${JSON.stringify(written)}, which is neither yes nor no`,
    "write TOOL_SANDBOX=1 for the sandbox on this machine, or unset it for the cloud",
  );
}

/** The sandbox if the command works on it, started if it does not run; undefined for the cloud. */
export async function openSandbox(
  context: Context,
  flag: boolean,
  { app, deploys = false }: SandboxUse = {},
): Promise<SandboxAccess | undefined> {
  if (!usesSandbox(context, flag)) return undefined;
  // With the variable they hold as they are.
  if (flag) context.changeHints(withFlag);
  const { connectSandbox: openSandbox, SandboxError } = await import("./sandbox/connect.ts");
  try {
    const { io } = context;
    const sandbox = await openSandbox({ env: io.env, clock: io.clock, say: (text) => void context.say(text) });
    if (app !== undefined) await sandbox.claim(app, realpathSync(context.directory), { deploys });
    return accessTo(sandbox);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return context.fail(error.message, error.hint);
  }
}

/** A command that a message names, with the flag: without it, what is copied would work on the cloud. */
function withFlag(text: string): string {
  return text.replaceAll(
    /\btool (deploys|deploy|rollback|url|prune|metrics|logs|stack(?: (?:status|plan|apply|delete))?|domains (?:ls|check|buy)|env (?:add|set|get|ls|rm|export))\b(?! --sandbox| policy)/g,
    "tool $1 --sandbox",
  );
}

function accessTo(sandbox: Sandbox): SandboxAccess {
  const { port, access, resolvesNames } = sandbox;
  const { accessKeyId, secretAccessKey } = access;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId,
    secretAccessKey,
    urlOf: (app, stage) => stageUrl({ port, resolvesNames }, app, stage),
    isWhole: (app, version) => sandbox.isWhole(app, version),
    async noteOn(runtime) {
      const here = (await sandbox.languages()).find((one) => one.runtime === runtime)?.here;
      if (here === undefined) return `nothing on this machine runs ${runtime}: the app does not start`;
      // Programs in Node run on any; packages of Python may have a binary for one version alone.
      return here.matches || runtime.startsWith("nodejs")
        ? undefined
        : `it runs on ${runtime.startsWith("python") ? "Python" : "Java"} ${here.version} of this machine; in the cloud it would be ${runtime}`;
    },
    browserUrlOf: (app, stage) => stageUrl({ port, resolvesNames: true }, app, stage),
  };
}

/** Browsers and curl resolve `*.localhost` everywhere, other programs only if the system does. */
export function stageUrl(
  { port, resolvesNames }: { readonly port: number; readonly resolvesNames: boolean },
  app: string,
  stage: string,
): string {
  return resolvesNames ? `http://${stage}.${app}.localhost:${port}/` : `http://127.0.0.1:${port}/_app/${app}/${stage}/`;
}
