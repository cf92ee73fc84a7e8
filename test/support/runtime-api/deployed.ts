// A project as it is on the function platform, behind a gateway: the real bundle in a real process.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { GatewayKind } from "../../../cli/sandbox/function/events.ts";
import { type FunctionOptions, LocalFunction } from "../../../cli/sandbox/function/function.ts";
import { type Gateway, openGateway } from "../../../cli/sandbox/function/gateway.ts";
import type { Entry } from "../../../grammar/entry.ts";
import { entriesIn } from "../cli.ts";
import { checkedConfig, commandOf, makeProject, type Project } from "../runtime.ts";
import { until } from "../until.ts";

export const bundle = resolve(dirname(fileURLToPath(import.meta.url)), "../../../bin/runtime/bootstrap.cjs");

/** Another way to run the runtime: TOOL_TEST_RUNTIME is a binary that holds it. */
const binary = process.env.TOOL_TEST_RUNTIME;

export interface Deployment extends Partial<Omit<FunctionOptions, "directory">> {
  readonly kind?: GatewayKind;
  readonly streams?: boolean;
  readonly stage?: string;
  /** Whether it is asked under a domain of its own, whose paths do not begin with the stage. */
  readonly hasDomain?: boolean;
}

export interface Deployed extends Gateway {
  readonly function: LocalFunction;
  readonly directory: string;
  /** Returns the entries that the runtime wrote so far, as the platform's log would hold them. */
  entries(): Entry[];
  /** Waits until the entries from an index on hold one that this accepts. */
  entry(accepts: (entry: Entry) => boolean, from?: number): Promise<Entry>;
}

interface Test {
  teardown(handler: () => Promise<void>): void;
}

export async function deploy(t: Test, project: Project, deployment: Deployment = {}): Promise<Deployed> {
  const {
    kind = "rest",
    streams = kind !== "http",
    stage = "production",
    hasDomain = false,
    env,
    ...options
  } = deployment;
  const directory = makeProject(project.files);
  const command = commandOf(project);
  mkdirSync(join(directory, ".tool"));
  writeFileSync(
    join(directory, ".tool/deployment.json"),
    JSON.stringify({ config: checkedConfig(project), stage, ...(command && { command }) }),
  );
  const target = new LocalFunction({
    // As AWS_LAMBDA_EXEC_WRAPPER is called: with the command of the runtime whose place it takes.
    command: [binary ?? bundle, "/var/lang/bin/node", "/var/runtime/index.mjs"],
    directory,
    timeoutMs: 20_000,
    ...options,
    env: { TOOL_STAGE: stage, TOOL_RESPONSE_MODE: streams ? "stream" : "buffered", ...project.env, ...env },
  });
  const names = hasDomain ? (kind === "rest" ? { basePath: "" } : { stage: "$default" }) : {};
  const gateway = await openGateway({ kind, target, stage, streams, names });
  t.teardown(async () => {
    await gateway.close();
    await gateway.close();
    target.destroy();
    rmSync(directory, { recursive: true, force: true });
  });
  const entries = () => entriesIn(target.output);
  const entry = async (accepts: (entry: Entry) => boolean, from = 0) => {
    const find = () => entries().slice(from).find(accepts);
    await until("an entry", () => find() !== undefined).catch((error: Error) => {
      throw new Error(`${error.message}\n${target.output}`);
    });
    return find()!;
  };
  return { ...gateway, function: target, directory, entries, entry };
}
