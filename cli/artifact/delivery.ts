import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readProjectText } from "../../language-server/node-project-file.ts";
import { type DeploymentFile, RUNTIME_FOLDER } from "../../runtime/lambda/deployment-file.ts";
import { type Config, forStage, type Inference, type Runtime } from "../../schema/index.ts";
import type { MadeFile } from "./deflate.ts";

/** How the platform runs a deployment: the managed runtime, and what it starts instead of a handler. */
export interface Delivery {
  readonly runtime: "nodejs24.x" | "python3.14" | "java25";
  /** AWS_LAMBDA_EXEC_WRAPPER. */
  readonly wrapper: string;
  /** Whether our runtime is in the shared layer, because there is no Node to run its file. */
  readonly needsLayer: boolean;
}

/** Binaries and static sites use the Node runtime, too: there our own runtime is a file of 200 KB. */
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

/** Sections about deploying, which do not affect responses. They are removed, so that changing them changes no code. */
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

/** The files of our runtime in a deployment. */
export function runtimeFiles(
  config: Config,
  inference: Inference,
  { stage, directory }: { readonly stage: string; readonly directory: string },
): MadeFile[] {
  const staged = forStage(config, stage);
  const served: Config = { ...staged, type: staged.type ?? inference.type };
  for (const section of ELSEWHERE) delete served[section];
  const command = startCommand(staged, inference, directory);
  const deployment: DeploymentFile = {
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
 * The command that starts the server. An inferred `npm start` is replaced by the script itself if npm only runs it: npm
 * takes longer to start than most servers, at each cold start.
 */
function startCommand(config: Config, { command }: Inference, directory: string): string | undefined {
  if (command !== "npm start" || config.proxy?.command !== undefined) return command;
  try {
    const { scripts } = JSON.parse(readProjectText(join(directory, "package.json")).replace(/^\ufeff/, ""));
    const { prestart, start, poststart } = scripts;
    // A script that uses npm's variables needs npm, and so do the scripts before and after it.
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
