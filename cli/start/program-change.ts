import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { RunningServer } from "../../runtime/index.ts";
import { startedFiles } from "../../schema/index.ts";
import type { Context } from "../context.ts";
import { diskDirectory } from "../project/directory.ts";
import { watchFile } from "./watch-file.ts";

/** Programs and flags that start an app again by themselves. */
const RESTARTS = /--watch|\bwatch\b|nodemon|--reload|--hot/;

export interface ProgramWatch {
  readonly say: (text: string) => void;
  readonly server: Pick<RunningServer, "appSinceMs">;
  readonly signal: AbortSignal;
}

/** Says once, when the file that the command starts has changed, that the app still runs the old one. */
export async function tellOfChangedProgram(
  { directory, io: { clock } }: Context,
  command: string | undefined,
  { say, server, signal }: ProgramWatch,
): Promise<void> {
  if (command === undefined) return;
  const disk = diskDirectory(directory);
  const [file] = startedFiles(command, disk).filter((name) => /\.(?:[cm]?js|ts|py|rb)$/.test(name));
  if (file === undefined || RESTARTS.test(command)) return;
  // A script of npm may start it again by itself.
  if (!/^(?:exec )?node /.test(command) && RESTARTS.test(disk.read("package.json") ?? "")) return;
  const once = new AbortController();
  const node = /^(?:exec )?node (.*)$/.exec(command)?.[1];
  const remedy =
    node === undefined
      ? "start tool again to run the new one"
      : `"node --watch ${node}" as stages.development.proxy.command in tool.json runs each new one`;
  const changed = async () => {
    // An app that was down starts with the new file, and may have done so by now.
    const changedMs = await stat(join(directory, file)).then(
      ({ ctimeMs }) => ctimeMs,
      () => undefined,
    );
    const startedMs = server.appSinceMs();
    if (changedMs === undefined || startedMs === undefined || changedMs < startedMs) return true;
    say(`${file} changed, and the app still runs the old one: ${remedy}`);
    once.abort();
    return true;
  };
  await watchFile(join(directory, file), disk.read(file) ?? "", changed, {
    signal: AbortSignal.any([signal, once.signal]),
    clock,
  });
}
