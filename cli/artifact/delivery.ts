import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Deployment, RUNTIME_FOLDER } from "../../runtime/lambda/deployment.ts";
import { type Config, forStage, type Inference, type Runtime } from "../../schema/index.ts";
import type { MadeFile } from "./deflate.ts";

/** How the platform runs a deployment: the managed runtime, and what it starts in place of a handler. */
export interface Delivery {
  readonly runtime: "nodejs24.x" | "python3.14" | "java25";
  /** AWS_LAMBDA_EXEC_WRAPPER. */
  readonly wrapper: string;
  /** Whether the runtime comes in the shared layer, as there is no Node to run its file. */
  readonly needsLayer: boolean;
}

/** Binaries and static sites run on Node's runtime: there our own one is a file of 60 KB. */
const ON_NODE: Delivery = {
  runtime: "nodejs24.x",
  wrapper: `/var/task/${RUNTIME_FOLDER}/bootstrap.cjs`,
  needsLayer: false,
};

const DELIVERIES: Readonly<Record<Runtime, Delivery>> = {
  node: ON_NODE,
  go: ON_NODE,
  crystal: ON_NODE,
  static: ON_NODE,
  python: { runtime: "python3.14", wrapper: "/opt/tool/runtime", needsLayer: true },
  java: { runtime: "java25", wrapper: "/opt/tool/runtime", needsLayer: true },
};

export function deliveryOf({ runtime }: Inference): Delivery {
  return runtime === undefined ? ON_NODE : DELIVERIES[runtime];
}

/** The sections that speak of deploying, which an answer to a request never depends on: changed, they change no code. */
const ELSEWHERE = [
  "description",
  "profile",
  "regions",
  "function",
  "hooks",
  "environment",
  "dns",
  "stages",
  "actions",
  "alerts",
  "tags",
] as const satisfies (keyof Config)[];

/** The runtime's own files of a deployment. */
export function runtimeFiles(
  config: Config,
  inference: Inference,
  { stage, directory }: { readonly stage: string; readonly directory: string },
): MadeFile[] {
  const staged = forStage(config, stage);
  const served: Config = { ...staged, type: staged.type ?? inference.type };
  for (const section of ELSEWHERE) delete served[section];
  const command = startCommand(staged, inference, directory);
  const deployment: Deployment = {
    config: served,
    stage,
    ...(command !== undefined && { command }),
    ...(inference.environment !== undefined && { environment: inference.environment }),
  };
  const made = (name: string, content: Buffer, isExecutable: boolean): MadeFile => ({
    kind: "made",
    name: `${RUNTIME_FOLDER}/${name}`,
    bytes: content.length,
    content,
    isExecutable,
  });
  const files = [made("deployment.json", Buffer.from(`${JSON.stringify(deployment)}\n`), false)];
  if (!deliveryOf(inference).needsLayer) files.push(made("bootstrap.cjs", readFileSync(bootstrapPath()), true));
  return files;
}

/**
 * What starts the server. The start script itself in place of an inferred `npm start`, where that does no more than run
 * it: npm takes longer to start than most servers, at each cold start.
 */
function startCommand(config: Config, { command }: Inference, directory: string): string | undefined {
  if (command !== "npm start" || config.proxy?.command !== undefined) return command;
  try {
    const { scripts } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8").replace(/^\ufeff/, ""));
    const { prestart, start, poststart } = scripts;
    // npm's own variables are there under npm only, and so is what it looks for in .npmrc.
    if (prestart || poststart || typeof start !== "string" || /npm_|[\r\n]/.test(start)) return command;
    return `export PATH="$PWD/node_modules/.bin:$PATH"; ${start}`;
  } catch {
    return command;
  }
}

/** dist/bin/runtime/bootstrap.cjs. In the bundle import.meta.url is the path of the command's file, in dist/bin/commands. */
function bootstrapPath(): string {
  const here = import.meta.url;
  const file = "../runtime/bootstrap.cjs";
  return here.startsWith("file:")
    ? join(dirname(new URL(here).pathname), "../../bin/runtime/bootstrap.cjs")
    : join(dirname(here), file);
}
