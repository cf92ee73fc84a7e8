// Aliases, and who may invoke what.
import type {
  AddPermissionCommandInput,
  AliasConfiguration,
  CreateAliasCommandInput,
  GetAliasCommandInput,
  GetPolicyCommandInput,
  ListAliasesCommandInput,
  RemovePermissionCommandInput,
  UpdateAliasCommandInput,
} from "@aws-sdk/client-lambda";
import { AwsError } from "../protocol/error.ts";
import {
  type Alias,
  checkRevision,
  conflict,
  functionNotFound,
  type LambdaFunction,
  type LambdaState,
  newRevision,
  type PermissionStatement,
} from "./state.ts";

const MAX_ITEMS = 50;

export function aliasOperations(state: LambdaState) {
  const aliasOf = (input: GetAliasCommandInput) => {
    const lambdaFunction = state.function(input.FunctionName);
    const alias = lambdaFunction.aliases.get(input.Name ?? "");
    const arn = `${lambdaFunction.arn}:${input.Name}`;
    if (alias === undefined) throw new AwsError("ResourceNotFoundException", `Cannot find alias arn: ${arn}`, 404);
    return { lambdaFunction, alias };
  };

  return {
    CreateAlias(input: CreateAliasCommandInput) {
      const lambdaFunction = state.function(input.FunctionName);
      const name = input.Name ?? "";
      if (!/^(?!\d+$)[\w-]{1,128}$/.test(name)) {
        throw new AwsError(
          "ValidationException",
          `1 validation error detected: Value '${name}' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: (?!^[0-9]+$)([a-zA-Z0-9-_]+)`,
        );
      }
      if (lambdaFunction.aliases.has(name)) throw conflict(`Alias already exists: ${lambdaFunction.arn}:${name}`);
      checkVersion(lambdaFunction, input.FunctionVersion);
      const alias: Alias = {
        name,
        version: input.FunctionVersion ?? "",
        description: input.Description ?? "",
        revisionId: newRevision(),
        weights: input.RoutingConfig?.AdditionalVersionWeights,
      };
      lambdaFunction.aliases.set(name, alias);
      return describedAlias(lambdaFunction, alias);
    },
    UpdateAlias(input: UpdateAliasCommandInput) {
      const { lambdaFunction, alias } = aliasOf(input);
      checkRevision(input.RevisionId, alias.revisionId, "GetAlias");
      if (input.FunctionVersion !== undefined) {
        checkVersion(lambdaFunction, input.FunctionVersion);
        alias.version = input.FunctionVersion;
      }
      if (input.Description !== undefined) alias.description = input.Description;
      if (input.RoutingConfig !== undefined) alias.weights = input.RoutingConfig.AdditionalVersionWeights;
      alias.revisionId = newRevision();
      return describedAlias(lambdaFunction, alias);
    },
    GetAlias(input: GetAliasCommandInput) {
      const { lambdaFunction, alias } = aliasOf(input);
      return describedAlias(lambdaFunction, alias);
    },
    ListAliases(input: ListAliasesCommandInput) {
      const lambdaFunction = state.function(input.FunctionName);
      const all = [...lambdaFunction.aliases.values()]
        .filter(({ version }) => input.FunctionVersion === undefined || version === input.FunctionVersion)
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      const begin = Number(input.Marker ?? 0);
      const limit = Math.min(input.MaxItems ?? MAX_ITEMS, MAX_ITEMS);
      return {
        Aliases: all.slice(begin, begin + limit).map((alias) => describedAlias(lambdaFunction, alias)),
        ...(begin + limit < all.length && { NextMarker: String(begin + limit) }),
      };
    },
    DeleteAlias(input: GetAliasCommandInput) {
      // One that is not there is deleted, too; a function that is not there is an error.
      const lambdaFunction = state.function(input.FunctionName);
      lambdaFunction.aliases.delete(input.Name ?? "");
      lambdaFunction.policies.delete(input.Name ?? "");
    },
    AddPermission(input: AddPermissionCommandInput) {
      const { lambdaFunction, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      if (qualifier !== undefined && !lambdaFunction.aliases.has(qualifier)) state.resolve(lambdaFunction, qualifier);
      const policy = lambdaFunction.policies.get(qualifier ?? "") ?? { revisionId: newRevision(), statements: [] };
      checkRevision(input.RevisionId, policy.revisionId, "GetPolicy");
      const sid = input.StatementId ?? "";
      if (policy.statements.some(({ Sid }) => Sid === sid)) {
        throw conflict(
          `The statement id (${sid}) provided already exists. Please provide a new statement id, or remove the existing statement.`,
        );
      }
      const conditions = {
        ...(input.SourceArn !== undefined && { ArnLike: { "AWS:SourceArn": input.SourceArn } }),
        ...(input.SourceAccount !== undefined && { StringEquals: { "AWS:SourceAccount": input.SourceAccount } }),
      };
      const principal = input.Principal ?? "";
      const statement: PermissionStatement = {
        Sid: sid,
        Effect: "Allow",
        Principal:
          principal === "*"
            ? principal
            : /\.amazonaws\.com$/.test(principal)
              ? { Service: principal }
              : { AWS: principal },
        Action: input.Action ?? "",
        Resource: qualifier === undefined ? lambdaFunction.arn : `${lambdaFunction.arn}:${qualifier}`,
        ...(Object.keys(conditions).length > 0 && { Condition: conditions }),
      };
      policy.statements.push(statement);
      policy.revisionId = newRevision();
      lambdaFunction.policies.set(qualifier ?? "", policy);
      return { Statement: JSON.stringify(statement) };
    },
    GetPolicy(input: GetPolicyCommandInput) {
      const { lambdaFunction, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      const policy = lambdaFunction.policies.get(qualifier ?? "");
      if (policy === undefined || policy.statements.length === 0) throw noPolicy();
      return {
        Policy: JSON.stringify({ Version: "2012-10-17", Id: "default", Statement: policy.statements }),
        RevisionId: policy.revisionId,
      };
    },
    RemovePermission(input: RemovePermissionCommandInput) {
      const { lambdaFunction, qualifier } = state.locate(input.FunctionName, input.Qualifier);
      const policy = lambdaFunction.policies.get(qualifier ?? "");
      const at = policy?.statements.findIndex(({ Sid }) => Sid === input.StatementId) ?? -1;
      if (policy === undefined || at === -1)
        throw new AwsError(
          "ResourceNotFoundException",
          `Statement ${input.StatementId} is not found in resource policy.`,
          404,
        );
      checkRevision(input.RevisionId, policy.revisionId, "GetPolicy");
      policy.statements.splice(at, 1);
      policy.revisionId = newRevision();
    },
  };
}

function checkVersion(lambdaFunction: LambdaFunction, version: string | undefined): void {
  if (version !== "$LATEST" && !lambdaFunction.versions.has(version ?? ""))
    throw functionNotFound(`${lambdaFunction.arn}:${version}`);
}

function noPolicy(): AwsError {
  return new AwsError("ResourceNotFoundException", "The resource you requested does not exist.", 404);
}

function describedAlias(lambdaFunction: LambdaFunction, alias: Alias): AliasConfiguration {
  return {
    AliasArn: `${lambdaFunction.arn}:${alias.name}`,
    Name: alias.name,
    FunctionVersion: alias.version,
    Description: alias.description,
    RevisionId: alias.revisionId,
    ...(alias.weights !== undefined && { RoutingConfig: { AdditionalVersionWeights: { ...alias.weights } } }),
  };
}

/** Whether a service may invoke a function by this qualifier, for this source. */
export function mayInvoke(
  lambdaFunction: LambdaFunction,
  qualifier: string | undefined,
  principal: string,
  sourceArn: string,
): boolean {
  return (lambdaFunction.policies.get(qualifier ?? "")?.statements ?? []).some((statement) => {
    const who = typeof statement.Principal === "string" ? statement.Principal : statement.Principal.Service;
    const pattern = statement.Condition?.ArnLike?.["AWS:SourceArn"] ?? "*";
    return (
      (who === principal || who === "*") &&
      /^lambda:(InvokeFunction|\*)$/.test(statement.Action) &&
      isLike(pattern, sourceArn)
    );
  });
}

function isLike(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`).test(text);
}
