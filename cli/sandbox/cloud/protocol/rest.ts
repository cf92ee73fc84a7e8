// The REST protocols: method, path and query name the operation; the input is in path, query, headers and body.
import { AwsError } from "./error.ts";
import { eventFrame } from "./event-stream.ts";
import { fromJson, toJson } from "./json.ts";
import type { Model, Operation } from "./model.ts";
import type { Shape } from "./shape.ts";
import type { WireRequest, WireResponse } from "./wire.ts";
import { fromText, fromXml, parseXml, toText, toXml } from "./xml.ts";

type Labels = Record<string, string>;

export function matchRest(model: Model, request: WireRequest): { operation: Operation; labels: Labels } {
  const [path = "", query = ""] = request.target.split("?");
  const parameters = new URLSearchParams(query);
  const parts = path.split("/").slice(1);
  const bucket = (model.hasBucketInPath && parts.shift()) || undefined;
  let best: { operation: Operation; labels: Labels; rank: number } | undefined;
  for (const operation of model.operations.values()) {
    const { http } = operation;
    if (http === undefined || http.method !== request.method) continue;
    if ((parameters.get("x-id") ?? operation.name) !== operation.name) continue;
    const hasQuery = http.query.every(
      ([name, value]) => parameters.has(name) && (!value || parameters.get(name) === value),
    );
    const isOfBucket = model.hasBucketInPath && operation.input.members.has("Bucket");
    const labels = hasQuery && isOfBucket === (bucket !== undefined) ? labelsOf(http.segments, parts) : undefined;
    if (labels === undefined) continue;
    if (bucket !== undefined) labels.Bucket = bucket;
    // The one that says most about the request.
    const rank = http.query.length * 100 + http.segments.length - Object.keys(labels).length / 10;
    if (best === undefined || rank > best.rank) best = { operation, labels, rank };
  }
  if (best === undefined) throw new AwsError("UnknownOperationException", `${request.method} ${request.target}`, 404);
  return best;
}

function labelsOf(pattern: readonly string[], path: readonly string[]): Labels | undefined {
  const labels: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    if (!path[i] && !part.endsWith("+}")) return undefined;
    const [, name, greedy] = /^\{([^}+]+)(\+?)\}$/.exec(part) ?? [];
    if (name === undefined) {
      if (part !== path[i]) return undefined;
    } else if (greedy) {
      // With its own slashes, wherever they are.
      labels[name] = path.slice(i).map(decodeURIComponent).join("/");
      return labels[name] === "" ? undefined : labels;
    } else labels[name] = decodeURIComponent(path[i]!);
  }
  const rest = path.slice(pattern.length);
  return rest.every((part) => part === "") ? labels : undefined;
}

export function readRest(model: Model, operation: Operation, labels: Labels, request: WireRequest): unknown {
  const parameters = new URLSearchParams(request.target.split("?")[1] ?? "");
  const input: Record<string, unknown> = {};
  const inBody: string[] = [];
  for (const [name, member] of operation.input.members) {
    const traits = member.traits;
    if (traits.httpLabel) {
      if (labels[name] !== undefined) input[name] = fromText(member, labels[name]);
    } else if (traits.httpQuery !== undefined) {
      const values = parameters.getAll(traits.httpQuery);
      if (values.length > 0) {
        input[name] =
          member.kind === "list" ? values.map((one) => fromText(member.item, one)) : fromText(member, values[0]!);
      }
    } else if (traits.httpHeader !== undefined) {
      const value = request.headers[traits.httpHeader.toLowerCase()];
      if (typeof value !== "string") continue;
      input[name] =
        member.kind === "list"
          ? value.split(",").map((one) => fromText(member.item, one.trim()))
          : fromText(member, value);
    } else if (traits.httpPrefixHeaders !== undefined) {
      const prefix = traits.httpPrefixHeaders.toLowerCase();
      const own = Object.entries(request.headers).filter(([key]) => key.startsWith(prefix));
      input[name] = Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
    } else if (traits.httpPayload) {
      if (request.body.length > 0) input[name] = payloadOf(model, member, request.body);
    } else inBody.push(name);
  }
  if (inBody.length > 0 && request.body.length > 0) {
    const whole = (
      model.protocol === "rest-json"
        ? fromJson(operation.input, JSON.parse(request.body.toString()), true)
        : fromXml(operation.input, parseXml(request.body.toString()))
    ) as Record<string, unknown>;
    for (const name of inBody) if (whole[name] !== undefined) input[name] = whole[name];
  }
  return input;
}

function payloadOf(model: Model, member: Shape, body: Buffer): unknown {
  if (member.isBlob) return body;
  if (member.kind === "string") return body.toString();
  return model.protocol === "rest-json"
    ? fromJson(member, JSON.parse(body.toString()), true)
    : fromXml(member, parseXml(body.toString()));
}

export function writeRest(model: Model, operation: Operation, output: unknown, requestId: string): WireResponse {
  const isJson = model.protocol === "rest-json";
  const { http, output: shape } = operation;
  const headers: Record<string, string> = { "x-amzn-RequestId": requestId, "x-amz-request-id": requestId };
  const values = (output ?? {}) as Record<string, unknown>;
  let status = http?.status ?? 200;
  if (shape.kind === "unit") return { status, headers, body: "" };
  const inBody: Record<string, unknown> = {};
  let body: WireResponse["body"] | undefined;
  for (const [name, member] of shape.members) {
    const value = values[name];
    const traits = member.traits;
    if (value === undefined || value === null) continue;
    if (traits.httpResponseCode) status = value as number;
    else if (traits.httpHeader !== undefined) headers[traits.httpHeader] = toText(member, value, "http-date");
    else if (traits.httpPrefixHeaders !== undefined) {
      for (const [key, one] of Object.entries(value)) headers[traits.httpPrefixHeaders + key] = String(one);
    } else if (traits.httpPayload) {
      if (member.isBlob) {
        body = value as Uint8Array;
        headers["Content-Type"] ??= "application/octet-stream";
      } else if (member.traits.streaming && member.kind === "struct") {
        body = framesOf(member, value as AsyncIterable<Record<string, unknown>>);
        headers["Content-Type"] = "application/vnd.amazon.eventstream";
      } else body = isJson ? JSON.stringify(toJson(member, value, true)) : toXml(rootName(member), member, value);
    } else inBody[name] = value;
  }
  headers["Content-Type"] ??= isJson ? "application/json" : "application/xml";
  body ??= isJson ? JSON.stringify(toJson(shape, inBody, true)) : toXml(rootName(shape), shape, inBody);
  return { status, headers, body: status === 204 ? "" : body };
}

function rootName(shape: Shape): string {
  return shape.traits.xmlName ?? shape.name ?? "Result";
}

export async function* framesOf(union: Shape, events: AsyncIterable<Record<string, unknown>>): AsyncIterable<Buffer> {
  for await (const event of events) {
    for (const [type, value] of Object.entries(event)) {
      const shape = union.members.get(type)!;
      const payload = [...shape.members].find(([, one]) => one.traits.eventPayload);
      yield payload === undefined
        ? eventFrame(type, Buffer.from(JSON.stringify(toJson(shape, value, true))))
        : eventFrame(type, (value as Record<string, Uint8Array>)[payload[0]]!, "application/octet-stream");
    }
  }
}
