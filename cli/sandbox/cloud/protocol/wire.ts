// The requests and responses on the wire, whatever the protocol.
import type { IncomingHttpHeaders } from "node:http";

export interface WireRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In parts if the operation answers in a stream. */
  readonly body: Uint8Array | string | AsyncIterable<Uint8Array>;
}
