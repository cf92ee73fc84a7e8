import type { IncomingMessage } from "node:http";
import { readJson, readLines, readPlainLines } from "../http/read-lines.ts";
import { sendJson } from "../http/send.ts";
import type { ProjectMode } from "../records/projects.ts";
import { append, reportOf } from "../rpc/append.ts";
import { bodyText } from "../rpc/read-body.ts";
import type { GrantedAnswer } from "./exchange.ts";
import { batchKeyOf, bodyType, expectType, idempotencyKeyOf } from "./headers.ts";
import type { RouteState } from "./state.ts";

/** Answers `POST /ingest/:project`, which stores each line of its body as an event, or each object of a JSON list. */
export function ingestAnswer({ service, bodies }: RouteState): GrantedAnswer {
  return async (request, response, grant, signal) => {
    expectType(request, LINE_TYPES);
    const idempotencyKey = idempotencyKeyOf(request);
    const { project } = (request as IncomingMessage & { params: { project: string } }).params;
    const report = await bodies.receive(request, signal, async (body) => {
      signal.throwIfAborted();
      const text = bodyText(body);
      const nowMs = service.nowMs();
      const readParsed = bodyType(request) === "application/json" ? readJson : readLines;
      const read = (mode: ProjectMode) => (mode === "plain_text" ? readPlainLines : readParsed)(text, nowMs);
      return reportOf(await append(service, { grant, project }, read, batchKeyOf(idempotencyKey, body)));
    });
    sendJson(response, 200, report);
  };
}

const LINE_TYPES = [
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/json-lines",
  "application/json",
  "text/plain",
];
