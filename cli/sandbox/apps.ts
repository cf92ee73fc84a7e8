// Requests to deployed apps: from an address through the stage of an API to the alias of a function.
import type { IncomingMessage, ServerResponse } from "node:http";
import { addressesOf, isOwnHost, namesIn, routeOf, type StageRoute } from "./addresses.ts";
import type { Deployment, Integration, Stage } from "./cloud/api-gateway.ts";
import { mayInvoke } from "./cloud/lambda/aliases.ts";
import { recordThrottle } from "./cloud/lambda/figures.ts";
import type { World } from "./cloud/world.ts";
import { appsPage, FOREIGN_HOST, type PageResponse } from "./front-page.ts";
import { refuse, SERVER, serveThroughGateway } from "./function/gateway.ts";

export interface AppsOptions {
  /** Events say how a request really came, which is http. Otherwise they say https, as it is on the platform. */
  readonly tellsScheme: boolean;
}

/** "Endpoint request timed out" after this, if the integration says nothing else. */
const TIMEOUT_MS = 29_000;

export async function serveApp(
  req: IncomingMessage,
  res: ServerResponse,
  world: World,
  { tellsScheme }: AppsOptions,
): Promise<void> {
  const [host = "", port = String(req.socket.localPort)] = (req.headers.host ?? "").toLowerCase().split(":");
  const route = world.reading(() => routeOf(world, host, req.url ?? "/"));
  if (route === "nothing-here") return refuse(res, 403, "Forbidden");
  if (route === "foreign") return sendPage(req, res, FOREIGN_HOST);
  if (route === "sandbox") {
    const isFront = isOwnHost(host) && /^\/(?:\?|$)/.test(req.url ?? "/");
    const isHtml = /\btext\/html\b/.test(req.headers.accept ?? "");
    const apps = world.reading(() => addressesOf(world, req.socket.localPort ?? 0));
    const url = req.url ?? "/";
    const request = { address: `http://${req.headers.host}${url}`, ...namesIn(host, url) };
    return sendPage(req, res, appsPage(apps, { isHtml, ...(!isFront && { request }) }));
  }
  const times: Times = { begunAt: world.clock.base.monotonicMs() };
  await serveStage(req, res, world, { route, times, ...(tellsScheme && { scheme: { proto: "http", port } }) });
  record(world, route, res, times);
}

interface Times {
  readonly begunAt: number;
  /** When the function was asked. */
  invokedAt?: number;
}

/** "API Gateway metrics": of the API, and of each of its stages. A client that is gone was not answered. */
function record(
  world: World,
  { region, api, stage }: StageRoute,
  res: ServerResponse,
  { begunAt, invokedAt }: Times,
): void {
  if (!res.headersSent) return;
  const now = world.clock.base.monotonicMs();
  const { statusCode } = res;
  const dimensions = [{ ApiName: api.name }, { ApiName: api.name, Stage: stage.name }];
  world.service("monitoring", region).record("AWS/ApiGateway", dimensions, {
    Count: 1,
    "4XXError": statusCode >= 400 && statusCode < 500 ? 1 : 0,
    "5XXError": statusCode >= 500 ? 1 : 0,
    Latency: now - begunAt,
    ...(invokedAt !== undefined && { IntegrationLatency: now - invokedAt }),
  });
}

function sendPage(req: IncomingMessage, res: ServerResponse, { status, type, body }: PageResponse): void {
  req.resume();
  res.writeHead(status, {
    Server: SERVER,
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
  });
  res.end(body);
}

interface RequestContext {
  readonly route: StageRoute;
  readonly times: Times;
  readonly scheme?: { readonly proto: string; readonly port: string };
}

async function serveStage(
  req: IncomingMessage,
  res: ServerResponse,
  world: World,
  { route, times, scheme }: RequestContext,
): Promise<void> {
  const { api, stage, path } = route;
  const deployment = api.deployments.get(stage.deploymentId);
  const integration = deployment && integrationOf(deployment, path, req.method ?? "GET");
  if (integration === undefined) return refuse(res, 403, "Missing Authentication Token");
  const target = functionOf(integration, stage);
  if (target === undefined) return refuse(res, 500, "Internal server error");
  const { state, runner } = world.service("lambda", target.region);
  const lambdaFunction = world.reading(() => state.functions.get(target.name));
  const source = `arn:aws:execute-api:${route.region}:${world.accountId}:${api.id}/${stage.name}/${req.method}${path}`;
  if (
    lambdaFunction === undefined ||
    !mayInvoke(lambdaFunction, target.qualifier, "apigateway.amazonaws.com", source)
  ) {
    return refuse(res, 500, "Internal server error");
  }
  if (lambdaFunction.reservedConcurrency === 0) {
    recordThrottle(state, lambdaFunction.name, target.qualifier);
    return refuse(res, 500, "Internal server error");
  }
  const query = /\?.*$/.exec(req.url ?? "")?.[0] ?? "";
  await serveThroughGateway(req, res, {
    kind: "rest",
    streams: integration.responseTransferMode === "STREAM",
    stage: stage.name,
    url: `${path}${query}`,
    timeoutMs: integration.timeoutMs ?? TIMEOUT_MS,
    clock: world.clock.base,
    ...(scheme && { scheme }),
    names: {
      domainName: route.domainName,
      apiId: api.id,
      accountId: world.accountId,
      ...(route.basePath !== undefined && { basePath: route.basePath }),
      ...(route.prefix !== undefined && { prefix: route.prefix }),
      ...(Object.keys(stage.variables).length > 0 && { stageVariables: stage.variables }),
    },
    target: {
      async invoke(event) {
        times.invokedAt = world.clock.base.monotonicMs();
        const version = state.resolve(lambdaFunction, target.qualifier);
        return runner.invoke(lambdaFunction, version, target.qualifier, event as string);
      },
    },
  });
}

function integrationOf(deployment: Deployment, path: string, method: string): Integration | undefined {
  const route = deployment.routes.get(path) ?? (path === "/" ? undefined : deployment.routes.get("/{proxy+}"));
  return route?.get(method) ?? route?.get("ANY");
}

const FUNCTION =
  /functions\/arn:aws:lambda:([^:]+):\d+:function:([\w-]+)(?::([\w$-]+))?\/(?:invocations|response-streaming-invocations)$/;

/** The function that the integration's URI names, with the stage's variables in their places. */
function functionOf(integration: Integration, stage: Stage) {
  const uri = integration.uri?.replaceAll(/\$\{stageVariables\.(\w+)\}/g, (_, name) => stage.variables[name] ?? "");
  const [, region, name, qualifier] = FUNCTION.exec(uri ?? "") ?? [];
  return region === undefined || name === undefined ? undefined : { region, name, qualifier };
}
