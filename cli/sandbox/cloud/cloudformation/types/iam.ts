// AWS::IAM::Role
import {
  type Context,
  type Properties,
  properties,
  type ResourceType,
  tagsOf,
  textOrNone,
  unlessGone,
} from "./type.ts";

const iam = ({ world }: Context) => world.service("iam");

function putPolicies(context: Context, name: string, given: Properties): void {
  const { operations, roles } = iam(context);
  const found = roles.get(name)!;
  const policies = (given.Policies ?? []) as { PolicyName: string; PolicyDocument: unknown }[];
  for (const known of [...found.inline.keys()]) {
    if (!policies.some(({ PolicyName }) => PolicyName === known)) found.inline.delete(known);
  }
  for (const { PolicyName, PolicyDocument } of policies) {
    operations.PutRolePolicy({ RoleName: name, PolicyName, PolicyDocument: JSON.stringify(PolicyDocument) });
  }
  found.attached.clear();
  for (const PolicyArn of (given.ManagedPolicyArns ?? []) as string[])
    operations.AttachRolePolicy({ RoleName: name, PolicyArn });
}

export const role: ResourceType = {
  properties:
    properties(`AssumeRolePolicyDocument*~ Description ManagedPolicyArns[] MaxSessionDuration# Path! PermissionsBoundary
    Policies[] RoleName! Tags[]`),
  durationMs: 15_000,
  attributes: ["Arn", "RoleId"],
  create(context, given) {
    const name = String(given.RoleName ?? context.uniqueName(64));
    iam(context).operations.CreateRole({
      RoleName: name,
      AssumeRolePolicyDocument: JSON.stringify(given.AssumeRolePolicyDocument),
      Description: textOrNone(given.Description),
      Path: textOrNone(given.Path),
      Tags: Object.entries(tagsOf(given.Tags)).map(([Key, Value]) => ({ Key, Value })),
    });
    putPolicies(context, name, given);
    return name;
  },
  update(context, id, given) {
    iam(context).operations.UpdateAssumeRolePolicy({
      RoleName: id,
      PolicyDocument: JSON.stringify(given.AssumeRolePolicyDocument),
    });
    putPolicies(context, id, given);
  },
  delete: (context, id) =>
    unlessGone(() => {
      const { operations, roles } = iam(context);
      roles.get(id)?.inline.clear();
      roles.get(id)?.attached.clear();
      operations.DeleteRole({ RoleName: id });
    }),
  attribute: (context, id, name) => {
    const found = iam(context).roles.get(id);
    return name === "Arn" ? found?.arn : found?.id;
  },
};
