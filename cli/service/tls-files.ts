import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { Context } from "../context.ts";

/** The two texts, once they are known to be a certificate and its key; undefined where none are asked for. */
export async function tlsFiles(
  { directory }: Context,
  cert: string | undefined,
  key: string | undefined,
): Promise<{ cert: string; key: string } | { readonly message: string; readonly hint?: string } | undefined> {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    return { message: "TLS needs a certificate and its key", hint: "give --tls-cert and --tls-key" };
  }
  const texts: string[] = [];
  for (const file of [cert, key]) {
    try {
      texts.push(await readFile(resolve(directory, file), "utf8"));
    } catch (error) {
      return { message: `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}` };
    }
  }
  const pair = { cert: texts[0]!, key: texts[1]! };
  try {
    createSecureContext(pair);
  } catch (error) {
    return { message: `${cert} and ${key} are no certificate and its key: ${(error as Error).message}` };
  }
  return pair;
}
