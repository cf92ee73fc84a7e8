import { join } from "node:path";
import { readProjectText } from "../../language-server/node-project-file.ts";
import type { Context } from "../context.ts";

/**
 * The credentials profile of the project, else that of the environment. Domains belong to the account and need no project,
 * so tool.json is not checked, and ignored if it cannot be read.
 */
export function accountProfile({ directory, io }: Context): string | undefined {
  return written(directory) ?? (io.env.CLOUD_PROFILE || undefined);
}

function written(directory: string): string | undefined {
  try {
    const { profile } = JSON.parse(readProjectText(join(directory, "tool.json")));
    return typeof profile === "string" ? profile : undefined;
  } catch {
    return undefined;
  }
}
