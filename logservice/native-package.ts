import { OperatorError } from "./error.ts";

/**
 * An error for a package with a binary for each platform that cannot be loaded: an installation may be without it. `cause` is the
 * reason, left out if it says only that the package is missing.
 */
export function unloadedPackage(name: string, cause: unknown): OperatorError {
  const message = `the log service needs the package ${name}, which is not installed here or has no binary for ${process.platform} on ${process.arch}`;
  const hint = "install tool with its log service (with npm without --omit=optional; not tool-cli)";
  const isMissing = /^Cannot find (?:module|package) /.test((cause as Error).message);
  return new OperatorError(message, { hint, ...(!isMissing && { cause }) });
}
