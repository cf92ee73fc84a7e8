import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance } from "@duckdb/node-api";

export type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance };

/**
 * DuckDB comes with a binary for each platform and is an optional dependency: it is loaded when the first store is
 * opened, and where it is missing that is said in one sentence.
 */
export async function openDuckDb(path: string, settings: Readonly<Record<string, string>>): Promise<DuckDBInstance> {
  let api: typeof import("@duckdb/node-api");
  try {
    api = await import("@duckdb/node-api");
  } catch (error) {
    throw new Error(
      `the events store needs @duckdb/node-api, which has no binary here (${process.platform} ${process.arch}): install it with npm install @duckdb/node-api`,
      { cause: error },
    );
  }
  return api.DuckDBInstance.create(path, { ...settings });
}

/** A text as a literal. For names of our own files and columns only: what comes from outside is bound. */
export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

export const isOutOfMemory = (error: unknown) => /out of memory/i.test(String(error));
