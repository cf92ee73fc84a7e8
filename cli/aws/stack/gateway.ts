import { apiName, functionName, hasEdge, partition, stageAlias } from "../names.ts";
import { stageDomain } from "./domains.ts";
import { logicalId } from "./logical-id.ts";
import { type AppStack, type Parts, type Resources, resourceTags, sha256, type TemplateResource } from "./resource.ts";

/**
 * The gateway's timeout for one request. It does not depend on tool.json, so that a changed timeout needs no new deployment,
 * and is above the longest that our function takes (25 s to listen and 25 s to respond). More than 29 s are allowed because
 * responses are streamed.
 */
const TIMEOUT_MS = 60_000;

/** A REST API that passes every path and method to the stage's alias. */
export function apiResources({ name, config, region, accountId }: AppStack): Resources {
  const arn = `arn:${partition(region)}`;
  const target = `${arn}:lambda:${region}:${accountId}:function:${functionName(name)}:\${stageVariables.qualifier}`;
  const any = (about: string, resourceId: unknown): TemplateResource => ({
    Type: "AWS::ApiGateway::Method",
    Properties: {
      RestApiId: { Ref: "Api" },
      ResourceId: resourceId,
      HttpMethod: "ANY",
      AuthorizationType: "NONE",
      Integration: {
        Type: "AWS_PROXY",
        IntegrationHttpMethod: "POST",
        // Streamed responses use their own version and action of the Invoke API.
        Uri: `${arn}:apigateway:${region}:lambda:path/2021-11-15/functions/${target}/response-streaming-invocations`,
        ResponseTransferMode: "STREAM",
        TimeoutInMillis: TIMEOUT_MS,
      },
    },
    Metadata: { tool: { about } },
  });
  return {
    Api: {
      Type: "AWS::ApiGateway::RestApi",
      Properties: {
        Name: apiName(name),
        ...(config.description !== "" && { Description: config.description }),
        // Treats all bodies as bytes. Otherwise the gateway would decode them as UTF-8.
        BinaryMediaTypes: ["*/*"],
        EndpointConfiguration: { Types: [hasEdge(region) ? "EDGE" : "REGIONAL"] },
        Tags: resourceTags({ name, config }),
      },
      Metadata: { tool: { about: "the gateway" } },
    },
    Proxy: {
      Type: "AWS::ApiGateway::Resource",
      Properties: {
        RestApiId: { Ref: "Api" },
        ParentId: { "Fn::GetAtt": ["Api", "RootResourceId"] },
        PathPart: "{proxy+}",
      },
      Metadata: { tool: { about: "every path" } },
    },
    RootMethod: any("every method of /", { "Fn::GetAtt": ["Api", "RootResourceId"] }),
    ProxyMethod: any("every method of every path", { Ref: "Proxy" }),
  };
}

/**
 * A stage of the API: a deployment, which is a snapshot of the API's methods, the stage itself, and the permission to invoke
 * the alias. The permission waits for the first deploy, as the alias has to exist.
 */
export function stageResources(input: AppStack, stage: string, api: Resources, isDeployed: boolean): Partial<Parts> {
  const { name, config, region, accountId } = input;
  const arn = `arn:${partition(region)}`;
  const stageId = logicalId("Stage", stage);
  // A deployment is immutable. A changed API gets a new one, and the stage moves to it before the old one is deleted.
  const { Metadata: _, ...shape } = api.Api!;
  const shapes = [shape.Properties.BinaryMediaTypes, api.Proxy, api.RootMethod, api.ProxyMethod];
  const deploymentId = `${logicalId("Deployment", stage)}V${sha256(JSON.stringify(shapes)).slice(0, 8)}`;
  const domain = stageDomain(config, stage);
  const resources: Resources = {
    [deploymentId]: {
      Type: "AWS::ApiGateway::Deployment",
      Properties: { RestApiId: { Ref: "Api" } },
      DependsOn: ["RootMethod", "ProxyMethod"],
      Metadata: { tool: { stage, about: "deployment of the gateway" } },
    },
    [stageId]: {
      Type: "AWS::ApiGateway::Stage",
      Properties: {
        StageName: stage,
        RestApiId: { Ref: "Api" },
        DeploymentId: { Ref: deploymentId },
        Variables: { qualifier: stageAlias(stage) },
        Tags: resourceTags(input, stage),
      },
      Metadata: { tool: { stage, about: "stage of the gateway" } },
    },
  };
  if (isDeployed) {
    resources[logicalId("Permission", stage)] = {
      Type: "AWS::Lambda::Permission",
      Properties: {
        Action: "lambda:InvokeFunction",
        FunctionName: `${arn}:lambda:${region}:${accountId}:function:${functionName(name)}:${stageAlias(stage)}`,
        Principal: "apigateway.amazonaws.com",
        SourceArn: { "Fn::Sub": `${arn}:execute-api:${region}:${accountId}:\${Api}/${stage}/*` },
      },
      Metadata: { tool: { stage, about: "permission to call the function" } },
    };
  }
  return {
    resources,
    outputs: {
      [stageId]: {
        Description: `Stage ${stage}`,
        Value: JSON.stringify({
          name: stage,
          isOpen: isDeployed,
          ...(domain !== undefined && { domain, path: config.stages[stage]!.path ?? "" }),
        }),
      },
    },
  };
}
