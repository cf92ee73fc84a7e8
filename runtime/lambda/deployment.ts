import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "../../grammar/entry.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import { withDefaults } from "../../schema/index.ts";
import { EntryLog, type EntryLogOptions } from "../entries.ts";
import { type Application, createApplication } from "../index.ts";
import { type DeploymentFile, RUNTIME_FOLDER } from "./deployment-file.ts";
import { linesOf, openFunctionLog } from "./function-log.ts";
import type { Sender } from "./sender.ts";
import type { DeployedVariables } from "./variables.ts";

export interface DeploymentOptions {
  readonly directory: string;
  /** Environment of the function. */
  readonly env: NodeJS.ProcessEnv;
  /** Writes to stdout at once: the platform reads lines, and may stop this process right after them. */
  readonly print: (text: string) => void;
  readonly clock: Clock;
}

/** The deployed app behind the pipeline, not started yet, and what sends its entries to the log service. */
export interface LoadedDeployment {
  readonly application: Application;
  /** Undefined if they are printed only. */
  readonly sender: Sender | undefined;
}

/**
 * Rejects if the deployment cannot be read, and with an `InitError` if
 * the variables that are stored for it cannot be.
 */
export async function loadDeployment(options: DeploymentOptions): Promise<LoadedDeployment> {
  const { directory, env, print, clock } = options;
  const path = join(directory, RUNTIME_FOLDER, "deployment.json");
  const { config, stage, command, environment }: DeploymentFile = JSON.parse(await readFile(path, "utf8"));
  const { instance, log, sender, noteBy } = await openFunctionLog({
    ...{ env, clock, print },
    printsAll: config.logs?.cloudwatch !== false,
    // Without a service in tool.json, as in the sandbox, no stream takes the lines from the log.
    sends: config.logs?.delivery !== "firehose" || config.logs.service === undefined,
  });
  const logOptions = {
    stage: env.TOOL_STAGE ?? stage,
    version: env.AWS_LAMBDA_FUNCTION_VERSION ?? "$LATEST",
    ...(env.TOOL_COMMIT !== undefined && { commit: env.TOOL_COMMIT }),
    log,
    clock,
  };
  // If they cannot be read, nothing is sent any more: that is on stdout.
  const printed = { ...logOptions, log: (entries: readonly Entry[]) => print(linesOf(entries)) };
  const variables = env.TOOL_VARIABLES === undefined ? undefined : await storedVariables(config.name, env, printed);
  const application = createApplication({
    ...logOptions,
    instance,
    config: withDefaults(config, { env }),
    directory,
    command,
    env: { ...forApp({ ...env, ...variables?.values }), ...environment },
    // The platform stores lines by the time at which it takes them, and searches by that.
    entryTimes: "now",
    tellsReasons: env.TOOL_SANDBOX_TELLS_REASONS === "1",
  });
  noteBy((level, message, fields) => {
    application.entries.write(level, message, fields);
    // With what is sent next.
    application.entries.flush();
  });
  if (variables !== undefined) {
    const { parts, durationMs } = variables;
    application.entries.write("info", "variables read", { parts, duration: durationMs });
  }
  return { application, sender };
}

/** A failure is written as an entry, too, so that `tool logs` shows it. */
async function storedVariables(
  app: string,
  env: NodeJS.ProcessEnv,
  logOptions: EntryLogOptions,
): Promise<DeployedVariables> {
  const entries = new EntryLog(logOptions);
  // Imported late: functions without a snapshot load none of it.
  const { readVariables } = await import("./variables.ts");
  try {
    return await readVariables(app, env, logOptions.clock);
  } catch (error) {
    entries.write("error", "variables were not read", { reason: (error as Error).message });
    entries.flush();
    throw error;
  }
}

/**
 * An app that talked to the Runtime API would take events away, and its own children would be wrapped again. The token for the
 * log service is not the app's business; code of the same user can still read it in /proc.
 */
function forApp(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_RUNTIME.has(name)));
}

const OF_THE_RUNTIME: ReadonlySet<string> = new Set([
  "AWS_LAMBDA_RUNTIME_API",
  "AWS_LAMBDA_EXEC_WRAPPER",
  "TOOL_VARIABLES",
  "TOOL_LOGS_URL",
  "TOOL_LOGS_TOKEN",
  "TOOL_SANDBOX_TELLS_REASONS",
]);
