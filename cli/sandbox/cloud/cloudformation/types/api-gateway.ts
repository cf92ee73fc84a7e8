// AWS::ApiGateway::*
import { DISTRIBUTION_ZONE, type Domain, type RestApi, resourcePathOf } from "../../api-gateway.ts";
import { randomId } from "../../random-name.ts";
import {
  badRequest,
  type Properties,
  parseProperties,
  type ResourceContext,
  type ResourceType,
  tagsOf,
  textOrNone,
  texts,
} from "./type.ts";

const gateway = ({ world, region }: ResourceContext) => world.service("apigateway", region);

/** "Stage variable values can contain: alphanumeric characters and -._~:/?#&=,". */
const VARIABLE_VALUE = /^[A-Za-z0-9\-._~:/?#&=,]*$/;

export const restApi: ResourceType = {
  properties: parseProperties(`ApiKeySourceType BinaryMediaTypes[] Body~ BodyS3Location{} CloneFrom Description
    DisableExecuteApiEndpoint& EndpointAccessMode EndpointConfiguration{} FailOnWarnings& MinimumCompressionSize# Mode
    Name Parameters~ Policy~ SecurityPolicy Tags[] Version`),
  durationMs: 3_000,
  attributes: ["RestApiId", "RootResourceId"],
  create(context, properties) {
    if (properties.Name === undefined && properties.Body === undefined)
      throw badRequest("Invalid REST API name specified");
    const root = randomId(10);
    const api: RestApi = {
      id: randomId(10),
      rootId: root,
      createdAt: context.world.clock.date(),
      resources: new Map([[root, { id: root, parentId: undefined, pathPart: "", methods: new Map() }]]),
      deployments: new Map(),
      stages: new Map(),
      ...apiSettings(properties),
    };
    gateway(context).apis.set(api.id, api);
    return api.id;
  },
  update(context, id, properties) {
    Object.assign(gateway(context).apiById(id), apiSettings(properties));
  },
  delete(context, id) {
    const { apis, domains } = gateway(context);
    const users = [...domains.values()].filter(({ mappings }) =>
      [...mappings.values()].some((one) => one.restApiId === id),
    );
    if (users.length > 0) throw badRequest("Please remove all base path mappings related to the API in your domains.");
    apis.delete(id);
  },
  attribute: (context, id, name) => (name === "RestApiId" ? id : gateway(context).apiById(id).rootId),
};

function apiSettings(properties: Properties) {
  const { Types } = (properties.EndpointConfiguration ?? {}) as { Types?: string[] };
  return {
    name: String(properties.Name ?? ""),
    description: textOrNone(properties.Description),
    binaryMediaTypes: texts(properties.BinaryMediaTypes),
    minimumCompressionSize:
      properties.MinimumCompressionSize === undefined ? undefined : Number(properties.MinimumCompressionSize),
    endpointTypes: Types ?? ["EDGE"],
    isExecuteApiDisabled: String(properties.DisableExecuteApiEndpoint) === "true",
    tags: tagsOf(properties.Tags),
  };
}

export const resource: ResourceType = {
  properties: parseProperties("ParentId*! PathPart*! RestApiId*!"),
  durationMs: 2_000,
  attributes: ["ResourceId"],
  create(context, properties) {
    const { resources } = gateway(context).apiById(String(properties.RestApiId));
    const pathPart = String(properties.PathPart);
    const parentId = String(properties.ParentId);
    if (!resources.has(parentId)) throw badRequest("Invalid Resource identifier specified");
    if (!/^(\{[\w.-]+\+?\}|[\w.:-]+)$/.test(pathPart)) {
      throw badRequest(
        "Resource's path part only allow a-zA-Z0-9._-: or a valid greedy path variable and curly braces at the beginning and the end.",
      );
    }
    if ([...resources.values()].some((one) => one.parentId === parentId && one.pathPart === pathPart)) {
      throw badRequest("Another resource with the same parent already has this name: " + pathPart);
    }
    const id = randomId(6);
    resources.set(id, { id, parentId, pathPart, methods: new Map() });
    return id;
  },
  update() {},
  delete(context, id, properties) {
    gateway(context).apis.get(String(properties.RestApiId))?.resources.delete(id);
  },
  attribute: (_context, id) => id,
};

interface MethodIntegration {
  readonly Type?: string;
  readonly Uri?: string;
  readonly IntegrationHttpMethod?: string;
  readonly ResponseTransferMode?: string;
  readonly TimeoutInMillis?: number;
}

const INTEGRATION_KEYS = new Set(
  `CacheKeyParameters CacheNamespace ConnectionId ConnectionType ContentHandling Credentials IntegrationHttpMethod
  IntegrationResponses IntegrationTarget PassthroughBehavior RequestParameters RequestTemplates ResponseTransferMode
  TimeoutInMillis Type Uri`.split(/\s+/),
);

function integrationOf(properties: Properties) {
  const integration = (properties.Integration ?? {}) as MethodIntegration;
  const wrong = Object.keys(integration).find((name) => !INTEGRATION_KEYS.has(name));
  if (wrong !== undefined) throw badRequest(`#/Integration: extraneous key [${wrong}] is not permitted`);
  const {
    Type: type,
    Uri: uri,
    IntegrationHttpMethod: httpMethod,
    ResponseTransferMode: mode,
    TimeoutInMillis: timeout,
  } = integration;
  if (type === undefined) throw badRequest("Enumeration value for type must be non-empty");
  if (!/^(HTTP|HTTP_PROXY|AWS|AWS_PROXY|MOCK)$/.test(type)) throw badRequest("Invalid integration type");
  if (type === "AWS_PROXY") {
    if (httpMethod !== "POST") throw badRequest("Enumeration value for HttpMethod must be non-empty");
    const isStream = mode === "STREAM";
    // "Set the integration URI to the response-streaming-invocations path of Lambda."
    const path = isStream
      ? /^arn:aws:apigateway:[^:]+:lambda:path\/2021-11-15\/functions\/.+\/response-streaming-invocations$/
      : /^arn:aws:apigateway:[^:]+:lambda:path\/2015-03-31\/functions\/.+\/invocations$/;
    if (!path.test(uri ?? "")) throw badRequest("Invalid ARN specified in the request");
  }
  const most = mode === "STREAM" ? 900_000 : 29_000;
  if (timeout !== undefined && (Number(timeout) < 50 || Number(timeout) > most)) {
    throw badRequest(`Timeout should be between 50 ms and ${most} ms`);
  }
  return {
    type,
    uri,
    httpMethod,
    responseTransferMode: mode,
    timeoutMs: timeout === undefined ? undefined : Number(timeout),
  };
}

function putMethod(context: ResourceContext, properties: Properties): string {
  const api = gateway(context).apiById(String(properties.RestApiId));
  const resource = api.resources.get(String(properties.ResourceId));
  if (resource === undefined) throw badRequest("Invalid Resource identifier specified");
  if (properties.AuthorizationType === undefined) throw badRequest("Authorization type must be specified");
  resource.methods.set(String(properties.HttpMethod), integrationOf(properties));
  return `${api.id}|${resource.id}|${properties.HttpMethod}`;
}

export const method: ResourceType = {
  properties:
    parseProperties(`ApiKeyRequired& AuthorizationScopes[] AuthorizationType AuthorizerId HttpMethod*! Integration{}
    MethodResponses[] OperationName RequestModels{} RequestParameters{} RequestValidatorId ResourceId*! RestApiId*!`),
  durationMs: 2_000,
  attributes: [],
  create: putMethod,
  update: (context, _id, properties) => void putMethod(context, properties),
  delete(context, _id, properties) {
    const api = gateway(context).apis.get(String(properties.RestApiId));
    api?.resources.get(String(properties.ResourceId))?.methods.delete(String(properties.HttpMethod));
  },
  attribute: () => undefined,
};

export const deployment: ResourceType = {
  properties: parseProperties("DeploymentCanarySettings!{} Description RestApiId*! StageDescription{} StageName"),
  durationMs: 2_000,
  attributes: ["DeploymentId"],
  create(context, properties) {
    const api = gateway(context).apiById(String(properties.RestApiId));
    const routes = new Map(
      [...api.resources.values()].map((one) => [resourcePathOf(api, one), new Map(one.methods)] as const),
    );
    if ([...routes.values()].every((methods) => methods.size === 0))
      throw badRequest("The REST API doesn't contain any methods");
    const id = randomId(6);
    const createdAt = context.world.clock.date();
    api.deployments.set(id, { id, description: textOrNone(properties.Description), createdAt, routes });
    if (properties.StageName !== undefined) {
      api.stages.set(String(properties.StageName), {
        name: String(properties.StageName),
        deploymentId: id,
        variables: {},
        tags: {},
        settings: {},
        createdAt,
      });
    }
    return id;
  },
  update(context, id, properties) {
    const existing = gateway(context).apiById(String(properties.RestApiId)).deployments.get(id);
    if (existing !== undefined) existing.description = textOrNone(properties.Description);
  },
  delete(context, id, properties) {
    const api = gateway(context).apis.get(String(properties.RestApiId));
    if (api === undefined) return;
    if ([...api.stages.values()].some((stage) => stage.deploymentId === id)) {
      throw badRequest("Active stages pointing to this deployment must be moved or deleted");
    }
    api.deployments.delete(id);
  },
  attribute: (_context, id) => id,
};

function stageSettings(api: RestApi, properties: Properties) {
  const deploymentId = String(properties.DeploymentId);
  if (!api.deployments.has(deploymentId)) throw badRequest("Deployment id does not exist");
  const variables = (properties.Variables ?? {}) as Record<string, string>;
  for (const [name, value] of Object.entries(variables)) {
    if (!/^\w+$/.test(name))
      throw badRequest(`Stage variable name ${name} may only contain alphanumeric characters and _`);
    if (!VARIABLE_VALUE.test(String(value)))
      throw badRequest(`Stage variable value ${value} did not match the required pattern ${VARIABLE_VALUE.source}`);
  }
  return { deploymentId, variables, tags: tagsOf(properties.Tags), settings: properties };
}

export const stage: ResourceType = {
  properties:
    parseProperties(`AccessLogSetting{} CacheClusterEnabled& CacheClusterSize CanarySetting{} ClientCertificateId
    DeploymentId Description DocumentationVersion MethodSettings[] RestApiId*! StageName! Tags[] TracingEnabled&
    Variables{}`),
  durationMs: 3_000,
  attributes: [],
  create(context, properties) {
    const api = gateway(context).apiById(String(properties.RestApiId));
    const name = String(properties.StageName ?? "");
    if (!/^[\w-]{1,128}$/.test(name)) throw badRequest("Stage name only allows a-zA-Z0-9_-");
    if (api.stages.has(name)) throw badRequest(`Stage already exists`);
    api.stages.set(name, { name, createdAt: context.world.clock.date(), ...stageSettings(api, properties) });
    return name;
  },
  update(context, id, properties) {
    const api = gateway(context).apiById(String(properties.RestApiId));
    Object.assign(api.stages.get(id)!, stageSettings(api, properties));
  },
  delete(context, id, properties) {
    const { apis, domains } = gateway(context);
    const isMapped = [...domains.values()].some(({ mappings }) =>
      [...mappings.values()].some((one) => one.restApiId === properties.RestApiId && one.stage === id),
    );
    if (isMapped) throw badRequest("Please remove all base path mappings related to the stage in your domains.");
    apis.get(String(properties.RestApiId))?.stages.delete(id);
  },
  attribute: () => undefined,
};

/** For an edge-optimized domain the certificate is in us-east-1, else where the API is; and it was issued. */
function checkCertificate(context: ResourceContext, name: string, arn: string, isEdge: boolean): void {
  const { world } = context;
  const [, , , region = ""] = arn.split(":");
  if (region !== (isEdge ? "us-east-1" : context.region))
    throw badRequest(
      `Invalid certificate ARN: ${arn}. Certificate must be in '${isEdge ? "us-east-1" : context.region}'.`,
    );
  const certificate = world.service("acm", region).certificates.get(arn);
  const isCovered = certificate?.names.some(
    (one) => one === name || (one.startsWith("*.") && name.split(".").slice(1).join(".") === one.slice(2)),
  );
  if (certificate?.status !== "ISSUED" || !isCovered) {
    throw badRequest(
      `Unable to associate certificate ${arn} with CloudFront. This error may prevent the domain name ${name} from being used in API Gateway for up to 40 minutes. Please ensure the certificate domain name matches the requested domain name, and that this user has permission to call cloudfront:UpdateDistribution on '*' resources.`,
    );
  }
}

function domainSettings(context: ResourceContext, properties: Properties) {
  const { Types: [endpointType = "EDGE"] = [] } = (properties.EndpointConfiguration ?? {}) as { Types?: string[] };
  const isEdge = endpointType === "EDGE";
  const certificateArn = String((isEdge ? properties.CertificateArn : properties.RegionalCertificateArn) ?? "");
  checkCertificate(context, String(properties.DomainName), certificateArn, isEdge);
  return {
    certificateArn,
    endpointType,
    securityPolicy: String(properties.SecurityPolicy ?? "TLS_1_2"),
    tags: tagsOf(properties.Tags),
  };
}

const use = ({ world }: ResourceContext, { certificateArn, name }: Domain, isUsed: boolean) => {
  const inUseBy = world.service("acm", certificateArn.split(":")[3]).certificates.get(certificateArn)?.inUseBy;
  if (isUsed) inUseBy?.add(name);
  else inUseBy?.delete(name);
};

export const domainName: ResourceType = {
  properties:
    parseProperties(`CertificateArn DomainName! EndpointAccessMode EndpointConfiguration{} MutualTlsAuthentication{}
    OwnershipVerificationCertificateArn RegionalCertificateArn RoutingMode SecurityPolicy Tags[]`),
  durationMs: 60_000,
  attributes: [
    "DistributionDomainName",
    "DistributionHostedZoneId",
    "DomainNameArn",
    "RegionalDomainName",
    "RegionalHostedZoneId",
  ],
  create(context, properties) {
    const name = String(properties.DomainName);
    const { domains } = gateway(context);
    if (domains.has(name)) throw badRequest(`The domain name you provided already exists.`);
    const domain: Domain = {
      name,
      distribution: `d${randomId(13)}.cloudfront.net`,
      mappings: new Map(),
      ...domainSettings(context, properties),
    };
    domains.set(name, domain);
    use(context, domain, true);
    return name;
  },
  update(context, id, properties) {
    const domain = gateway(context).domainNamed(id);
    use(context, domain, false);
    Object.assign(domain, domainSettings(context, properties));
    use(context, domain, true);
  },
  delete(context, id) {
    const domain = gateway(context).domains.get(id);
    if (domain !== undefined) use(context, domain, false);
    gateway(context).domains.delete(id);
  },
  attribute(context, id, name) {
    const { distribution } = gateway(context).domainNamed(id);
    if (name === "DistributionHostedZoneId") return DISTRIBUTION_ZONE;
    if (name === "DomainNameArn") return `arn:aws:apigateway:${context.region}::/domainnames/${id}`;
    if (name === "RegionalDomainName")
      return distribution.replace("cloudfront.net", `execute-api.${context.region}.amazonaws.com`);
    return name === "RegionalHostedZoneId" ? "ZLY8HYME6SFDD" : distribution;
  },
};

function putMapping(context: ResourceContext, properties: Properties): string {
  const { mappings, name } = gateway(context).domainNamed(String(properties.DomainName));
  const api = gateway(context).apiById(String(properties.RestApiId));
  const base = String(properties.BasePath || "(none)");
  if (base !== "(none)" && !/^[A-Za-z0-9$\-._+!*'()/]+$/.test(base))
    throw badRequest("API Gateway V1 doesn't support the slash character (/) in base path mappings.");
  if (properties.Stage !== undefined && !api.stages.has(String(properties.Stage)))
    throw badRequest("Invalid stage identifier specified");
  mappings.set(base, { restApiId: api.id, stage: textOrNone(properties.Stage) });
  return `${name}|${base}`;
}

export const basePathMapping: ResourceType = {
  properties: parseProperties("BasePath! DomainName*! RestApiId Stage"),
  durationMs: 2_000,
  attributes: [],
  create(context, properties) {
    const base = String(properties.BasePath || "(none)");
    if (gateway(context).domainNamed(String(properties.DomainName)).mappings.has(base))
      throw badRequest("Base path already exists for this domain name");
    return putMapping(context, properties);
  },
  update: (context, _id, properties) => void putMapping(context, properties),
  delete(context, id) {
    const [domain = "", base = ""] = id.split("|");
    gateway(context).domains.get(domain)?.mappings.delete(base);
  },
  attribute: () => undefined,
};

export const gatewayResponse: ResourceType = {
  properties: parseProperties("ResponseParameters{} ResponseTemplates{} ResponseType*! RestApiId*! StatusCode"),
  durationMs: 2_000,
  attributes: ["Id"],
  create: (_context, properties) => `${properties.RestApiId}-${properties.ResponseType}`,
  update() {},
  delete() {},
  attribute: (_context, id) => id,
};
