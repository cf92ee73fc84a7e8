// Requests to deployed APIs, by host: an API's own name or a custom domain, through its stage to the function's alias.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Deployment, Integration, RestApi, Stage } from "./cloud/api-gateway.ts";
import { mayInvoke } from "./cloud/lambda/aliases.ts";
import type { World } from "./cloud/world.ts";
import { refuse, serveThroughGateway } from "./function/gateway.ts";

interface Place {
  readonly region: string;
  readonly api: RestApi;
  readonly stage: Stage;
  /** The path after stage or base path. */
  readonly path: string;
  /** Where a custom domain was asked: what its mapping takes of the path. */
  readonly basePath: string | undefined;
}

export async function serveApi(req: IncomingMessage, res: ServerResponse, world: World): Promise<void> {
  const host = (req.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  const place = placeOf(world, host, req.url ?? "/");
  if (place === undefined) return refuse(res, 403, "Forbidden");
  const { api, stage, path } = place;
  const deployment = api.deployments.get(stage.deploymentId);
  const integration = deployment && integrationOf(deployment, path, req.method ?? "GET");
  if (integration === undefined) return refuse(res, 403, "Missing Authentication Token");
  const target = functionOf(integration, stage);
  if (target === undefined) return refuse(res, 500, "Internal server error");
  const { state, runner } = world.service("lambda", target.region);
  const found = state.functions.get(target.name);
  const source = `arn:aws:execute-api:${place.region}:${world.accountId}:${api.id}/${stage.name}/${req.method}${path}`;
  if (found === undefined || !mayInvoke(found, target.qualifier, "apigateway.amazonaws.com", source)) {
    return refuse(res, 500, "Internal server error");
  }
  const query = /\?.*$/.exec(req.url ?? "")?.[0] ?? "";
  await serveThroughGateway(req, res, {
    kind: "rest",
    streams: integration.responseTransferMode === "STREAM",
    stage: stage.name,
    url: `${path}${query}`,
    names: {
      domainName: host,
      apiId: api.id,
      accountId: world.accountId,
      ...(place.basePath !== undefined && { basePath: place.basePath }),
      ...(Object.keys(stage.variables).length > 0 && { stageVariables: stage.variables }),
    },
    target: {
      async invoke(event) {
        const version = state.resolve(found, target.qualifier);
        return runner.invoke(found, version, target.qualifier, event as string);
      },
    },
  });
}

function placeOf(world: World, host: string, url: string): Place | undefined {
  const [path = "/"] = url.split(/[?#]/, 1);
  const [, id, region] = /^([a-z0-9]+)\.execute-api\.([a-z0-9-]+)\.amazonaws\.com$/.exec(host) ?? [];
  if (id !== undefined && region !== undefined) {
    const api = world.service("apigateway", region).apis.get(id);
    const [, name = "", rest = ""] = /^\/([^/]*)(.*)$/.exec(path) ?? [];
    const stage = api?.stages.get(name);
    if (api === undefined || stage === undefined || api.isExecuteApiDisabled) return undefined;
    return { region, api, stage, path: rest || "/", basePath: undefined };
  }
  for (const { region, service } of world.everywhere("apigateway")) {
    const domain = service.domains.get(host);
    if (domain === undefined) continue;
    const [, first = ""] = /^\/([^/]*)/.exec(path) ?? [];
    const base = domain.mappings.has(first) ? first : "(none)";
    const mapping = domain.mappings.get(base);
    const api = service.apis.get(mapping?.restApiId ?? "");
    if (mapping === undefined || api === undefined) return undefined;
    const cut = base === "(none)" ? path : path.slice(first.length + 1) || "/";
    // A mapping without a stage leaves it to the path.
    const [, name = ""] = /^\/([^/]*)/.exec(cut) ?? [];
    const stage = api.stages.get(mapping.stage ?? name);
    if (stage === undefined) return undefined;
    return {
      region,
      api,
      stage,
      path: mapping.stage === undefined ? cut.slice(name.length + 1) || "/" : cut,
      basePath: base === "(none)" ? "" : `/${base}`,
    };
  }
  return undefined;
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
