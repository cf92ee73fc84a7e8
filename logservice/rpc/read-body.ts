import { isUtf8 } from "node:buffer";
import type { Operations } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import type { OperationInput } from "./call.ts";
import { parseExactJson } from "./parse-json.ts";
import { readInput } from "./read-input.ts";
import { scanEvents } from "./scan-events.ts";

/**
 * Reads the input of an operation from the bytes of a body; an empty one is an empty object. A usual batch of events is scanned,
 * all else is parsed. Throws `bad_request` and `invalid`.
 */
export function readBody<Name extends keyof Operations>(name: Name, body: Buffer, nowMs: number): OperationInput<Name> {
  const scanned = name === "add_events" ? scanEvents(body, nowMs) : undefined;
  if (scanned !== undefined) return scanned as OperationInput<Name>;
  const text = bodyText(body);
  return readInput(name, text.trim() === "" ? {} : parseExactJson(text));
}

/** The text of a body. Other encodings than UTF-8 are refused: they would be stored with replacement characters. */
export function bodyText(body: Buffer): string {
  if (!isUtf8(body)) throw new RpcError("bad_request", "the body is not valid UTF-8");
  return body.toString();
}
