// AWS::Lambda::*
import type { CreateFunctionCommandInput } from "@aws-sdk/client-lambda";
import { zipOf } from "../../lambda/zip.ts";
import {
  ignoreNotFound,
  type Properties,
  parseProperties,
  type ResourceContext,
  type ResourceType,
  tagsOf,
  textOrNone,
} from "./type.ts";

const lambda = ({ world, region }: ResourceContext) => world.service("lambda", region);

export const permission: ResourceType = {
  properties:
    parseProperties(`Action*! EventSourceToken! FunctionName*! FunctionUrlAuthType! InvokedViaFunctionUrl!& Principal*!
    PrincipalOrgID! SourceAccount! SourceArn!`),
  durationMs: 2_000,
  attributes: ["Id"],
  create(context, properties) {
    const id = context.uniqueName(100);
    lambda(context).operations.AddPermission({
      FunctionName: String(properties.FunctionName),
      StatementId: id,
      Action: String(properties.Action),
      Principal: String(properties.Principal),
      ...(properties.SourceArn !== undefined && { SourceArn: String(properties.SourceArn) }),
      ...(properties.SourceAccount !== undefined && { SourceAccount: String(properties.SourceAccount) }),
    });
    return id;
  },
  update() {},
  delete: (context, id, properties) =>
    ignoreNotFound(() =>
      lambda(context).operations.RemovePermission({ FunctionName: String(properties.FunctionName), StatementId: id }),
    ),
  attribute: (_context, id) => id,
};

function configurationOf(properties: Properties) {
  const { Variables } = (properties.Environment ?? {}) as { Variables?: Record<string, unknown> };
  const variables = Object.fromEntries(Object.entries(Variables ?? {}).map(([name, value]) => [name, String(value)]));
  return {
    Role: String(properties.Role),
    Handler: textOrNone(properties.Handler),
    Runtime: textOrNone(properties.Runtime) as CreateFunctionCommandInput["Runtime"],
    Description: textOrNone(properties.Description),
    Timeout: properties.Timeout === undefined ? undefined : Number(properties.Timeout),
    MemorySize: properties.MemorySize === undefined ? undefined : Number(properties.MemorySize),
    Layers: properties.Layers as string[] | undefined,
    Environment: { Variables: variables },
  };
}

function codeOf(properties: Properties) {
  const code = properties.Code as { ZipFile?: string; S3Bucket?: string; S3Key?: string };
  if (code.ZipFile === undefined) return { S3Bucket: code.S3Bucket, S3Key: code.S3Key };
  // "When you specify source inline, CloudFormation places it in a file named index."
  const name = /^python/.test(String(properties.Runtime)) ? "index.py" : "index.js";
  return { ZipFile: zipOf({ [name]: code.ZipFile }) };
}

export const lambdaFunction: ResourceType = {
  properties:
    parseProperties(`Architectures[] CapacityProviderConfig{} Code*{} CodeSigningConfigArn DeadLetterConfig{} Description
    DurableConfig?{} Environment{} EphemeralStorage{} FileSystemConfigs[] FunctionName! FunctionScalingConfig{} Handler
    ImageConfig{} KmsKeyArn Layers[] LoggingConfig{} MemorySize# PackageType! PublishToLatestPublished& RecursiveLoop
    ReservedConcurrentExecutions# Role* Runtime RuntimeManagementConfig{} SnapStart{} Tags[] TenancyConfig!{} Timeout#
    TracingConfig{} VpcConfig{}`),
  durationMs: 5_000,
  attributes: ["Arn", "SnapStartResponse"],
  create(context, properties) {
    const name = String(properties.FunctionName ?? context.uniqueName(64));
    lambda(context).operations.CreateFunction({
      FunctionName: name,
      ...configurationOf(properties),
      Code: codeOf(properties),
      Tags: tagsOf(properties.Tags),
    });
    return name;
  },
  update(context, id, properties) {
    lambda(context).change(id, { FunctionName: id, ...configurationOf(properties) }, codeOf(properties));
  },
  isSettled: (context, id) => lambda(context).state.functions.get(id)?.latest.updateStatus !== "InProgress",
  delete: (context, id) => ignoreNotFound(() => lambda(context).operations.DeleteFunction({ FunctionName: id })),
  attribute: (context, id, name) => (name === "Arn" ? lambda(context).state.arnOf(id) : undefined),
};
