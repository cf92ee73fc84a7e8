import { homedir } from "node:os";
import { join } from "node:path";
import type { Io } from "../io.ts";
import { version } from "../version.ts";

/** Where the reference of this version is kept, in the user's cache: by name `tool-json` or `log-service`. */
export function referenceFile(env: Io["env"], name: "tool-json" | "log-service"): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "tool", `${name}-${version}.html`);
}

/**
 * Where codes are explained, with `{code}` for the code: the reference that an organisation publishes and names by
 * TOOL_DOCS_URL. Undefined without one: the page of this machine is no address for others.
 */
export function publishedReference({ TOOL_DOCS_URL: url }: Io["env"]): string | undefined {
  if (!url) return undefined;
  return url.includes("{code}") ? url : `${url}#{code}`;
}
