import type { IAM, Role, Tag } from "@aws-sdk/client-iam";
import { PlatformError } from "../../platform/error.ts";
import type { Cloud } from "../clients.ts";
import { accountOf, ROLE_POLICY, roleName, TAGS } from "../names.ts";
import { type Attempts, retrying } from "../retrying.ts";
import { functionPolicy, type PolicyInput, policyHash, TRUST_POLICY } from "./policy.ts";

interface EnsuredRole {
  readonly arn: string;
  readonly outcome: "created" | "updated" | "unchanged";
  /** Hash of the policy that it has now. */
  readonly policy: string;
}

/**
 * Creates or updates the role that the function runs as. The hash of its policy is a tag of the role, written after the
 * policy: if the tag is there, so is the policy. Another tag says that a stage reads snapshots: a deploy of a stage that does
 * not must leave that permission.
 */
export async function ensureRole(
  cloud: Cloud,
  { config, ...options }: Pick<PolicyInput, "config" | "readsSnapshots">,
  signal: AbortSignal,
): Promise<EnsuredRole> {
  const iam = await cloud.iam();
  const name = roleName(config.name, cloud.region);
  const existing = await findRole(iam, name, signal);
  const own = Object.entries(config.tags ?? {}).map(([Key, Value]) => ({ Key, Value }));
  const role = existing ?? (await createRole(iam, name, { app: config.name, own }, signal));
  const tags = new Map(role.Tags?.map(({ Key, Value }) => [Key, Value]));
  if (tags.get(TAGS.app) !== config.name) {
    throw new PlatformError(
      "role/foreign",
      `there is already a role ${name}, which was not made for this app`,
      'remove it, choose another "name", or write it as function.role in tool.json to use it as it is',
    );
  }
  const arn = role.Arn!;
  const hasSnapshotsTag = tags.get(TAGS.readsSnapshots) === "yes";
  const readsSnapshots = options.readsSnapshots || hasSnapshotsTag;
  const hash = policyHash({ config, readsSnapshots });
  if (tags.get(TAGS.policyHash) === hash) return { arn, outcome: "unchanged", policy: hash };
  const tag = (Key: string, Value: string) =>
    retrying(() => iam.tagRole({ RoleName: name, Tags: [{ Key, Value }] }, { abortSignal: signal }), {
      ...PROPAGATION,
      signal,
      clock: cloud.clock,
    });
  // Before the policy, so that a deploy of another stage that writes its own at the same time learns of it.
  if (readsSnapshots && !hasSnapshotsTag) await tag(TAGS.readsSnapshots, "yes");
  const policy = functionPolicy({ config, region: cloud.region, accountId: accountOf(arn), readsSnapshots });
  await retrying(
    () =>
      iam.putRolePolicy({ RoleName: name, PolicyName: ROLE_POLICY, PolicyDocument: policy }, { abortSignal: signal }),
    { ...PROPAGATION, signal, clock: cloud.clock },
  );
  await tag(TAGS.policyHash, hash);
  if (!readsSnapshots && (await hasSnapshotsTagNow(iam, name, signal))) {
    return ensureRole(cloud, { config, readsSnapshots: true }, signal);
  }
  return { arn, outcome: existing === undefined ? "created" : "updated", policy: hash };
}

/** Whether the deploy of another stage has asked for snapshots since the role was read. */
async function hasSnapshotsTagNow(iam: IAM, name: string, signal: AbortSignal): Promise<boolean> {
  const role = await findRole(iam, name, signal);
  return role?.Tags?.some(({ Key, Value }) => Key === TAGS.readsSnapshots && Value === "yes") === true;
}

/** A new role is not known everywhere at once. */
const PROPAGATION: Attempts = {
  isWorthAnother: (error) => error.name === "NoSuchEntityException" || error.name === "NoSuchEntity",
  firstWaitMs: 200,
  limitMs: 20_000,
};

/** Undefined if there is none. */
export async function findRole(iam: IAM, name: string, signal: AbortSignal): Promise<Role | undefined> {
  try {
    return (await iam.getRole({ RoleName: name }, { abortSignal: signal })).Role;
  } catch (error) {
    if (PROPAGATION.isWorthAnother(error as Error)) return undefined;
    throw error;
  }
}

async function createRole(
  iam: IAM,
  name: string,
  { app, own }: { readonly app: string; readonly own: readonly Tag[] },
  signal: AbortSignal,
): Promise<Role> {
  try {
    const { Role } = await iam.createRole(
      {
        RoleName: name,
        AssumeRolePolicyDocument: TRUST_POLICY,
        Description: `The function of ${app} runs as this role.`,
        Tags: [{ Key: TAGS.app, Value: app }, ...own],
      },
      { abortSignal: signal },
    );
    return Role!;
  } catch (error) {
    // Another deploy was faster, or the first answer was lost and the SDK made the call again.
    if ((error as Error).name !== "EntityAlreadyExistsException" && (error as Error).name !== "EntityAlreadyExists") {
      throw error;
    }
    const role = await findRole(iam, name, signal);
    if (role === undefined) throw error;
    return role;
  }
}
