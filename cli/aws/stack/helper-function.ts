import type { Resources } from "./resource.ts";

export interface HelperFunction {
  /** The feature that it is part of. */
  readonly about: string;
  /** CommonJS that exports `handler`. */
  readonly source: string;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, unknown>>;
  /** The permissions of its role. It may not write logs, so that no log group remains. */
  readonly statements: readonly unknown[];
}

/** A small function of the tool, with its code in the template, and its role. */
export function helperFunction(id: string, helper: HelperFunction): Resources {
  return {
    [`${id}Role`]: {
      Type: "AWS::IAM::Role",
      Properties: {
        AssumeRolePolicyDocument: trust("lambda.amazonaws.com"),
        ...(helper.statements.length > 0 && {
          Policies: [{ PolicyName: "tool", PolicyDocument: policyDocument(helper.statements) }],
        }),
      },
      Metadata: { tool: { about: `role of ${helper.about}` } },
    },
    [id]: {
      Type: "AWS::Lambda::Function",
      Properties: {
        Runtime: "nodejs24.x",
        Handler: "index.handler",
        Code: { ZipFile: helper.source },
        Role: { "Fn::GetAtt": [`${id}Role`, "Arn"] },
        MemorySize: 128,
        Timeout: helper.timeoutSeconds,
        ...(Object.keys(helper.environment).length > 0 && { Environment: { Variables: helper.environment } }),
      },
      Metadata: { tool: { about: `function of ${helper.about}` } },
    },
  };
}

/** A policy that lets an AWS service assume a role. */
export const trust = (Service: string) =>
  policyDocument([{ Effect: "Allow", Principal: { Service }, Action: "sts:AssumeRole" }]);

export const policyDocument = (Statement: readonly unknown[]) => ({ Version: "2012-10-17", Statement });
