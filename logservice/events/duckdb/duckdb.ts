import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance } from "@duckdb/node-api";
import { unloadedPackage } from "../../native-package.ts";

export type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance };

/**
 * DuckDB comes with a binary for each platform and is an optional dependency: it is loaded when the first store is
 * opened, and where it is missing that is said in one sentence.
 */
export async function openDuckDb(path: string, settings: Readonly<Record<string, string>>): Promise<DuckDBInstance> {
  let api: typeof import("@duckdb/node-api");
  try {
    api = await import("@duckdb/node-api");
    await keepByteOrderMarks();
  } catch (error) {
    throw unloadedPackage("@duckdb/node-api", error);
  }
  return api.DuckDBInstance.create(path, { ...settings });
}

/**
 * The driver decodes texts with a TextDecoder that takes a U+FEFF at the beginning of each for a byte order mark and drops
 * it. In an event it is a character like any other, so the decoder is replaced by one that keeps it.
 */
async function keepByteOrderMarks(): Promise<void> {
  const { default: accessors } = (await import("@duckdb/node-api/lib/vectors/dataAccessors.js")) as unknown as {
    default: { textDecoder: InstanceType<typeof TextDecoder> };
  };
  if (!accessors.textDecoder.ignoreBOM) accessors.textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
}

/** A text as a literal. For names of our own files and columns only: what comes from outside is bound. */
export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

export const isOutOfMemory = (error: unknown) => /out of memory/i.test(String(error));
