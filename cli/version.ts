import { edition } from "./edition.ts";

declare const TOOL_VERSION: string;

/** The version of package.json or of the release, inserted by the bundler; `0.0.0` if the sources run unbundled. */
export const version: string = typeof TOOL_VERSION === "undefined" ? "0.0.0" : TOOL_VERSION;

/** The version as people are told it. The suffix names the edition: it is no pre-release, and not a part of comparisons. */
export const printedVersion: string = edition === "pro" ? `${version}-pro` : version;
