// IAM: roles with their policies, and since when a role exists.
import type {
  AttachRolePolicyCommandInput,
  CreateRoleCommandInput,
  DeleteRoleCommandInput,
  GetRoleCommandInput,
  GetRolePolicyCommandInput,
  ListRolesCommandInput,
  PutRolePolicyCommandInput,
  Role,
  TagRoleCommandInput,
  UntagRoleCommandInput,
  UpdateAssumeRolePolicyCommandInput,
  UpdateRoleCommandInput,
} from "@aws-sdk/client-iam";
import { AwsError } from "./protocol/error.ts";
import { randomLetters } from "./random-name.ts";
import type { World } from "./world.ts";

export interface IamRole {
  readonly name: string;
  readonly id: string;
  readonly arn: string;
  readonly path: string;
  readonly createdAt: Date;
  /** Lambda and others see it only a while after it was made. */
  isAssumable: boolean;
  /** How many more times Lambda refuses it. */
  refusals: number;
  description: string | undefined;
  maxSessionDuration: number;
  trust: string;
  readonly inline: Map<string, string>;
  readonly attached: Set<string>;
  readonly tags: Map<string, string>;
}

/** "Maximum 10,240 characters of all inline policies of a role", without white space. */
const MAX_INLINE_CHARACTERS = 10_240;

export function openIam(world: World) {
  const roles = world.collection<IamRole>("iam", "", "roles");
  const { roleDelayMs = 0, roleRefusals = 0 } = world.options;

  const tasks = world.tasks("iam", "", {
    assumable(name) {
      const role = roles.get(name);
      if (role !== undefined) role.isAssumable = true;
    },
  });

  const roleNamed = (name: string | undefined): IamRole => {
    const role = roles.get(name ?? "");
    if (role === undefined) throw new AwsError("NoSuchEntity", `The role with name ${name} cannot be found.`, 404);
    return role;
  };

  const operations = {
    CreateRole(input: CreateRoleCommandInput) {
      const name = input.RoleName ?? "";
      if (!/^[\w+=,.@-]{1,64}$/.test(name)) {
        throw new AwsError(
          "ValidationError",
          `1 validation error detected: Value at 'roleName' failed to satisfy constraint: Member must have length less than or equal to 64 and satisfy regular expression pattern: [\\w+=,.@-]+`,
        );
      }
      if (roles.has(name)) throw new AwsError("EntityAlreadyExists", `Role with name ${name} already exists.`, 409);
      const path = input.Path ?? "/";
      const role: IamRole = {
        name,
        id: `AROA${randomLetters(17)}`,
        arn: `arn:aws:iam::${world.accountId}:role${path}${name}`,
        path,
        createdAt: world.clock.date(),
        isAssumable: roleDelayMs === 0,
        refusals: roleRefusals,
        description: input.Description,
        maxSessionDuration: input.MaxSessionDuration ?? 3600,
        trust: checkedPolicy(input.AssumeRolePolicyDocument, "This policy contains invalid Json"),
        inline: new Map(),
        attached: new Set(),
        tags: new Map(input.Tags?.map(({ Key = "", Value = "" }) => [Key, Value])),
      };
      roles.set(name, role);
      tasks.after(roleDelayMs, "assumable", name);
      return { Role: described(role) };
    },
    GetRole: (input: GetRoleCommandInput) => ({ Role: described(roleNamed(input.RoleName)) }),
    ListRoles: (input: ListRolesCommandInput) => ({
      Roles: [...roles.values()].filter(({ path }) => path.startsWith(input.PathPrefix ?? "/")).map(described),
      IsTruncated: false,
    }),
    UpdateRole(input: UpdateRoleCommandInput) {
      const role = roleNamed(input.RoleName);
      if (input.Description !== undefined) role.description = input.Description;
      if (input.MaxSessionDuration !== undefined) role.maxSessionDuration = input.MaxSessionDuration;
      return {};
    },
    UpdateAssumeRolePolicy(input: UpdateAssumeRolePolicyCommandInput) {
      roleNamed(input.RoleName).trust = checkedPolicy(input.PolicyDocument, "This policy contains invalid Json");
    },
    DeleteRole(input: DeleteRoleCommandInput) {
      const role = roleNamed(input.RoleName);
      if (role.attached.size > 0) {
        throw new AwsError("DeleteConflict", "Cannot delete entity, must detach all policies first.", 409);
      }
      if (role.inline.size > 0)
        throw new AwsError("DeleteConflict", "Cannot delete entity, must delete policies first.", 409);
      roles.delete(role.name);
    },
    PutRolePolicy(input: PutRolePolicyCommandInput) {
      const role = roleNamed(input.RoleName);
      const policy = checkedPolicy(input.PolicyDocument, "The policy is not in the valid JSON format.");
      const others = [...role.inline].filter(([name]) => name !== input.PolicyName).map(([, text]) => text);
      const characters = [...others, policy].join("").replaceAll(/\s/g, "").length;
      if (characters > MAX_INLINE_CHARACTERS) {
        throw new AwsError(
          "LimitExceeded",
          `Maximum policy size of ${MAX_INLINE_CHARACTERS} bytes exceeded for role ${role.name}`,
          409,
        );
      }
      role.inline.set(input.PolicyName ?? "", policy);
    },
    GetRolePolicy(input: GetRolePolicyCommandInput) {
      const policy = roleNamed(input.RoleName).inline.get(input.PolicyName ?? "");
      if (policy === undefined) throw noPolicy(input.PolicyName);
      return { RoleName: input.RoleName, PolicyName: input.PolicyName, PolicyDocument: encodeURIComponent(policy) };
    },
    ListRolePolicies: (input: GetRoleCommandInput) => ({
      PolicyNames: [...roleNamed(input.RoleName).inline.keys()],
      IsTruncated: false,
    }),
    DeleteRolePolicy(input: GetRolePolicyCommandInput) {
      if (!roleNamed(input.RoleName).inline.delete(input.PolicyName ?? "")) throw noPolicy(input.PolicyName);
    },
    AttachRolePolicy(input: AttachRolePolicyCommandInput) {
      const arn = input.PolicyArn ?? "";
      if (!/^arn:aws:iam::(aws|\d{12}):policy\//.test(arn))
        throw new AwsError("NoSuchEntity", `Policy ${arn} does not exist or is not attachable.`, 404);
      roleNamed(input.RoleName).attached.add(arn);
    },
    DetachRolePolicy(input: AttachRolePolicyCommandInput) {
      if (roleNamed(input.RoleName).attached.delete(input.PolicyArn ?? "")) return;
      throw new AwsError("NoSuchEntity", `Policy ${input.PolicyArn} was not found.`, 404);
    },
    ListAttachedRolePolicies: (input: GetRoleCommandInput) => ({
      AttachedPolicies: [...roleNamed(input.RoleName).attached].map((arn) => ({
        PolicyArn: arn,
        PolicyName: arn.split("/").pop(),
      })),
      IsTruncated: false,
    }),
    TagRole(input: TagRoleCommandInput) {
      const { tags } = roleNamed(input.RoleName);
      for (const { Key = "", Value = "" } of input.Tags ?? []) tags.set(Key, Value);
    },
    UntagRole(input: UntagRoleCommandInput) {
      for (const key of input.TagKeys ?? []) roleNamed(input.RoleName).tags.delete(key);
    },
    ListRoleTags: (input: GetRoleCommandInput) => ({ Tags: tagList(roleNamed(input.RoleName)), IsTruncated: false }),
  };
  return { operations, roles };
}

function noPolicy(name: string | undefined): AwsError {
  return new AwsError("NoSuchEntity", `The role policy with name ${name} cannot be found.`, 404);
}

function described(role: IamRole): Role {
  return {
    Path: role.path,
    RoleName: role.name,
    RoleId: role.id,
    Arn: role.arn,
    CreateDate: role.createdAt,
    AssumeRolePolicyDocument: encodeURIComponent(role.trust),
    Description: role.description,
    MaxSessionDuration: role.maxSessionDuration,
    Tags: tagList(role),
  };
}

const tagList = (role: IamRole) => Array.from(role.tags, ([Key, Value]) => ({ Key, Value }));

/** A document with statements that each allow or deny something. */
function checkedPolicy(text: string | undefined, message: string): string {
  const refusal = (what: string) => new AwsError("MalformedPolicyDocument", what, 400);
  let policy: { Version?: string; Statement?: unknown };
  try {
    policy = JSON.parse(text ?? "");
  } catch {
    throw refusal(message);
  }
  const statements = [policy.Statement].flat() as Record<string, unknown>[];
  if (policy.Statement === undefined || statements.length === 0) throw refusal("Syntax errors in policy.");
  for (const statement of statements) {
    const { Effect, Action, NotAction } = statement;
    if (Effect !== "Allow" && Effect !== "Deny") throw refusal("Syntax errors in policy.");
    if (Action === undefined && NotAction === undefined) throw refusal("Policy statement must contain actions.");
    for (const action of [Action ?? NotAction].flat()) {
      if (action !== "*" && !/^[\w-]+:[\w*?]+$/.test(String(action))) {
        throw refusal("Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.");
      }
    }
    const isTrust = statement.Principal !== undefined;
    if (!isTrust && statement.Resource === undefined && statement.NotResource === undefined) {
      throw refusal("Policy statement must contain resources.");
    }
  }
  return text ?? "";
}
