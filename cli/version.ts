declare const TOOL_VERSION: string;

/** The version of package.json, inserted by the bundler; `0.0.0` if the sources run unbundled. */
export const version: string = typeof TOOL_VERSION === "undefined" ? "0.0.0" : TOOL_VERSION;
