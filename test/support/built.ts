// A project as `tool build` makes it and the platform gets it: the archive unpacked, behind a gateway.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalFunction } from "../../cli/sandbox/function/function.ts";
import { type Gateway, openGateway } from "../../cli/sandbox/function/gateway.ts";
import { cleanEnv, cliPath } from "./cli.ts";
import { bundle } from "./runtime-api/deployed.ts";
import { unpack } from "./unzip.ts";

export interface BuiltApp extends Gateway {
  readonly function: LocalFunction;
  /** Where the archive was laid out. */
  readonly directory: string;
}

/** The archive that `tool build` writes to its stdout. Throws with what it said where it fails. */
export function archiveOf(project: string, words: readonly string[] = [], env: Record<string, string> = {}): Buffer {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cliPath, "build", ...words], {
    cwd: project,
    env: cleanEnv(env),
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`tool build ended with ${status}: ${stderr}`);
  return stdout;
}

interface Test {
  teardown(handler: () => Promise<void>): void;
}

/** Builds a project and runs what came out of it, from its archive alone. */
export async function runBuilt(
  t: Test,
  project: string,
  { stage = "production", env = {} }: { readonly stage?: string; readonly env?: Record<string, string> } = {},
): Promise<BuiltApp> {
  return runArchive(t, archiveOf(project, ["--stage", stage], env), { stage });
}

/** Runs an archive as a function: `bootstrap.cjs` of it, or where it has none what the layer would bring. */
export async function runArchive(t: Test, zip: Buffer, { stage }: { readonly stage: string }): Promise<BuiltApp> {
  const directory = mkdtempSync(join(tmpdir(), "tool-built-"));
  unpack(zip, directory);
  const own = join(directory, ".tool/bootstrap.cjs");
  const wrapper = existsSync(own) ? own : (process.env.TOOL_TEST_RUNTIME ?? bundle);
  const target = new LocalFunction({
    command: [wrapper, "/var/lang/bin/node", "/var/runtime/index.mjs"],
    directory,
    timeoutMs: 20_000,
    env: { TOOL_STAGE: stage },
  });
  const gateway = await openGateway({ kind: "rest", target, stage, streams: true });
  t.teardown(async () => {
    await gateway.close();
    target.destroy();
    rmSync(directory, { recursive: true, force: true });
  });
  return { ...gateway, function: target, directory };
}
