import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The file of a program: an absolute path or one from the home folder (`~/bin/tool`) as it is, a name looked up in the
 * folders of `PATH` as a shell does. Undefined if no such file can be run. A relative path names none: relative to
 * what would depend on the project.
 */
export async function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const path = name.replace(/^~(?=[\\/])/, env.HOME ?? homedir());
  if (isAbsolute(path)) return (await canRun(path)) ? path : undefined;
  if (/[\\/]/.test(path)) return undefined;
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    // To shells an empty entry is the working folder, but programs in a project's folder must not be run.
    if (!isAbsolute(folder)) continue;
    if (await canRun(join(folder, path))) return join(folder, path);
  }
  return undefined;
}

async function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
