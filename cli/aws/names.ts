// The names of everything that a deployment creates. They show in the account what belongs to which app.

/** The function, the stack and the REST API of an app all have its name. */
export const functionName = (app: string) => app;
export const stackName = (app: string) => app;
export const apiName = (app: string) => app;

export { defaultRole as roleName } from "../../schema/index.ts";

/** The name of the role's only inline policy. */
export const ROLE_POLICY = "tool";

export const logGroupName = (app: string) => `/aws/lambda/${app}`;

/** One bucket per account and region; bucket names are global to all accounts. */
export const bucketName = (accountId: string, region: string) => `tool-${accountId}-${region}`;

export const artifactPrefix = (app: string) => `${app}/`;
export const artifactKey = (app: string, sha256Hex: string) => `${artifactPrefix(app)}${sha256Hex}.zip`;
export const templateKey = (app: string, sha256Hex: string) => `${artifactPrefix(app)}${sha256Hex}.json`;

/** The layer with the runtime for platforms without Node, shared by all apps of an account and region. */
export const RUNTIME_LAYER = "tool-runtime";
export const runtimeLayerKey = (executableSha256: string) => `${RUNTIME_LAYER}/${executableSha256}.zip`;

/**
 * The bucket for entries that could not be delivered: its logical id. CloudFormation names it `<stack>-logfailures-<random>`, with
 * 24 letters or more of a longer stack's name. `failureBuckets` is a pattern of these names.
 */
export const FAILURE_BUCKET = "LogFailures";
export const failureBuckets = (app: string) => `${app.slice(0, 24)}${app.length > 24 ? "*" : ""}-logfailures-*`;

export const parameterPrefix = (app: string) => `/tool/${app}/`;

/**
 * The variables that versions of the function read at a cold start are below this name, beside the stages. No stage's
 * name begins with a dot.
 */
export const SNAPSHOTS = ".deployed";

/** The tokens for a log service are below this name, a parameter for each stage. */
export const LOG_TOKENS = ".logs";

export const stageAlias = (stage: string) => stage;
export const previousAlias = (stage: string) => `${stage}-previous`;

/** Lambda's limit for the name of an alias. */
const MAX_ALIAS_LENGTH = 128;

/** Alias names may contain letters, digits, `-` and `_` only; a Git tag such as `v1.2/rc` has others. */
export function commitAlias(stage: string, ref: string): string {
  return `${commitAliasPrefix(stage)}${ref.replace(/[^\w-]/g, "-")}`.slice(0, MAX_ALIAS_LENGTH);
}

export const commitAliasPrefix = (stage: string) => `commit-${stage}-`;

/** Marks a version that failed its check. The name of no stage begins with a digit. */
export const failedAlias = (version: string) => `${version}-did-not-start`;

/** Tags of everything that is created, so that it can be found, counted and billed by app. */
export const TAGS = {
  app: "tool:app",
  stage: "tool:stage",
  policyHash: "tool:policy-hash",
  readsSnapshots: "tool:reads-snapshots",
  tags: "tool:tags",
} as const;

export const stageEndpoint = (apiId: string, region: string, stage: string) =>
  `https://${apiId}.execute-api.${region}.${domainSuffix(region)}/${stage}/`;

/** China has its own domain. */
export const domainSuffix = (region: string) => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com");

/** The first part of every ARN of a region. */
export function partition(region: string): "aws" | "aws-cn" | "aws-us-gov" {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}

/** Whether APIs and domains can be edge-optimized; China and GovCloud have regional ones only. */
export const hasEdge = (region: string) => partition(region) === "aws";

/** The account of an ARN, its fifth part: `arn:aws:lambda:<region>:<account>:...`. */
export function accountOf(arn: string): string {
  return arn.split(":")[4] ?? "";
}
