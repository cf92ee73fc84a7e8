// API Gateway's REST APIs: resources and methods, what was deployed of them, stages, and domains.
import type {
  GetBasePathMappingsCommandInput,
  GetDomainNameCommandInput,
  GetRestApiCommandInput,
  GetStageCommandInput,
} from "@aws-sdk/client-api-gateway";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

export interface Integration {
  readonly type: string;
  readonly uri: string | undefined;
  readonly httpMethod: string | undefined;
  readonly responseTransferMode: string | undefined;
  readonly timeoutMs: number | undefined;
}

export interface ApiResource {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly pathPart: string;
  readonly methods: Map<string, Integration>;
}

/** The copy of the API that a deployment took; later changes of methods do not touch it. */
export interface Deployment {
  readonly id: string;
  description: string | undefined;
  readonly createdAt: Date;
  /** Integration by method, by path. */
  readonly routes: ReadonlyMap<string, ReadonlyMap<string, Integration>>;
}

export interface Stage {
  readonly name: string;
  deploymentId: string;
  variables: Readonly<Record<string, string>>;
  tags: Readonly<Record<string, string>>;
  settings: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

export interface RestApi {
  readonly id: string;
  name: string;
  description: string | undefined;
  binaryMediaTypes: readonly string[];
  minimumCompressionSize: number | undefined;
  endpointTypes: readonly string[];
  isExecuteApiDisabled: boolean;
  tags: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  readonly rootId: string;
  readonly resources: Map<string, ApiResource>;
  readonly deployments: Map<string, Deployment>;
  readonly stages: Map<string, Stage>;
}

export interface Domain {
  readonly name: string;
  certificateArn: string;
  endpointType: string;
  securityPolicy: string;
  tags: Readonly<Record<string, string>>;
  readonly distribution: string;
  /** By base path; "(none)" for the root. */
  readonly mappings: Map<string, { restApiId: string; stage: string | undefined }>;
}

/** The hosted zone of all distributions. */
export const DISTRIBUTION_ZONE = "Z2FDTNDATAQYW2";

const notFound = (what: string) => new AwsError("NotFoundException", `Invalid ${what} identifier specified`, 404);

export function openApiGateway(world: World, region: string) {
  const apis = world.collection<RestApi>("apigateway", region, "apis");
  const domains = world.collection<Domain>("apigateway", region, "domains");

  const apiById = (id: string | undefined): RestApi => {
    const api = apis.get(id ?? "");
    if (api === undefined) throw notFound(`API`);
    return api;
  };
  const domainNamed = (name: string | undefined): Domain => {
    const domain = domains.get(name ?? "");
    if (domain === undefined) throw new AwsError("NotFoundException", "Invalid domain name identifier specified", 404);
    return domain;
  };

  const operations = {
    GetRestApis: (input: { position?: string; limit?: number }) => {
      const { page, position } = paged([...apis.values()], input);
      return { items: page.map(describedApi), ...position };
    },
    GetRestApi: (input: GetRestApiCommandInput) => describedApi(apiById(input.restApiId)),
    DeleteRestApi(input: GetRestApiCommandInput) {
      apis.delete(apiById(input.restApiId).id);
    },
    GetResources(input: { restApiId?: string; position?: string; limit?: number }) {
      const api = apiById(input.restApiId);
      const { page, position } = paged([...api.resources.values()], input);
      return {
        items: page.map((one) => ({
          id: one.id,
          parentId: one.parentId,
          pathPart: one.pathPart,
          path: resourcePathOf(api, one),
          resourceMethods: Object.fromEntries([...one.methods.keys()].map((method) => [method, {}])),
        })),
        ...position,
      };
    },
    GetStages: (input: { restApiId?: string }) => ({
      item: [...apiById(input.restApiId).stages.values()].map(describedStage),
    }),
    GetStage(input: GetStageCommandInput) {
      const stage = apiById(input.restApiId).stages.get(input.stageName ?? "");
      if (stage === undefined) throw notFound("Stage");
      return describedStage(stage);
    },
    GetDeployments(input: { restApiId?: string; position?: string; limit?: number }) {
      const { page, position } = paged([...apiById(input.restApiId).deployments.values()], input);
      return {
        items: page.map(({ id, description, createdAt }) => ({ id, description, createdDate: createdAt })),
        ...position,
      };
    },
    GetDomainNames(input: { position?: string; limit?: number }) {
      const { page, position } = paged([...domains.values()], input);
      return { items: page.map(describedDomain), ...position };
    },
    GetDomainName: (input: GetDomainNameCommandInput) => describedDomain(domainNamed(input.domainName)),
    GetBasePathMappings: (input: GetBasePathMappingsCommandInput) => ({
      items: Array.from(domainNamed(input.domainName).mappings, ([basePath, mapping]) => ({ basePath, ...mapping })),
    }),
  };
  return { operations, apis, domains, apiById, domainNamed, region };
}

const MAX_ITEMS = 25;

function paged<Item>(items: readonly Item[], input: { position?: string; limit?: number }) {
  const begin = Number(input.position ?? 0);
  const end = begin + (input.limit ?? MAX_ITEMS);
  return { page: items.slice(begin, end), position: end < items.length ? { position: String(end) } : {} };
}

export function resourcePathOf(api: RestApi, resource: ApiResource): string {
  if (resource.parentId === undefined) return "/";
  const parent = resourcePathOf(api, api.resources.get(resource.parentId)!);
  return `${parent === "/" ? "" : parent}/${resource.pathPart}`;
}

function describedApi(api: RestApi) {
  return {
    id: api.id,
    name: api.name,
    ...(api.description !== undefined && { description: api.description }),
    createdDate: api.createdAt,
    binaryMediaTypes: api.binaryMediaTypes,
    ...(api.minimumCompressionSize !== undefined && { minimumCompressionSize: api.minimumCompressionSize }),
    apiKeySource: "HEADER",
    endpointConfiguration: { types: api.endpointTypes },
    disableExecuteApiEndpoint: api.isExecuteApiDisabled,
    rootResourceId: api.rootId,
    tags: api.tags,
  };
}

function describedStage(stage: Stage) {
  return {
    stageName: stage.name,
    deploymentId: stage.deploymentId,
    variables: stage.variables,
    tags: stage.tags,
    createdDate: stage.createdAt,
    cacheClusterEnabled: false,
    tracingEnabled: false,
  };
}

function describedDomain(domain: Domain) {
  return {
    domainName: domain.name,
    certificateArn: domain.certificateArn,
    distributionDomainName: domain.distribution,
    distributionHostedZoneId: DISTRIBUTION_ZONE,
    endpointConfiguration: { types: [domain.endpointType] },
    domainNameStatus: "AVAILABLE",
    securityPolicy: domain.securityPolicy,
    tags: domain.tags,
  };
}
