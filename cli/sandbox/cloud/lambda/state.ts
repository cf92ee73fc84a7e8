// The functions of one region: what each is made of, and how they are found by name, ARN and qualifier.
import { randomUUID } from "node:crypto";
import type { Collection } from "../collection.ts";
import { AwsError } from "../protocol/error.ts";
import type { StoredBytes } from "../stored-bytes.ts";
import type { World } from "../world.ts";

export interface FunctionCode {
  readonly zip: StoredBytes;
  readonly sha256: string;
  readonly unpackedBytes: number;
}

/** The settings of the function that a version keeps: all but those that only say how it came about. */
export interface VersionSettings {
  readonly role: string;
  readonly runtime: string | undefined;
  readonly handler: string | undefined;
  readonly description: string;
  readonly timeout: number;
  readonly memory: number;
  readonly environment: Readonly<Record<string, string>> | undefined;
  readonly layers: readonly string[];
  readonly architectures: readonly string[];
  readonly vpc: { readonly subnets: readonly string[]; readonly securityGroups: readonly string[] } | undefined;
  readonly ephemeralMiB: number;
  readonly tracing: string;
}

export interface Version {
  readonly version: string;
  settings: VersionSettings;
  code: FunctionCode;
  modifiedAt: Date;
  revisionId: string;
  /** Pending until the function can be invoked for the first time. */
  state: "Pending" | "Active";
  updateStatus: "InProgress" | "Successful";
}

export interface Alias {
  readonly name: string;
  version: string;
  description: string;
  revisionId: string;
  weights: Readonly<Record<string, number>> | undefined;
}

export interface PermissionStatement {
  readonly Sid: string;
  readonly Effect: "Allow";
  readonly Principal: string | Readonly<Record<string, string>>;
  readonly Action: string;
  readonly Resource: string;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface LambdaFunction {
  readonly name: string;
  readonly arn: string;
  readonly latest: Version;
  readonly versions: Map<string, Version>;
  /** Numbers are never used twice. */
  nextVersion: number;
  readonly aliases: Map<string, Alias>;
  /** By qualifier; that of the function itself by an empty text. */
  readonly policies: Map<string, { revisionId: string; readonly statements: PermissionStatement[] }>;
  readonly tags: Map<string, string>;
  reservedConcurrency?: number;
}

export class LambdaState {
  readonly world: World;
  readonly region: string;
  readonly functions: Collection<LambdaFunction>;

  constructor(world: World, region: string) {
    this.world = world;
    this.region = region;
    this.functions = world.collection("lambda", region, "functions");
  }

  arnOf(name: string): string {
    return `arn:aws:lambda:${this.region}:${this.world.accountId}:function:${name}`;
  }

  /** By a name, a name with a qualifier, a part of an ARN or the whole. */
  locate(
    reference: string | undefined,
    qualifier?: string,
  ): { lambdaFunction: LambdaFunction; qualifier: string | undefined } {
    const [name = "", own] = (reference ?? "")
      .replace(/^arn:aws:lambda:[^:]+:\d+:function:/, "")
      .replace(/^\d+:function:/, "")
      .split(":");
    const lambdaFunction = this.functions.get(name);
    const effectiveQualifier = qualifier ?? own;
    if (lambdaFunction === undefined)
      throw functionNotFound(`${this.arnOf(name)}${effectiveQualifier === undefined ? "" : `:${effectiveQualifier}`}`);
    return { lambdaFunction, qualifier: effectiveQualifier };
  }

  function(reference: string | undefined): LambdaFunction {
    return this.locate(reference).lambdaFunction;
  }

  /** The version that a qualifier stands for: $LATEST, a version, or an alias's version. */
  resolve(lambdaFunction: LambdaFunction, qualifier: string | undefined): Version {
    if (qualifier === undefined || qualifier === "$LATEST") return lambdaFunction.latest;
    const version = lambdaFunction.versions.get(lambdaFunction.aliases.get(qualifier)?.version ?? qualifier);
    if (version === undefined) throw functionNotFound(`${lambdaFunction.arn}:${qualifier}`);
    return version;
  }
}

export function functionNotFound(arn: string): AwsError {
  return new AwsError("ResourceNotFoundException", `Function not found: ${arn}`, 404);
}

export function conflict(message: string): AwsError {
  return new AwsError("ResourceConflictException", message, 409);
}

export function invalidParameterValue(message: string): AwsError {
  return new AwsError("InvalidParameterValueException", message, 400);
}

export function checkRevision(
  expectedId: string | undefined,
  revisionId: string,
  call: "GetFunction" | "GetAlias" | "GetPolicy",
): void {
  if (expectedId === undefined || expectedId === revisionId) return;
  throw new AwsError(
    "PreconditionFailedException",
    `The Revision Id provided does not match the latest Revision Id. Call the ${call === "GetFunction" ? "GetFunction/GetAlias" : call} API to retrieve the latest Revision Id`,
    412,
  );
}

export const newRevision = () => randomUUID();
