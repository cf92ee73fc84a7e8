import { version } from "./version.ts";

/** What services see as the program that calls: `tool/1.2.0 (linux)`. */
export const userAgent = () => `tool/${version} (${process.platform})`;
