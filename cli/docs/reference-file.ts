import { homedir } from "node:os";
import { join } from "node:path";
import type { Io } from "../io.ts";
import { version } from "../version.ts";

/** Path of the reference of this version in the user's cache. */
export function referenceFile(env: Io["env"], name: "tool-json" | "log-service"): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "tool", `${name}-${version}.html`);
}

/**
 * URL of the explanation of codes, with `{code}` for the code: the reference that an organization publishes and names in
 * TOOL_DOCS_URL. Undefined without one, as other machines cannot open the page of this one.
 */
export function publishedReference({ TOOL_DOCS_URL: url }: Io["env"]): string | undefined {
  if (!url) return undefined;
  return url.includes("{code}") ? url : `${url}#{code}`;
}
