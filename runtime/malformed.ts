// Requests that are refused before there is anything to route: not HTTP, or HTTP that two readers could read in two ways
// (RFC 9112, section 11.2), so that what the proxy sees might not be what the app sees.
import type { IncomingMessage } from "node:http";
import { isAuthority, targetProblem } from "./request-target.ts";

export interface Malformed {
  readonly status: number;
  /** The reason phrase. */
  readonly text: string;
  /** For the log. */
  readonly reason: string;
}

/** Longer ones get 414. RFC 9110, section 4.1 requires at least 8,000; Node's servers accept up to 16 KB in all. */
const MAX_TARGET_BYTES = 15 * 1024;

/** All header lines together; more get 431. The limit of Node's own server: an app would refuse more as well. */
const MAX_HEADERS_BYTES = 16 * 1024;

/** How much of a head is read before it is given up: both limits, so that usually one of them says what is too long. */
export const PARSED_HEAD_BYTES = 32 * 1024;

/** The defect of a request that the parser accepted; undefined if it has none. */
export function malformation(req: IncomingMessage): Malformed | undefined {
  const { rawHeaders, headers } = req;
  const target = req.url!;
  if (target.length > MAX_TARGET_BYTES) return targetTooLong(`the target has ${target.length} bytes`);
  let bytes = 0;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    // The colon, a blank and the line's end.
    bytes += name.length + rawHeaders[i + 1]!.length + 4;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (bytes > MAX_HEADERS_BYTES) return headersTooLong(`the headers have ${bytes} bytes`);

  const problem = targetProblem(req.method!, target);
  if (problem !== undefined) return badRequest(problem);
  if (hosts > 1) return badRequest("there is more than one Host");
  if (hosts === 0 && req.httpVersion === "1.1") return badRequest("there is no Host");
  if (!isAuthority(headers.host ?? "")) return badRequest("the Host is not a host");
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  if (req.httpVersion !== "1.1") return badRequest("HTTP/1.0 has no Transfer-Encoding");
  if (!/(?:^|,)\s*chunked\s*$/i.test(coding)) return badRequest("nothing says where the body ends");
  return coding.trim().toLowerCase() === "chunked"
    ? undefined
    : { status: 501, text: "Not Implemented", reason: `the Transfer-Encoding ${coding} is not known` };
}

/** An error of Node's parser, with the packet that it read and how much of it. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

/** The defect that an error of the parser means. */
export function malformedBy(error: ParserError): Malformed {
  const reason = error.code ?? error.message;
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW": {
      const parsed = error.rawPacket?.toString("latin1", 0, error.bytesParsed) ?? "";
      // The target has not ended. If its beginning was read earlier, it looks like a header.
      return /^[A-Z-]+ [!-~]*$/.test(parsed) ? targetTooLong(reason) : headersTooLong(reason);
    }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, text: "Payload Too Large", reason };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, text: "Request Timeout", reason };
    default:
      return badRequest(reason);
  }
}

function badRequest(reason: string): Malformed {
  return { status: 400, text: "Bad Request", reason };
}

function targetTooLong(reason: string): Malformed {
  return { status: 414, text: "URI Too Long", reason };
}

function headersTooLong(reason: string): Malformed {
  return { status: 431, text: "Request Header Fields Too Large", reason };
}
