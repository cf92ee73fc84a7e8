// Where deployed apps answer, all on one port: by host, or below /_app/ if their names do not resolve on this machine.
import type { Domain, RestApi, Stage } from "./cloud/api-gateway.ts";
import type { World } from "./cloud/world.ts";

/** A stage that a request is for. */
export interface StageRoute {
  readonly region: string;
  readonly api: RestApi;
  readonly stage: Stage;
  /** The path that the API sees. */
  readonly path: string;
  /** Name of the host in the event. It decides whether the runtime adds the prefix to redirects and cookies. */
  readonly domainName: string;
  /** The prefix of the path in the mapping of a domain; the app sees it. */
  readonly basePath?: string;
  /** The prefix of the path in the address; the app does not see it. */
  readonly prefix?: string;
}

/** The kind of a host that names no stage. */
export type UnmatchedHost =
  /** A name of the gateway or a domain of the account, with nothing there. */
  | "nothing-here"
  /** A name of this machine. */
  | "sandbox"
  /** A name that belongs to somebody else: a page of that name, which resolves to this machine, must learn nothing. */
  | "foreign";

/** The stage that a host and a URL are for. */
export function routeOf(world: World, host: string, url: string): StageRoute | UnmatchedHost {
  const [path = "/"] = url.split(/[?#]/, 1);
  const [, id, region, domain] =
    /^([a-z0-9]+)\.execute-api\.([a-z0-9-]+)\.(amazonaws\.com|localhost)$/.exec(host) ?? [];
  if (id !== undefined && region !== undefined) {
    const route = routeOfApi(world, { id, region, path, host });
    return route ?? (domain === "localhost" ? "sandbox" : "nothing-here");
  }
  if (isOwnHost(host)) {
    const [, app, stage, rest = ""] = /^\/_app\/([^/]+)\/([^/]+)(.*)$/.exec(path) ?? [];
    const target = app === undefined || stage === undefined ? undefined : stageOf(world, app, stage);
    if (target === undefined) return "sandbox";
    const domainName = `${target.api.id}.execute-api.${target.region}.localhost`;
    return { ...target, path: rest || "/", domainName, prefix: `/_app/${app}/${stage}` };
  }
  const [, stage, app] = /^([^.]+)\.([^.]+)\.localhost$/.exec(host) ?? [];
  const target = app === undefined || stage === undefined ? undefined : stageOf(world, app, stage);
  if (target !== undefined) return { ...target, path, domainName: host, basePath: "" };
  for (const { region, service } of world.everywhere("apigateway")) {
    const domain = service.domains.get(host);
    if (domain !== undefined) return routeOfDomain(region, service.apis, domain, path) ?? "nothing-here";
  }
  return host.endsWith(".localhost") ? "sandbox" : "foreign";
}

/** The app, and the stage if there is one, that an address of the sandbox is spelled for, deployed or not. */
export function namesIn(host: string, url: string): { readonly app: string; readonly stage?: string } | undefined {
  const [path = "/"] = url.split(/[?#]/, 1);
  const { app, stage } =
    (isOwnHost(host)
      ? /^\/_app\/(?<app>[^/]+)(?:\/(?<stage>[^/]+))?/.exec(path)
      : /^(?:(?<stage>[^.]+)\.)?(?<app>[^.]+)\.localhost$/.exec(host)
    )?.groups ?? {};
  return app === undefined ? undefined : { app, ...(stage !== undefined && { stage }) };
}

/**
 * Whether a host is a name of the sandbox itself. Not all of loopback: it listens on 127.0.0.1 alone, the names below localhost
 * are apps, and a web page whose name was made to lead here has another.
 */
export const isOwnHost = (host: string) => host === "127.0.0.1" || host === "localhost";

/** The name of the API is the app's. */
function stageOf(world: World, app: string, stage: string) {
  for (const { region, service } of world.everywhere("apigateway")) {
    const api = service.apis.find(({ name, stages }) => name === app && stages.has(stage));
    if (api !== undefined) return { region, api, stage: api.stages.get(stage)! };
  }
  return undefined;
}

interface ApiAddress {
  readonly id: string;
  readonly region: string;
  readonly path: string;
  readonly host: string;
}

function routeOfApi(world: World, { id, region, path, host }: ApiAddress): StageRoute | undefined {
  const api = world.service("apigateway", region).apis.get(id);
  const [name, rest] = cut(path);
  const stage = api?.stages.get(name);
  if (api === undefined || stage === undefined || api.isExecuteApiDisabled) return undefined;
  return { region, api, stage, path: rest, domainName: host };
}

function routeOfDomain(
  region: string,
  apis: { get(id: string): RestApi | undefined },
  domain: Domain,
  path: string,
): StageRoute | undefined {
  const [first, below] = cut(path);
  const base = domain.mappings.has(first) ? first : "(none)";
  const mapping = domain.mappings.get(base);
  const api = apis.get(mapping?.restApiId ?? "");
  if (mapping === undefined || api === undefined) return undefined;
  const mapped = base === "(none)" ? path : below;
  // A mapping without a stage leaves it to the path.
  const [name, rest] = cut(mapped);
  const stage = api.stages.get(mapping.stage ?? name);
  if (stage === undefined) return undefined;
  return {
    region,
    api,
    stage,
    path: mapping.stage === undefined ? rest : mapped,
    domainName: domain.name,
    basePath: base === "(none)" ? "" : `/${base}`,
  };
}

/** The first segment of a path, and what follows it. */
function cut(path: string): [first: string, rest: string] {
  const [, first = "", rest = ""] = /^\/([^/]*)(.*)$/.exec(path) ?? [];
  return [first, rest || "/"];
}

export interface AppAddress {
  readonly app: string;
  readonly stage: string;
  /** The name that browsers resolve everywhere, and the address that needs no name. */
  readonly urls: readonly [named: string, below: string];
  /** Custom domains; nothing but a Host header with the name leads to them here. */
  readonly domains: readonly { readonly name: string; readonly url: string }[];
}

/** All stages of all apps, by name. */
export function addressesOf(world: World, port: number): AppAddress[] {
  const addresses = world.everywhere("apigateway").flatMap(({ service }) =>
    [...service.apis.values()].flatMap((api) =>
      Array.from(api.stages.keys(), (stage): AppAddress => {
        const domains = [...service.domains.values()].flatMap(({ name, mappings }) =>
          [...mappings]
            .filter(([, one]) => one.restApiId === api.id && one.stage === stage)
            .map(([base]) => ({ name, url: `http://127.0.0.1:${port}/${base === "(none)" ? "" : base}` })),
        );
        return {
          app: api.name,
          stage,
          urls: [
            `http://${stage}.${api.name}.localhost:${port}/`,
            `http://127.0.0.1:${port}/_app/${api.name}/${stage}/`,
          ],
          domains,
        };
      }),
    ),
  );
  const keyOf = ({ app, stage }: AppAddress) => `${app}/${stage}`;
  return addresses.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
