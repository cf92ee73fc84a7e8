import { RpcError } from "../error.ts";

/** A request of Amazon Data Firehose to an HTTP endpoint. */
export interface FirehoseRequest {
  /** The same when it is sent again. */
  readonly requestId: string;
  /** The decoded bytes of each record. */
  readonly records: readonly Buffer[];
}

/**
 * Reads the body of a request. Throws `bad_request`: Firehose then sends it again, and at last puts its records into the
 * bucket for failures, so that nothing of it is lost.
 *
 * Source: "Understand HTTP endpoint delivery request and response specifications" of the Firehose Developer Guide.
 */
export function readFirehoseRequest(body: Buffer): FirehoseRequest {
  const request = parsed(body);
  const { requestId, records } = request;
  if (typeof requestId !== "string" || requestId === "" || requestId.length > MAX_ID_LENGTH) {
    throw new RpcError("bad_request", `requestId: must be a text of 1 to ${MAX_ID_LENGTH} characters`);
  }
  if (!Array.isArray(records)) throw new RpcError("bad_request", "records: must be a list");
  return { requestId, records: records.map(bytesOf) };
}

function parsed(body: Buffer): Record<string, unknown> {
  // Parsing many millions of empty objects or nested lists would take minutes and gigabytes. Base64 has none of the two.
  if (countOf(body, OPEN_OBJECT) + countOf(body, OPEN_LIST) > MAX_OPENINGS) {
    throw new RpcError("bad_request", `records: must be at most ${MAX_RECORDS}, as Firehose sends them`);
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw new RpcError("bad_request", "the body is not JSON, as Firehose sends it");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new RpcError("bad_request", "the body is not an object with requestId and records, as Firehose sends it");
}

/** Counts a byte, up to a few more than are allowed. */
function countOf(body: Buffer, byte: number): number {
  let count = 0;
  for (let at = body.indexOf(byte); at !== -1 && count <= MAX_OPENINGS; at = body.indexOf(byte, at + 1)) count++;
  return count;
}

const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;

/** By Firehose's schema of a request. */
const MAX_RECORDS = 10_000;

/** The objects of all records, the list and the object around them, and some to spare for what may be added. */
const MAX_OPENINGS = MAX_RECORDS + 1_000;

function bytesOf(record: unknown, index: number): Buffer {
  const data = (record as { data?: unknown } | null)?.data;
  // Node's decoder passes over what is no base64.
  if (typeof data !== "string" || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    throw new RpcError("bad_request", `records[${index}].data: must be base64`);
  }
  return Buffer.from(data, "base64");
}

/** Theirs have 36. */
const MAX_ID_LENGTH = 200;

/**
 * The value of an attribute that the stream sends with each request (header X-Amz-Firehose-Common-Attributes); undefined if there is
 * none.
 */
export function commonAttribute(header: string, name: string): string | undefined {
  if (header === "") return undefined;
  try {
    const value = (JSON.parse(header) as { commonAttributes?: Record<string, unknown> } | null)?.commonAttributes?.[
      name
    ];
    return typeof value === "string" && value !== "" ? value : undefined;
  } catch {
    throw new RpcError("bad_request", "X-Amz-Firehose-Common-Attributes: must be JSON");
  }
}
