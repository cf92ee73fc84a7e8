import { version } from "./version.ts";

/** The program that calls, as services see it: `tool/1.2.0 (linux)`. */
export const userAgent = () => `tool/${version} (${process.platform})`;
