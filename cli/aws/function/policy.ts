import { createHash } from "node:crypto";
import { type Config, DEFAULT_STAGES, forStage } from "../../../schema/index.ts";
import { logGroupName, partition } from "../names.ts";

export interface PolicyInput {
  /** As it is written: the policies of all stages count. */
  readonly config: Config;
  readonly region: string;
  readonly accountId: string;
}

/**
 * What the app may do: write its log, have network interfaces where it runs in a private network, and what
 * `function.policy` adds. One role serves all stages of an app, so that a statement that one stage has is allowed to all.
 * Pure.
 */
export function functionPolicy({ config, region, accountId }: PolicyInput): string {
  const arn = `arn:${partition(region)}:logs:${region}:${accountId}:log-group:${logGroupName(config.name)}`;
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: [arn, `${arn}:*`],
      },
      ...sharedStatements(config),
    ],
  });
}

/** Changes when the policy does, whatever the account is. */
export function policyHash(config: Config): string {
  const text = JSON.stringify([POLICY_REVISION, config.name, sharedStatements(config)]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** Counted up when a version of the tool gives functions other permissions. */
const POLICY_REVISION = 1;

/** Who may take the role: the function service. */
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

/** What the service does in the function's name to attach it to subnets (Lambda guide, "VPC permissions"). */
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
