// A stack: what it was told, what it made, and every event on the way.

import { randomUUID } from "node:crypto";
import type { Change } from "@aws-sdk/client-cloudformation";
import { randomLetters } from "../random-name.ts";
import type { World } from "../world.ts";
import { refusal, type Template } from "./template.ts";
import { resourceType } from "./types/index.ts";
import type { Properties, ResourceContext } from "./types/type.ts";
import { conditionHolds, type TemplateScope, Unknown } from "./values.ts";

export interface ChangeSet {
  readonly id: string;
  readonly name: string;
  readonly type: "CREATE" | "UPDATE";
  readonly description: string | undefined;
  readonly desired: Desired;
  readonly createdAt: Date;
  /** Whether resources, outputs or tags differ. */
  readonly hasChanges: boolean;
  readonly changes: readonly Change[];
  status: "CREATE_PENDING" | "CREATE_IN_PROGRESS" | "CREATE_COMPLETE" | "FAILED";
  reason: string | undefined;
  executionStatus:
    | "UNAVAILABLE"
    | "AVAILABLE"
    | "EXECUTE_IN_PROGRESS"
    | "EXECUTE_COMPLETE"
    | "EXECUTE_FAILED"
    | "OBSOLETE";
}

export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  physicalId: string | undefined;
  /** With all functions done. */
  properties: Properties;
  status: string;
  reason: string | undefined;
  updatedAt: Date;
}

export interface StackEvent {
  readonly id: string;
  readonly logicalId: string;
  readonly physicalId: string | undefined;
  readonly type: string;
  readonly at: Date;
  readonly status: string;
  readonly reason: string | undefined;
  readonly properties: Properties | undefined;
  readonly token: string | undefined;
}

export interface Desired {
  readonly body: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly tags: readonly { readonly Key: string; readonly Value: string }[];
  readonly capabilities: readonly string[];
}

export interface Stack {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  desired: Desired;
  status: string;
  reason: string | undefined;
  readonly createdAt: Date;
  updatedAt: Date | undefined;
  deletedAt: Date | undefined;
  disablesRollback: boolean;
  isProtected: boolean;
  token: string | undefined;
  /** Oldest first. */
  readonly events: StackEvent[];
  readonly resources: Map<string, StackResource>;
  outputs: readonly { readonly OutputKey: string; readonly OutputValue: string; readonly Description?: string }[];
  readonly changeSets: Map<string, ChangeSet>;
  lastChangeSetId: string | undefined;
  /** The operation in progress. */
  operation: StackOperation | undefined;
}

/** Where a resource is on its way: told to the service after half of its time, complete after all of it. */
export type ResourceStep = "begun" | "told" | "done" | "failed";

/** All that a stack's work needs to go on after a restart. */
export type StackOperation = Making | Removing;

/** Resources are made and changed. */
export interface Making {
  readonly phase: "making";
  /** The state of the stack before an update. */
  readonly before: { readonly desired: Desired; readonly resources: ReadonlyMap<string, StackResource> } | undefined;
  /** By logical id; without those that wait for others. */
  readonly steps: Map<string, ResourceStep>;
  /** In the order of their beginning. */
  readonly changed: string[];
  /** The resources that were made anew, as they were before. */
  readonly replaced: StackResource[];
  readonly failed: string[];
}

/** Resources are deleted. */
export interface Removing {
  readonly phase: "removing";
  /** Why, which says what the stack is afterwards. */
  readonly after: "create" | "update" | "rollback" | "delete";
  /** Whose template says what depends on what. */
  readonly desired: Desired;
  readonly resources: readonly StackResource[];
  /** By logical id; without those that wait for others. */
  readonly steps: Map<string, ResourceStep>;
}

const templates = new WeakMap<Desired, Template>();

/** The body was checked when it came. */
export function desiredTemplateOf(desired: Desired): Template {
  const template = templates.get(desired) ?? (JSON.parse(desired.body) as Template);
  templates.set(desired, template);
  return template;
}

export function newStack(world: World, region: string, name: string, desired: Desired): Stack {
  return {
    id: `arn:aws:cloudformation:${region}:${world.accountId}:stack/${name}/${randomUUID()}`,
    name,
    region,
    desired,
    status: "REVIEW_IN_PROGRESS",
    reason: undefined,
    createdAt: world.clock.date(),
    updatedAt: undefined,
    deletedAt: undefined,
    disablesRollback: false,
    isProtected: false,
    token: undefined,
    events: [],
    resources: new Map(),
    outputs: [],
    changeSets: new Map(),
    lastChangeSetId: undefined,
    operation: undefined,
  };
}

const STACK_TYPE = "AWS::CloudFormation::Stack";

export function setStatus(world: World, stack: Stack, status: string, reason?: string): void {
  stack.status = status;
  stack.reason = reason;
  addEvent(world, stack, {
    logicalId: stack.name,
    physicalId: stack.id,
    type: STACK_TYPE,
    status,
    reason,
    properties: undefined,
  });
}

export function setResource(
  { world, stack }: { readonly world: World; readonly stack: Stack },
  resource: StackResource,
  status: string,
  reason?: string,
): void {
  resource.status = status;
  resource.reason = reason;
  resource.updatedAt = world.clock.date();
  addEvent(world, stack, { ...resource, status, reason });
}

function addEvent(world: World, stack: Stack, event: Omit<StackEvent, "id" | "at" | "token">): void {
  const { logicalId, physicalId, type, status, reason, properties } = event;
  stack.events.push({
    id: randomUUID(),
    logicalId,
    physicalId,
    type,
    status,
    reason,
    properties,
    at: world.clock.nextDate(),
    token: stack.token,
  });
}

export function resourceContextOf(world: World, stack: Stack, logicalId: string): ResourceContext {
  return {
    world,
    region: stack.region,
    stackName: stack.name,
    logicalId,
    uniqueName(maxLength) {
      const letters = randomLetters(12);
      const room = maxLength - letters.length - 1;
      const whole = `${stack.name}-${logicalId}`;
      if (whole.length <= room) return `${whole}-${letters}`;
      // As names in real accounts look: at most half of the room is the stack's.
      const name = stack.name.slice(0, Math.floor((room - 1) / 2));
      return `${name}-${logicalId.slice(0, room - 1 - name.length)}-${letters}`;
    },
  };
}

/** Whether the resource's condition holds. */
export function isActive(world: World, stack: Stack, desired: Desired, logicalId: string): boolean {
  const { Condition } = desiredTemplateOf(desired).Resources[logicalId]!;
  return Condition === undefined || conditionHolds(Condition, templateScopeOf(world, stack, desired));
}

/** `isUnsettled` names resources whose ids and attributes are not known yet. */
export function templateScopeOf(
  world: World,
  stack: Stack,
  desired: Desired,
  isUnsettled: (logicalId: string) => boolean = () => false,
): TemplateScope {
  const settledResource = (logicalId: string) => {
    const resource = stack.resources.get(logicalId);
    return resource?.physicalId === undefined || isUnsettled(logicalId) ? undefined : resource;
  };
  return {
    template: desiredTemplateOf(desired),
    parameters: {
      ...parametersOf(desired),
      "AWS::AccountId": world.accountId,
      "AWS::NotificationARNs": [],
      "AWS::Partition": "aws",
      "AWS::Region": stack.region,
      "AWS::StackId": stack.id,
      "AWS::StackName": stack.name,
      "AWS::URLSuffix": "amazonaws.com",
    },
    ref(logicalId) {
      const resource = settledResource(logicalId);
      if (resource === undefined) return new Unknown(logicalId);
      const type = resourceType(resource.type);
      return (
        type.ref?.(resourceContextOf(world, stack, logicalId), resource.physicalId!, resource.properties) ??
        resource.physicalId
      );
    },
    attribute(logicalId, attribute) {
      const type = resourceType(desiredTemplateOf(desired).Resources[logicalId]!.Type);
      if (!type.attributes.includes(attribute)) {
        throw refusal(
          `Template error: resource ${logicalId} does not support attribute type ${attribute} in Fn::GetAtt`,
        );
      }
      const resource = settledResource(logicalId);
      if (resource === undefined) return new Unknown(logicalId, attribute);
      return type.attribute(
        resourceContextOf(world, stack, logicalId),
        resource.physicalId!,
        attribute,
        resource.properties,
      );
    },
  };
}

function parametersOf(desired: Desired): Record<string, unknown> {
  const { parameters } = desired;
  return Object.fromEntries(
    Object.entries(desiredTemplateOf(desired).Parameters ?? {}).map(([name, { Type, Default }]) => {
      const value = parameters[name] ?? Default;
      if (value === undefined) throw refusal(`Parameters: [${name}] must have values`);
      return [name, /^(CommaDelimitedList|List<)/.test(Type) ? String(value).split(",") : value];
    }),
  );
}
