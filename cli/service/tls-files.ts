import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { Context } from "../context.ts";
import { type FailedResult, refused } from "../refused.ts";

export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

type TlsFiles = { readonly ok: true; readonly value: TlsPair | undefined } | FailedResult;

/** The two texts, once they are known to be a certificate and its key; undefined if none are asked for. */
export async function tlsFiles({ directory }: Context, cert?: string, key?: string): Promise<TlsFiles> {
  if (cert === undefined && key === undefined) return { ok: true, value: undefined };
  if (cert === undefined || key === undefined) {
    return refused("TLS needs a certificate and its key", "give --tls-cert and --tls-key");
  }
  const texts: string[] = [];
  for (const file of [cert, key]) {
    try {
      texts.push(await readFile(resolve(directory, file), "utf8"));
    } catch (error) {
      return refused(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
    }
  }
  const pair = { cert: texts[0]!, key: texts[1]! };
  if (!/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(pair.cert)) {
    return refused(`${cert} holds no certificate (PEM)`, "give --tls-cert the certificate's file");
  }
  if (!/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/.test(pair.key)) {
    return refused(`${key} holds no private key (PEM)`, "give --tls-key the file of the certificate's key");
  }
  try {
    createSecureContext(pair);
  } catch (error) {
    return refused(`${cert} and ${key} are not a certificate and its key: ${(error as Error).message}`);
  }
  return { ok: true, value: pair };
}
