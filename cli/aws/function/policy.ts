import { createHash } from "node:crypto";
import { type Config, DEFAULT_STAGES, forStage } from "../../../schema/index.ts";
import { logGroupName, parameterPrefix, partition, SNAPSHOTS } from "../names.ts";

export interface PolicyInput {
  /** tool.json as it is written, as the policies of all stages are combined. */
  readonly config: Config;
  readonly region: string;
  readonly accountId: string;
  /** Whether a stage has variables that do not fit into the function's configuration. */
  readonly readsSnapshots: boolean;
}

/**
 * The permissions of the app: to write its log, to read its variables, to use network interfaces if it runs in a VPC,
 * and those that `function.policy` adds. All stages of an app share one role, so a statement of one stage applies to
 * all of them. Pure.
 */
export function functionPolicy({ config, region, accountId, readsSnapshots }: PolicyInput): string {
  const of = (service: string) => `arn:${partition(region)}:${service}:${region}:${accountId}`;
  const arn = `${of("logs")}:log-group:${logGroupName(config.name)}`;
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: [arn, `${arn}:*`],
      },
      ...(readsSnapshots
        ? [
            {
              Effect: "Allow",
              Action: ["ssm:GetParameters"],
              // The key of the account that encrypts parameters lets those decrypt who may read them.
              Resource: [`${of("ssm")}:parameter${parameterPrefix(config.name)}${SNAPSHOTS}/*`],
            },
          ]
        : []),
      ...sharedStatements(config),
    ],
  });
}

/** A hash that changes with the policy and is the same in every account. */
export function policyHash({ config, readsSnapshots }: Pick<PolicyInput, "config" | "readsSnapshots">): string {
  const parts: unknown[] = [POLICY_REVISION, config.name, sharedStatements(config)];
  if (readsSnapshots) parts.push(SNAPSHOTS);
  const text = JSON.stringify(parts);
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** Incremented when a version of the tool gives functions other permissions. */
const POLICY_REVISION = 1;

/** Lets the Lambda service assume the role. */
export const TRUST_POLICY = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }],
});

function sharedStatements(config: Config): unknown[] {
  const stages = [...new Set([...DEFAULT_STAGES, ...Object.keys(config.stages ?? {})])];
  const all = stages.filter((stage) => stage !== "development").map((stage) => forStage(config, stage).function ?? {});
  const written = all.flatMap(({ policy }) => policy ?? []);
  const different = new Map(written.map((statement) => [JSON.stringify(statement), statement]));
  return [...(all.some(({ vpc }) => vpc !== undefined) ? [NETWORK_INTERFACES] : []), ...different.values()];
}

/** The calls that the service makes for the function to attach it to subnets (Lambda guide, "VPC permissions"). */
const NETWORK_INTERFACES = {
  Effect: "Allow",
  Action: [
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
  ],
  Resource: "*",
};
