// The address of the sandbox: calls to services, by the service that their signature is for, and all else to the apps.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isOwnHost } from "./addresses.ts";
import { type FunctionKey, isOfFunction } from "./cloud/function-keys.ts";
import { AwsError } from "./cloud/protocol/error.ts";
import { readRequest, writeOutput, writeServiceError } from "./cloud/protocol/exchange.ts";
import type { Model } from "./cloud/protocol/model.ts";
import type { WireResponse } from "./cloud/protocol/wire.ts";
import { isServiceName, loadModel } from "./cloud/services.ts";
import type { OperationContext, Operations, World } from "./cloud/world.ts";
import { authenticateFunction, authorizeFunction, unknownKey } from "./function-access.ts";
import { type CredentialScope, credentialScopeOf, type SignedRequest } from "./signature.ts";

export interface SandboxServerOptions {
  readonly world: World;
  /**
   * Whether a key may call at all: without it the body of a request is not even read. Those of functions are the server's
   * own affair, here and in `authenticate`.
   */
  readonly knows?: (accessKeyId: string) => boolean;
  /** Whether the signer of a request may call; throws an `AwsError` otherwise. */
  readonly authenticate: (request: SignedRequest, scope: CredentialScope) => void;
  /** Answers the calls of the command to the sandbox itself, which are JSON. */
  readonly control?: (operation: string, input: Readonly<Record<string, unknown>>) => object | Promise<object>;
  /** Answers what is no call to a service. */
  readonly serveApp: (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  /** 127.0.0.1 at any free port if it is absent. */
  readonly port?: number;
  /** Sees every call, and may have one fail. */
  readonly watch?: (call: BegunCall) => CallWatcher;
  /** Service, region and key of a call that nobody signed; undefined if it is for the apps. */
  readonly unsigned?: (req: IncomingMessage) => CredentialScope | undefined;
  /** Gets what is a bug of the sandbox. */
  readonly report: (text: string) => void;
}

export interface BegunCall {
  readonly scope: CredentialScope;
  readonly bodyBytes: number;
}

export interface CallWatcher {
  /** Once it is known what is asked. May throw what the service would answer; `cut` closes the connection. */
  onCall(operation: string, input: unknown, model: Model): Promise<"cut-before" | "cut-after" | undefined>;
  /** "ok", the code of an error, or "dropped" if the connection was cut. */
  onEnd(outcome: string): void;
}

export interface Endpoint {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects if the port is taken. */
export async function startSandboxServer(options: SandboxServerOptions): Promise<Endpoint> {
  const server = createServer((req, res) => {
    void answer(req, res, options).catch((error: Error) => {
      options.report(String(error.stack));
      res.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  options.world.answersAt(url);
  return {
    url,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(req: IncomingMessage, res: ServerResponse, options: SandboxServerOptions): Promise<void> {
  const scope = credentialScopeOf(req.headers) ?? options.unsigned?.(req);
  // Clients may sign requests to an API, too.
  if (scope === undefined || scope.service === "execute-api") return options.serveApp(req, res);
  if (!isOwnHost((req.headers.host ?? "").replace(/:\d+$/, ""))) {
    const refusal = new AwsError("InvalidHost", "Services are called at 127.0.0.1 or localhost only.", 403);
    return refuse(req, res, refusal);
  }
  if (isOfFunction(scope.accessKeyId)) return answerFunction(req, res, scope, options);
  if (options.knows?.(scope.accessKeyId) === false) {
    const refusal = new AwsError("InvalidClientTokenId", "The access key is not that of this sandbox.", 403);
    return refuse(req, res, refusal);
  }
  return scope.service === CONTROL ? callControl(req, res, scope, options) : callService(req, res, { scope }, options);
}

/** Ten names of parameters are some 20 KB at most. */
const MAX_BODY_OF_FUNCTION_BYTES = 64 * 1024;

/** A call with the keys of an execution environment. */
async function answerFunction(
  req: IncomingMessage,
  res: ServerResponse,
  scope: CredentialScope,
  options: SandboxServerOptions,
) {
  const key = options.world.functionKeys.find(scope.accessKeyId);
  if (key === undefined) return refuse(req, res, unknownKey());
  if (scope.service === CONTROL) {
    const refusal = new AwsError("AccessDeniedException", "A function has no access to the sandbox itself.", 403);
    return refuse(req, res, refusal);
  }
  const isBounded = req.headers["transfer-encoding"] === undefined;
  if (!isBounded || Number(req.headers["content-length"] ?? 0) > MAX_BODY_OF_FUNCTION_BYTES) {
    return refuse(req, res, new AwsError("RequestEntityTooLarge", "The request is too large for a function.", 413));
  }
  return callService(req, res, { scope, functionKey: key }, options);
}

/** Without reading what the client still sends. */
async function refuse(req: IncomingMessage, res: ServerResponse, refusal: AwsError): Promise<void> {
  res.once("finish", () => req.destroy());
  res.setHeader("Connection", "close");
  await send(req, res, writeServiceError(undefined, refusal));
}

/** The service in signatures of calls to the sandbox itself, whose path is the operation. */
const CONTROL = "sandbox";

async function callControl(
  req: IncomingMessage,
  res: ServerResponse,
  scope: CredentialScope,
  { authenticate, control, report }: SandboxServerOptions,
): Promise<void> {
  const body = await bytesOf(req);
  const target = req.url ?? "/";
  try {
    authenticate({ method: req.method ?? "GET", target, headers: req.headers, body }, scope);
    if (control === undefined) throw new AwsError("NotImplemented", "there is nothing to control here", 501);
    const output = await control(target.slice(1), JSON.parse(body.toString() || "{}"));
    const headers = { "Content-Type": "application/json" };
    await send(req, res, { status: 200, headers, body: JSON.stringify(output) });
  } catch (error) {
    if (!(error instanceof AwsError)) report(`${target}: ${(error as Error).stack}`);
    const awsError = error instanceof AwsError ? error : new AwsError("InternalFailure", (error as Error).message, 500);
    await send(req, res, writeServiceError(undefined, awsError));
  }
}

interface Caller {
  readonly scope: CredentialScope;
  /** Undefined for everybody who is no function. */
  readonly functionKey?: FunctionKey;
}

async function callService(
  req: IncomingMessage,
  res: ServerResponse,
  { scope, functionKey }: Caller,
  { world, authenticate, watch, report }: SandboxServerOptions,
): Promise<void> {
  const { service, region, accessKeyId } = scope;
  const rawBody = await bytesOf(req);
  const body = /aws-chunked/.test(req.headers["content-encoding"] ?? "") ? withoutChunks(rawBody) : rawBody;
  const watcher = watch?.({ scope, bodyBytes: body.length });
  let model: Model | undefined;
  try {
    if (!isServiceName(service)) throw new AwsError("UnknownService", `no service ${service} here`, 404);
    model = loadModel(service);
    const request = { method: req.method ?? "GET", target: req.url ?? "/", headers: req.headers, body };
    const signedRequest = { ...request, body: rawBody };
    if (functionKey === undefined) authenticate(signedRequest, scope);
    else authenticateFunction(signedRequest, scope, functionKey, world.clock.base.nowMs());
    const operationRequest = readRequest(model, request);
    const { operation } = operationRequest;
    const input = operationRequest.input();
    const cut = await watcher?.onCall(operation.name, input, model);
    if (cut === "cut-before") {
      watcher?.onEnd("dropped");
      res.destroy();
      return;
    }
    if (functionKey !== undefined) {
      authorizeFunction(world, functionKey, { service, region, operation: operation.name, input });
    }
    const call: OperationContext = { region, service, operation: operation.name, accessKeyId };
    const operations: Operations = world.service(service, region).operations;
    const run = operations[operation.name];
    if (run === undefined) throw new AwsError("NotImplemented", `the sandbox has no ${service} ${operation.name}`, 501);
    const output = await world.run(operation.name, () => run(input as never, call));
    if (cut === "cut-after") {
      watcher?.onEnd("dropped");
      res.destroy();
      return;
    }
    watcher?.onEnd("ok");
    await send(req, res, writeOutput(model, operation, output));
  } catch (error) {
    if (error instanceof AwsError) {
      watcher?.onEnd(error.code);
      await send(req, res, writeServiceError(model, error));
      return;
    }
    watcher?.onEnd("InternalFailure");
    report(`${service}: ${(error as Error).stack}`);
    await send(req, res, writeServiceError(model, new AwsError("InternalFailure", (error as Error).message, 500)));
  }
}

async function send(req: IncomingMessage, res: ServerResponse, response: WireResponse): Promise<void> {
  res.writeHead(response.status, { Server: "tool-sandbox", ...response.headers });
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

/** More than any archive that a function may have. */
const MAX_BODY_BYTES = 400 * 1024 * 1024;

async function bytesOf(req: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of req) {
    bytes += (part as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new AwsError("RequestEntityTooLarge", "The request is too large.", 413);
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
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
