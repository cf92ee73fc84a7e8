import { isLoopback } from "../../grammar/address/loopback.ts";

export interface Address {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Whether other machines can connect. */
  readonly isExposed: boolean;
}

/**
 * Parses `:3000`, `3000`, `localhost:3000`, `0.0.0.0:3000`, `[::1]:3000`. The default host is loopback, as a development
 * server shows its errors to everyone. Undefined if the text has another form.
 */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([\da-fA-F:.]+(?:%\w+)?)\]:|([^\s:[\]/@]*):)?(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  if (port > 65535) return undefined;
  return { host: host === "" ? "127.0.0.1" : host, port, isExposed: host !== "" && !isLoopback(host) };
}
