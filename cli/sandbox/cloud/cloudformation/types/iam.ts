// AWS::IAM::Role, AWS::IAM::Policy
import { AwsError } from "../../protocol/error.ts";
import {
  badRequest,
  ignoreNotFound,
  type Properties,
  parseProperties,
  type ResourceContext,
  type ResourceType,
  tagsOf,
  textOrNone,
} from "./type.ts";

const iam = ({ world }: ResourceContext) => world.service("iam");

const policiesOf = ({ Policies = [] }: Properties) =>
  Policies as readonly { readonly PolicyName: string; readonly PolicyDocument: unknown }[];

/** Those that the role no longer names go; those of AWS::IAM::Policy are not the role's. */
function putPolicies(context: ResourceContext, name: string, properties: Properties, before: Properties): void {
  const { operations, roles } = iam(context);
  const iamRole = roles.get(name)!;
  const policies = policiesOf(properties);
  for (const { PolicyName: policyName } of policiesOf(before)) {
    if (!policies.some(({ PolicyName }) => PolicyName === policyName)) iamRole.inline.delete(policyName);
  }
  for (const { PolicyName, PolicyDocument } of policies) {
    operations.PutRolePolicy({ RoleName: name, PolicyName, PolicyDocument: JSON.stringify(PolicyDocument) });
  }
  iamRole.attached.clear();
  for (const PolicyArn of (properties.ManagedPolicyArns ?? []) as string[])
    operations.AttachRolePolicy({ RoleName: name, PolicyArn });
}

export const role: ResourceType = {
  properties:
    parseProperties(`AssumeRolePolicyDocument*~ Description ManagedPolicyArns[] MaxSessionDuration# Path! PermissionsBoundary
    Policies[] RoleName! Tags[]`),
  durationMs: 15_000,
  attributes: ["Arn", "RoleId"],
  create(context, properties) {
    const name = String(properties.RoleName ?? context.uniqueName(64));
    iam(context).operations.CreateRole({
      RoleName: name,
      AssumeRolePolicyDocument: JSON.stringify(properties.AssumeRolePolicyDocument),
      Description: textOrNone(properties.Description),
      Path: textOrNone(properties.Path),
      Tags: Object.entries(tagsOf(properties.Tags)).map(([Key, Value]) => ({ Key, Value })),
    });
    putPolicies(context, name, properties, {});
    return name;
  },
  update(context, id, properties, before) {
    iam(context).operations.UpdateAssumeRolePolicy({
      RoleName: id,
      PolicyDocument: JSON.stringify(properties.AssumeRolePolicyDocument),
    });
    putPolicies(context, id, properties, before);
  },
  delete: (context, id) =>
    ignoreNotFound(() => {
      const { operations, roles } = iam(context);
      roles.get(id)?.inline.clear();
      roles.get(id)?.attached.clear();
      operations.DeleteRole({ RoleName: id });
    }),
  attribute: (context, id, name) => {
    const iamRole = iam(context).roles.get(id);
    return name === "Arn" ? iamRole?.arn : iamRole?.id;
  },
};

const rolesOf = ({ Roles = [] }: Properties) => Roles as readonly string[];

/** There are no users and groups here. */
function putPolicy(context: ResourceContext, properties: Properties): void {
  const { Users = [], Groups = [] } = properties as { Users?: readonly string[]; Groups?: readonly string[] };
  for (const [kind, [name]] of [["user", Users] as const, ["group", Groups] as const]) {
    if (name !== undefined) throw new AwsError("NoSuchEntity", `The ${kind} with name ${name} cannot be found.`, 404);
  }
  const roles = rolesOf(properties);
  if (roles.length === 0) throw badRequest("At least one of [Groups,Roles,Users] must be non-empty.");
  for (const RoleName of roles) {
    iam(context).operations.PutRolePolicy({
      RoleName,
      PolicyName: String(properties.PolicyName),
      PolicyDocument: JSON.stringify(properties.PolicyDocument),
    });
  }
}

function removePolicy(context: ResourceContext, RoleName: string, { PolicyName }: Properties): void {
  ignoreNotFound(() => iam(context).operations.DeleteRolePolicy({ RoleName, PolicyName: String(PolicyName) }));
}

/** A policy of roles, as the public forwarder of CloudWatch's logs has them. */
export const rolePolicy: ResourceType = {
  properties: parseProperties("Groups[] PolicyDocument*~ PolicyName* Roles[] Users[]"),
  durationMs: 15_000,
  attributes: ["Id"],
  create(context, properties) {
    putPolicy(context, properties);
    return context.uniqueName(64);
  },
  update(context, _id, properties, before) {
    putPolicy(context, properties);
    const roles = rolesOf(properties);
    for (const name of rolesOf(before)) {
      if (before.PolicyName !== properties.PolicyName || !roles.includes(name)) removePolicy(context, name, before);
    }
  },
  delete(context, _id, properties) {
    for (const name of rolesOf(properties)) removePolicy(context, name, properties);
  },
  attribute: (_context, id) => id,
};
