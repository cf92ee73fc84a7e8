// The address of the cloud: requests by the service that their signature is for, and those without one by their host,
// to the gateway's APIs.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serveApi } from "./execute-api.ts";
import { errorOf, type Failures } from "./failures.ts";
import { type Journal, withoutBytes } from "./journal.ts";
import { AwsError } from "./protocol/error.ts";
import { readRequest, writeError, writeOutput } from "./protocol/exchange.ts";
import type { Model } from "./protocol/model.ts";
import type { WireRequest, WireResponse } from "./protocol/wire.ts";
import { refusalOf } from "./refused-keys.ts";
import { isServiceName, loadModel } from "./services.ts";
import type { Call, Operations, World } from "./world.ts";

export interface Endpoint {
  readonly url: string;
  close(): Promise<void>;
}

export async function listen(world: World, journal: Journal, failures: Failures, port = 0): Promise<Endpoint> {
  const server = createServer((req, res) => {
    void answer(req, res, { world, journal, failures }).catch((error: Error) => {
      process.stderr.write(`stand-in of the cloud: ${error.stack}\n`);
      res.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Context {
  readonly world: World;
  readonly journal: Journal;
  readonly failures: Failures;
}

/** AWS4-HMAC-SHA256 Credential=AKID/20261121/eu-west-1/lambda/aws4_request, ... */
const CREDENTIAL = /Credential=([^/]+)\/\d+\/([^/]+)\/([^/]+)\/aws4_request/;

async function answer(req: IncomingMessage, res: ServerResponse, context: Context): Promise<void> {
  const [, accessKeyId = "", region = "", service = ""] = CREDENTIAL.exec(req.headers.authorization ?? "") ?? [];
  if (service === "") {
    // The one service call that nobody signs.
    if (isFormOf(req)) return callService(req, res, context, "sts", context.world.region, "");
    return serveApi(req, res, context.world);
  }
  if (service === "execute-api") return serveApi(req, res, context.world);
  return callService(req, res, context, service, region, accessKeyId);
}

function isFormOf(req: IncomingMessage): boolean {
  return (
    req.method === "POST" && req.url === "/" && req.headers["content-type"] === "application/x-www-form-urlencoded"
  );
}

async function callService(
  req: IncomingMessage,
  res: ServerResponse,
  { world, journal, failures }: Context,
  service: string,
  region: string,
  accessKeyId: string,
): Promise<void> {
  const body = await bodyOf(req);
  let model: Model | undefined;
  const entry = {
    service,
    operation: "?",
    region,
    input: undefined as unknown,
    at: world.clock.now(),
    outcome: "ok",
    bytes: body.length,
  };
  journal.add(entry);
  try {
    if (!isServiceName(service)) throw new AwsError("UnknownService", `no service ${service} here`, 404);
    model = await loadModel(service);
    const asked = readRequest(model, {
      method: req.method ?? "GET",
      target: req.url ?? "/",
      headers: req.headers,
      body,
    });
    const { operation } = asked;
    entry.operation = operation.name;
    const input = asked.input();
    entry.input = withoutBytes(input);
    const refusal = refusalOf(accessKeyId, service, model.protocol);
    if (refusal !== undefined) throw refusal;
    const failure = failures.meet(service, operation.name, input);
    if (failure?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, failure.delayMs));
    await failure?.run?.();
    if (failure?.drop === "before") {
      entry.outcome = "dropped";
      res.destroy();
      return;
    }
    if (failure?.error !== undefined) throw errorOf(failure.error);
    const call: Call = { region, service, operation: operation.name, accessKeyId };
    const operations: Operations = world.service(service, region).operations;
    const run = operations[operation.name];
    if (run === undefined)
      throw new AwsError("NotImplemented", `the stand-in has no ${service} ${operation.name}`, 501);
    const output = await run(input as never, call);
    if (failure?.drop === "after") {
      entry.outcome = "dropped";
      res.destroy();
      return;
    }
    await send(req, res, writeOutput(model, operation, output));
  } catch (error) {
    if (!(error instanceof AwsError)) {
      entry.outcome = "InternalFailure";
      process.stderr.write(`stand-in of the cloud: ${service} ${entry.operation}: ${(error as Error).stack}\n`);
      await send(req, res, writeError(model, new AwsError("InternalFailure", (error as Error).message, 500)));
      return;
    }
    entry.outcome = error.code;
    await send(req, res, writeError(model, error));
  }
}

async function send(req: IncomingMessage, res: ServerResponse, response: WireResponse): Promise<void> {
  res.writeHead(response.status, response.headers);
  const { body } = response;
  if (req.method === "HEAD") res.end();
  else if (typeof body === "string" || body instanceof Uint8Array) res.end(body);
  else {
    res.flushHeaders();
    for await (const part of body) {
      if (res.destroyed) break;
      res.write(part);
    }
    res.end();
  }
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  return /aws-chunked/.test(req.headers["content-encoding"] ?? "") ? withoutChunks(body) : body;
}

/** Chunks as S3's clients send a stream: a length in hexadecimal, a line break, the bytes, a line break. */
function withoutChunks(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.toString("latin1", at, end), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

export type { WireRequest };
