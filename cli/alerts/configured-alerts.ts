import { type Config, type LogAlert, type LogNotification, logParts } from "../../schema/index.ts";
import { parseByLines, plainValue } from "../../schema/json.ts";
import { type ConfigFile, readConfigFile } from "../config-file.ts";
import type { Context } from "../context.ts";
import { diskDirectory } from "../project/directory.ts";

/** The queries, alerts and notifications of tool.json and of the files that `logs.include` names, by name. */
export interface LogsAsCode {
  readonly config: Config;
  readonly queries: ReadonlyMap<string, string>;
  readonly alerts: ReadonlyMap<string, LogAlert>;
  readonly notifications: ReadonlyMap<string, LogNotification>;
}

/** Reads tool.json with the files that it includes. Errors in any of them are printed, and end the command. */
export async function readLogsAsCode(context: Context): Promise<LogsAsCode> {
  return logsAsCode(context, await readConfigFile(context));
}

/** The same of a tool.json that was read. */
export function logsAsCode(context: Context, { config, text }: ConfigFile): LogsAsCode {
  const parts = logParts(parseByLines(text).root, diskDirectory(context.directory)).map(
    (part) => (plainValue(parseByLines(part.text).root!) as Pick<Config, "logs">).logs,
  );
  const all = [config.logs, ...parts];
  return {
    config,
    queries: new Map(all.flatMap((logs) => Object.entries(logs?.queries ?? {}))),
    alerts: new Map(all.flatMap((logs) => Object.entries(logs?.alerts ?? {}))),
    notifications: new Map(all.flatMap((logs) => Object.entries(logs?.notifications ?? {}))),
  };
}
