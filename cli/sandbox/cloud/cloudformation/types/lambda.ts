// AWS::Lambda::*
import type { CreateFunctionCommandInput } from "@aws-sdk/client-lambda";
import { zipOf } from "../../lambda/zip.ts";
import {
  type Context,
  type Properties,
  properties,
  type ResourceType,
  tagsOf,
  textOrNone,
  unlessGone,
} from "./type.ts";

const lambda = ({ world, region }: Context) => world.service("lambda", region);

export const permission: ResourceType = {
  properties:
    properties(`Action*! EventSourceToken! FunctionName*! FunctionUrlAuthType! InvokedViaFunctionUrl!& Principal*!
    PrincipalOrgID! SourceAccount! SourceArn!`),
  durationMs: 2_000,
  attributes: ["Id"],
  create(context, given) {
    const id = context.uniqueName(100);
    lambda(context).operations.AddPermission({
      FunctionName: String(given.FunctionName),
      StatementId: id,
      Action: String(given.Action),
      Principal: String(given.Principal),
      ...(given.SourceArn !== undefined && { SourceArn: String(given.SourceArn) }),
      ...(given.SourceAccount !== undefined && { SourceAccount: String(given.SourceAccount) }),
    });
    return id;
  },
  update() {},
  delete: (context, id, given) =>
    unlessGone(() =>
      lambda(context).operations.RemovePermission({ FunctionName: String(given.FunctionName), StatementId: id }),
    ),
  attribute: (_context, id) => id,
};

function configurationOf(given: Properties) {
  const { Variables } = (given.Environment ?? {}) as { Variables?: Record<string, unknown> };
  const variables = Object.fromEntries(Object.entries(Variables ?? {}).map(([name, value]) => [name, String(value)]));
  return {
    Role: String(given.Role),
    Handler: textOrNone(given.Handler),
    Runtime: textOrNone(given.Runtime) as CreateFunctionCommandInput["Runtime"],
    Description: textOrNone(given.Description),
    Timeout: given.Timeout === undefined ? undefined : Number(given.Timeout),
    MemorySize: given.MemorySize === undefined ? undefined : Number(given.MemorySize),
    Layers: given.Layers as string[] | undefined,
    Environment: { Variables: variables },
  };
}

function codeOf(given: Properties) {
  const code = given.Code as { ZipFile?: string; S3Bucket?: string; S3Key?: string };
  if (code.ZipFile === undefined) return { S3Bucket: code.S3Bucket, S3Key: code.S3Key };
  // "When you specify source inline, CloudFormation places it in a file named index."
  const name = /^python/.test(String(given.Runtime)) ? "index.py" : "index.js";
  return { ZipFile: zipOf({ [name]: code.ZipFile }) };
}

export const lambdaFunction: ResourceType = {
  properties:
    properties(`Architectures[] CapacityProviderConfig{} Code*{} CodeSigningConfigArn DeadLetterConfig{} Description
    DurableConfig?{} Environment{} EphemeralStorage{} FileSystemConfigs[] FunctionName! FunctionScalingConfig{} Handler
    ImageConfig{} KmsKeyArn Layers[] LoggingConfig{} MemorySize# PackageType! PublishToLatestPublished& RecursiveLoop
    ReservedConcurrentExecutions# Role* Runtime RuntimeManagementConfig{} SnapStart{} Tags[] TenancyConfig!{} Timeout#
    TracingConfig{} VpcConfig{}`),
  durationMs: 5_000,
  attributes: ["Arn", "SnapStartResponse"],
  create(context, given) {
    const name = String(given.FunctionName ?? context.uniqueName(64));
    lambda(context).operations.CreateFunction({
      FunctionName: name,
      ...configurationOf(given),
      Code: codeOf(given),
      Tags: tagsOf(given.Tags),
    });
    return name;
  },
  update(context, id, given) {
    lambda(context).change(id, { FunctionName: id, ...configurationOf(given) }, codeOf(given));
  },
  isSettled: (context, id) => lambda(context).state.functions.get(id)?.latest.updateStatus !== "InProgress",
  delete: (context, id) => unlessGone(() => lambda(context).operations.DeleteFunction({ FunctionName: id })),
  attribute: (context, id, name) => (name === "Arn" ? lambda(context).state.arnOf(id) : undefined),
};
