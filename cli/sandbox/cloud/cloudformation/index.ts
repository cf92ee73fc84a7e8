// CloudFormation: stacks that are made, changed and deleted while one waits, and change sets.
import type {
  CreateChangeSetCommandInput,
  CreateStackCommandInput,
  DeleteStackCommandInput,
  DescribeChangeSetCommandInput,
  Stack as DescribedStack,
  DescribeStackEventsCommandInput,
  DescribeStackResourcesCommandInput,
  DescribeStacksCommandInput,
  ListStacksCommandInput,
  UpdateStackCommandInput,
} from "@aws-sdk/client-cloudformation";
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import { changesOf, isOtherwise, newChangeSet } from "./change-set.ts";
import { type ChangeSet, type Desired, newStack, type Stack, scopeOf, setStatus, templateOf } from "./stack.ts";
import { MAX_BODY_BYTES, MAX_OBJECT_BYTES, parseTemplate, refusal } from "./template.ts";
import { resolved } from "./values.ts";
import { openWork, type ResourceFailure } from "./work.ts";

/** "DescribeStackEvents", "ListStackResources" and the like give 100 at a time. */
const PAGE_ITEMS = 100;

/** How long a change set takes to be made, in the cloud's time. */
const CHANGE_SET_MS = 3_000;

const NO_CHANGES =
  "The submitted information didn't contain changes. Submit different information to create a change set.";

type Told = CreateStackCommandInput | UpdateStackCommandInput | CreateChangeSetCommandInput;

export function openCloudFormation(world: World, region: string) {
  /** Deleted ones stay, and are found by their id. */
  const stacks = world.collection<Stack>("cloudformation", region, "stacks");
  const failures: ResourceFailure[] = [];

  const find = (reference: string | undefined): Stack | undefined =>
    stacks.get(reference ?? "") ??
    stacks.find(({ name, status }) => name === reference && status !== "DELETE_COMPLETE");
  const stack = (reference: string | undefined): Stack => {
    const found = find(reference);
    if (found === undefined) throw refusal(`Stack with id ${reference} does not exist`);
    return found;
  };
  const work = openWork(world, region, stacks, failures);
  const tasks = world.tasks("cloudformation", region, {
    changeSet(key) {
      const [stackId = "", name = ""] = key.split(" ");
      const made = stacks.get(stackId)?.changeSets.get(name);
      if (made?.status !== "CREATE_PENDING") return;
      made.status = made.hasChanges ? "CREATE_COMPLETE" : "FAILED";
      made.reason = made.hasChanges ? undefined : NO_CHANGES;
      made.executionStatus = made.hasChanges ? "AVAILABLE" : "UNAVAILABLE";
    },
  });

  const bodyOf = (told: Told, before: Desired | undefined): string => {
    if ("UsePreviousTemplate" in told && told.UsePreviousTemplate && before !== undefined) return before.body;
    if (told.TemplateBody !== undefined) {
      if (Buffer.byteLength(told.TemplateBody) > MAX_BODY_BYTES) {
        throw refusal(
          `1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to ${MAX_BODY_BYTES}`,
        );
      }
      return told.TemplateBody;
    }
    if (told.TemplateURL === undefined) throw refusal("Either Template URL or Template Body must be specified.");
    return fromBucket(world, told.TemplateURL);
  };

  const desire = (told: Told, before: Desired | undefined): Desired => {
    const body = bodyOf(told, before);
    const template = parseTemplate(body);
    const parameters: Record<string, unknown> = {};
    for (const { ParameterKey = "", ParameterValue, UsePreviousValue } of told.Parameters ?? []) {
      if (template.Parameters?.[ParameterKey] === undefined)
        throw refusal(`Parameters: [${ParameterKey}] do not exist in the template`);
      parameters[ParameterKey] = UsePreviousValue ? before?.parameters[ParameterKey] : ParameterValue;
    }
    const tags = told.Tags?.map(({ Key = "", Value = "" }) => ({ Key, Value })) ?? before?.tags ?? [];
    const desired = { body, parameters, tags, capabilities: told.Capabilities ?? [] };
    checkCapabilities(desired);
    return desired;
  };

  /** All functions are tried once, so that what they cannot do is said before anything is made. */
  const check = (target: Stack, desired: Desired) => {
    const scope = scopeOf(world, target, desired, () => true);
    for (const { Properties } of Object.values(templateOf(desired).Resources)) resolved(Properties ?? {}, scope);
    for (const { Value } of Object.values(templateOf(desired).Outputs ?? {})) resolved(Value, scope);
    const retyped = Object.entries(templateOf(desired).Resources).filter(
      ([name, { Type }]) => (target.resources.get(name)?.type ?? Type) !== Type,
    );
    if (retyped.length > 0) {
      throw refusal(
        `Update of resource type is not permitted. The new template modifies resource type of the following resources: [${retyped.map(([name]) => name).join(", ")}]`,
      );
    }
  };

  const checkUpdatable = (found: Stack) => {
    if (/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/.test(found.status)) return;
    throw refusal(`Stack:${found.id} is in ${found.status} state and can not be updated.`);
  };

  const update = (found: Stack, desired: Desired) => {
    for (const set of found.changeSets.values())
      if (set.executionStatus === "AVAILABLE") set.executionStatus = "OBSOLETE";
    work.update(found, desired);
  };

  const operations = {
    ValidateTemplate(input: { TemplateBody?: string; TemplateURL?: string }) {
      const template = templateOf(
        desire({ ...input, StackName: "", Capabilities: ["CAPABILITY_NAMED_IAM"] }, undefined),
      );
      return {
        Parameters: Object.keys(template.Parameters ?? {}).map((ParameterKey) => ({ ParameterKey })),
        Description: template.Description,
      };
    },
    CreateStack(input: CreateStackCommandInput) {
      const name = input.StackName ?? "";
      if (!/^[a-zA-Z][-a-zA-Z0-9]{0,127}$/.test(name)) {
        throw refusal(
          `1 validation error detected: Value '${name}' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*`,
        );
      }
      const desired = desire(input, undefined);
      if (find(name) !== undefined) throw new AwsError("AlreadyExistsException", `Stack [${name}] already exists`, 400);
      const created = newStack(world, region, name, desired);
      check(created, desired);
      created.disablesRollback = input.DisableRollback ?? input.OnFailure === "DO_NOTHING";
      created.isProtected = input.EnableTerminationProtection ?? false;
      created.token = input.ClientRequestToken;
      stacks.set(created.id, created);
      work.create(created);
      return { StackId: created.id };
    },
    UpdateStack(input: UpdateStackCommandInput) {
      const found = stack(input.StackName);
      checkUpdatable(found);
      const desired = desire(input, found.desired);
      check(found, desired);
      if (changesOf(world, found, desired).length === 0 && !isOtherwise(desired, found.desired))
        throw refusal("No updates are to be performed.");
      found.token = input.ClientRequestToken;
      update(found, desired);
      return { StackId: found.id };
    },
    DeleteStack(input: DeleteStackCommandInput) {
      const found = find(input.StackName);
      // "Deleting a stack that does not exist succeeds."
      if (found === undefined || found.status === "DELETE_COMPLETE") return;
      if (found.isProtected)
        throw refusal(`Stack [${found.name}] cannot be deleted while TerminationProtection is enabled`);
      if (
        /_IN_PROGRESS$/.test(found.status) &&
        found.status !== "REVIEW_IN_PROGRESS" &&
        found.status !== "CREATE_IN_PROGRESS"
      ) {
        throw refusal(`Stack [${found.name}] cannot be deleted while in status ${found.status}`);
      }
      found.token = input.ClientRequestToken;
      work.delete(found, input.RetainResources ?? []);
    },
    UpdateTerminationProtection(input: { StackName?: string; EnableTerminationProtection?: boolean }) {
      const found = stack(input.StackName);
      found.isProtected = input.EnableTerminationProtection ?? false;
      return { StackId: found.id };
    },
    DescribeStacks(input: DescribeStacksCommandInput) {
      if (input.StackName !== undefined) return { Stacks: [described(stack(input.StackName))] };
      const { items, next } = paged(
        stacks.filter(({ status }) => status !== "DELETE_COMPLETE"),
        input.NextToken,
      );
      return { Stacks: items.map(described), ...next };
    },
    ListStacks(input: ListStacksCommandInput) {
      const own = stacks.filter(
        ({ status }) =>
          (input.StackStatusFilter?.length ?? 0) === 0 ||
          input.StackStatusFilter!.includes(status as "CREATE_COMPLETE"),
      );
      const { items, next } = paged(own.reverse(), input.NextToken);
      return {
        StackSummaries: items.map((one) => ({
          StackId: one.id,
          StackName: one.name,
          CreationTime: one.createdAt,
          LastUpdatedTime: one.updatedAt,
          DeletionTime: one.deletedAt,
          StackStatus: one.status,
          StackStatusReason: one.reason,
        })),
        ...next,
      };
    },
    DescribeStackEvents(input: DescribeStackEventsCommandInput) {
      const found = stack(input.StackName);
      const { items, next } = paged([...found.events].reverse(), input.NextToken);
      return {
        StackEvents: items.map((event) => ({
          StackId: found.id,
          EventId: event.logicalId === found.name ? event.id : `${event.logicalId}-${event.id}`,
          StackName: found.name,
          LogicalResourceId: event.logicalId,
          PhysicalResourceId: event.physicalId ?? "",
          ResourceType: event.type,
          Timestamp: event.at,
          ResourceStatus: event.status,
          ...(event.reason !== undefined && { ResourceStatusReason: event.reason }),
          ...(event.properties !== undefined && { ResourceProperties: JSON.stringify(event.properties) }),
          ...(event.token !== undefined && { ClientRequestToken: event.token }),
        })),
        ...next,
      };
    },
    DescribeStackResources(input: DescribeStackResourcesCommandInput) {
      const found = stack(input.StackName);
      return {
        StackResources: resourcesOf(found).filter(
          (one) => (input.LogicalResourceId ?? one.LogicalResourceId) === one.LogicalResourceId,
        ),
      };
    },
    DescribeStackResource(input: { StackName?: string; LogicalResourceId?: string }) {
      const found = resourcesOf(stack(input.StackName)).find(
        (one) => one.LogicalResourceId === input.LogicalResourceId,
      );
      if (found === undefined)
        throw refusal(`Resource ${input.LogicalResourceId} does not exist for stack ${input.StackName}`);
      const { Timestamp, ...detail } = found;
      return { StackResourceDetail: { ...detail, LastUpdatedTimestamp: Timestamp } };
    },
    ListStackResources(input: { StackName?: string; NextToken?: string }) {
      const { items, next } = paged(resourcesOf(stack(input.StackName)), input.NextToken);
      return {
        StackResourceSummaries: items.map(({ StackId: _id, StackName: _name, Timestamp, ...one }) => ({
          ...one,
          LastUpdatedTimestamp: Timestamp,
        })),
        ...next,
      };
    },
    GetTemplate(input: { StackName?: string; ChangeSetName?: string }) {
      const body =
        input.ChangeSetName === undefined ? stack(input.StackName).desired.body : changeSet(input).desired.body;
      return { TemplateBody: body, StagesAvailable: ["Original", "Processed"] };
    },
    CreateChangeSet(input: CreateChangeSetCommandInput) {
      const type = input.ChangeSetType ?? "UPDATE";
      const name = input.ChangeSetName ?? "";
      if (!/^[a-zA-Z][-a-zA-Z0-9]{0,127}$/.test(name))
        throw refusal(
          `1 validation error detected: Value '${name}' at 'changeSetName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*`,
        );
      let found = find(input.StackName);
      if (type === "UPDATE") {
        found = stack(input.StackName);
        checkUpdatable(found);
      } else if (found !== undefined && found.status !== "REVIEW_IN_PROGRESS") {
        throw refusal(`Stack [${found.name}] already exists and cannot be created again with the changeSet [${name}].`);
      }
      const desired = desire(input, found?.desired);
      if (found === undefined) {
        found = newStack(world, region, input.StackName ?? "", desired);
        setStatus(world, found, "REVIEW_IN_PROGRESS", "User Initiated");
        stacks.set(found.id, found);
      }
      check(found, desired);
      if (found.changeSets.has(name))
        throw new AwsError(
          "AlreadyExistsException",
          `ChangeSet ${name} cannot be created due to a mismatch with existing attribute Template`,
        );
      const made = newChangeSet(world, found, {
        name,
        type: type === "CREATE" ? "CREATE" : "UPDATE",
        desired,
        description: input.Description,
      });
      found.changeSets.set(name, made);
      tasks.after(CHANGE_SET_MS, "changeSet", `${found.id} ${name}`);
      return { Id: made.id, StackId: found.id };
    },
    DescribeChangeSet(input: DescribeChangeSetCommandInput) {
      const { target, set } = located(input);
      const { items, next } = paged(set.changes, input.NextToken);
      return {
        ChangeSetName: set.name,
        ChangeSetId: set.id,
        StackId: target.id,
        StackName: target.name,
        Description: set.description,
        CreationTime: set.createdAt,
        ExecutionStatus: set.executionStatus,
        Status: set.status,
        StatusReason: set.reason,
        Tags: set.desired.tags,
        Parameters: parametersOf(set.desired),
        Capabilities: set.desired.capabilities,
        Changes:
          set.status === "CREATE_COMPLETE"
            ? items.map((change) => shown(change, input.IncludePropertyValues ?? false))
            : [],
        ...next,
      };
    },
    ListChangeSets(input: { StackName?: string }) {
      const found = stack(input.StackName);
      return {
        Summaries: [...found.changeSets.values()].map((set) => ({
          StackId: found.id,
          StackName: found.name,
          ChangeSetId: set.id,
          ChangeSetName: set.name,
          ExecutionStatus: set.executionStatus,
          Status: set.status,
          StatusReason: set.reason,
          CreationTime: set.createdAt,
        })),
      };
    },
    ExecuteChangeSet(input: {
      ChangeSetName?: string;
      StackName?: string;
      ClientRequestToken?: string;
      DisableRollback?: boolean;
    }) {
      const { target, set } = located(input);
      if (set.executionStatus !== "AVAILABLE") {
        throw new AwsError(
          "InvalidChangeSetStatus",
          `ChangeSet [${set.id}] cannot be executed in its current execution status of [${set.executionStatus}]`,
        );
      }
      if (set.type === "UPDATE") checkUpdatable(target);
      target.token = input.ClientRequestToken;
      target.disablesRollback = input.DisableRollback ?? false;
      target.lastChangeSetId = set.id;
      set.executionStatus = "EXECUTE_COMPLETE";
      if (set.type === "UPDATE") update(target, set.desired);
      else {
        target.desired = set.desired;
        work.create(target);
      }
      // All other change sets of the stack are gone with it.
      for (const [name, other] of target.changeSets) if (other !== set) target.changeSets.delete(name);
      return {};
    },
    DeleteChangeSet(input: { ChangeSetName?: string; StackName?: string }) {
      const target =
        find(input.StackName) ??
        stacks.find(({ changeSets }) => [...changeSets.values()].some(({ id }) => id === input.ChangeSetName));
      if (target === undefined) throw refusal(`Stack [${input.StackName}] does not exist`);
      for (const [name, set] of target.changeSets)
        if (name === input.ChangeSetName || set.id === input.ChangeSetName) target.changeSets.delete(name);
      return {};
    },
  };

  const located = (input: { ChangeSetName?: string | undefined; StackName?: string | undefined }) => {
    const isMeant = (set: ChangeSet, target: Stack) => {
      const isNamed =
        set.name === input.ChangeSetName && (target.name === input.StackName || target.id === input.StackName);
      return set.id === input.ChangeSetName || (isNamed && target.status !== "DELETE_COMPLETE");
    };
    const target = stacks.find((one) => [...one.changeSets.values()].some((set) => isMeant(set, one)));
    const set = target && [...target.changeSets.values()].find((one) => isMeant(one, target));
    if (target !== undefined && set !== undefined) return { target, set };
    throw new AwsError("ChangeSetNotFound", `ChangeSet [${input.ChangeSetName}] does not exist`, 404);
  };
  const changeSet = (input: { ChangeSetName?: string; StackName?: string }): ChangeSet => located(input).set;

  return {
    operations,
    stacks,
    find,
    /** The handler of a resource fails. */
    fail: (failure: ResourceFailure) => void failures.push(failure),
    /** When nothing is under way. */
    settled: work.settled,
  };
}

function fromBucket(world: World, url: string): string {
  const { hostname, pathname } = new URL(url);
  const path = decodeURIComponent(pathname).split("/").filter(Boolean);
  const [, hosted] = /^(.+)\.s3[.-][^.]*/.exec(hostname) ?? [];
  const bucket = hosted ?? path.shift() ?? "";
  const object = world.service("s3").buckets.get(bucket)?.objects.get(path.join("/"));
  if (object === undefined) throw refusal("S3 error: The specified key does not exist.");
  if (object.body.length > MAX_OBJECT_BYTES) throw refusal("Template may not exceed 1000000 bytes in size.");
  return object.body.read().toString();
}

function checkCapabilities(desired: Desired): void {
  const { capabilities } = desired;
  const roles = Object.values(templateOf(desired).Resources).filter(({ Type }) => /^AWS::IAM::/.test(Type));
  const isNamed = roles.some(({ Properties }) => Properties?.RoleName !== undefined);
  const needed = isNamed ? ["CAPABILITY_NAMED_IAM"] : ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"];
  if (roles.length === 0 || needed.some((one) => capabilities.includes(one))) return;
  throw new AwsError("InsufficientCapabilitiesException", `Requires capabilities : [${needed[0]}]`);
}

function parametersOf(desired: Desired) {
  const { parameters } = desired;
  return Object.entries(templateOf(desired).Parameters ?? {}).map(([ParameterKey, { Default, NoEcho }]) => ({
    ParameterKey,
    ParameterValue: String(NoEcho) === "true" ? "****" : String(parameters[ParameterKey] ?? Default),
  }));
}

function paged<Item>(items: readonly Item[], token: string | undefined) {
  const begin = Number(token ?? 0);
  const end = begin + PAGE_ITEMS;
  return { items: items.slice(begin, end), next: end < items.length ? { NextToken: String(end) } : {} };
}

function described(one: Stack): DescribedStack {
  return {
    StackId: one.id,
    StackName: one.name,
    Description: templateOf(one.desired).Description,
    Parameters: parametersOf(one.desired),
    CreationTime: one.createdAt,
    LastUpdatedTime: one.updatedAt,
    DeletionTime: one.deletedAt,
    StackStatus: one.status as "CREATE_COMPLETE",
    StackStatusReason: one.reason,
    DisableRollback: one.disablesRollback,
    Capabilities: [...one.desired.capabilities] as "CAPABILITY_IAM"[],
    Outputs: [...one.outputs],
    Tags: [...one.desired.tags],
    EnableTerminationProtection: one.isProtected,
    ChangeSetId: one.lastChangeSetId,
    NotificationARNs: [],
    DriftInformation: { StackDriftStatus: "NOT_CHECKED" },
  };
}

function resourcesOf(one: Stack) {
  return [...one.resources.values()].map((resource) => ({
    StackId: one.id,
    StackName: one.name,
    LogicalResourceId: resource.logicalId,
    PhysicalResourceId: resource.physicalId,
    ResourceType: resource.type,
    Timestamp: resource.updatedAt,
    ResourceStatus: resource.status,
    ...(resource.reason !== undefined && { ResourceStatusReason: resource.reason }),
    DriftInformation: { StackResourceDriftStatus: "NOT_CHECKED" },
  }));
}

/** Values only where they are asked for. */
function shown(change: ChangeSet["changes"][number], hasValues: boolean) {
  if (hasValues) return change;
  const { BeforeContext: _before, AfterContext: _after, Details = [], ...rest } = change.ResourceChange!;
  const details = Details.map(({ Target, ...detail }) => {
    const { BeforeValue: _old, AfterValue: _new, Path: _path, AttributeChangeType: _type, ...target } = Target!;
    return { ...detail, Target: target };
  });
  return { ...change, ResourceChange: { ...rest, Details: details } };
}
