// AWS::IAM::Role
import {
  ignoreNotFound,
  type Properties,
  parseProperties,
  type ResourceContext,
  type ResourceType,
  tagsOf,
  textOrNone,
} from "./type.ts";

const iam = ({ world }: ResourceContext) => world.service("iam");

function putPolicies(context: ResourceContext, name: string, properties: Properties): void {
  const { operations, roles } = iam(context);
  const iamRole = roles.get(name)!;
  const policies = (properties.Policies ?? []) as { PolicyName: string; PolicyDocument: unknown }[];
  for (const policyName of [...iamRole.inline.keys()]) {
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
    putPolicies(context, name, properties);
    return name;
  },
  update(context, id, properties) {
    iam(context).operations.UpdateAssumeRolePolicy({
      RoleName: id,
      PolicyDocument: JSON.stringify(properties.AssumeRolePolicyDocument),
    });
    putPolicies(context, id, properties);
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
