// The requests that describe and list stacks, their events and their resources.
import type {
  Stack as DescribedStack,
  DescribeStackEventsCommandInput,
  DescribeStackResourcesCommandInput,
  DescribeStacksCommandInput,
  ListStacksCommandInput,
} from "@aws-sdk/client-cloudformation";
import { type Desired, desiredTemplateOf, type Stack } from "./stack.ts";
import type { CloudFormationState } from "./state.ts";
import { refusal } from "./template.ts";

/** "DescribeStackEvents", "ListStackResources" and the like give 100 at a time. */
const PAGE_ITEMS = 100;

export function stackDescriptions(state: CloudFormationState) {
  return {
    DescribeStacks(input: DescribeStacksCommandInput) {
      if (input.StackName !== undefined) return { Stacks: [described(state.stack(input.StackName))] };
      const { items, next } = paged(
        state.stacks.filter(({ status }) => status !== "DELETE_COMPLETE"),
        input.NextToken,
      );
      return { Stacks: items.map(described), ...next };
    },
    ListStacks(input: ListStacksCommandInput) {
      const own = state.stacks.filter(
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
      const stack = state.stack(input.StackName);
      const { items, next } = paged([...stack.events].reverse(), input.NextToken);
      return {
        StackEvents: items.map((event) => ({
          StackId: stack.id,
          EventId: event.logicalId === stack.name ? event.id : `${event.logicalId}-${event.id}`,
          StackName: stack.name,
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
      const stack = state.stack(input.StackName);
      return {
        StackResources: resourcesOf(stack).filter(
          (one) => (input.LogicalResourceId ?? one.LogicalResourceId) === one.LogicalResourceId,
        ),
      };
    },
    DescribeStackResource(input: { StackName?: string; LogicalResourceId?: string }) {
      const resource = resourcesOf(state.stack(input.StackName)).find(
        (one) => one.LogicalResourceId === input.LogicalResourceId,
      );
      if (resource === undefined)
        throw refusal(`Resource ${input.LogicalResourceId} does not exist for stack ${input.StackName}`);
      const { Timestamp, ...detail } = resource;
      return { StackResourceDetail: { ...detail, LastUpdatedTimestamp: Timestamp } };
    },
    ListStackResources(input: { StackName?: string; NextToken?: string }) {
      const { items, next } = paged(resourcesOf(state.stack(input.StackName)), input.NextToken);
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
        input.ChangeSetName === undefined
          ? state.stack(input.StackName).desired.body
          : state.changeSet(input).set.desired.body;
      return { TemplateBody: body, StagesAvailable: ["Original", "Processed"] };
    },
  };
}

function described(one: Stack): DescribedStack {
  return {
    StackId: one.id,
    StackName: one.name,
    Description: desiredTemplateOf(one.desired).Description,
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

export function parametersOf(desired: Desired) {
  const { parameters } = desired;
  return Object.entries(desiredTemplateOf(desired).Parameters ?? {}).map(([ParameterKey, { Default, NoEcho }]) => ({
    ParameterKey,
    ParameterValue: String(NoEcho) === "true" ? "****" : String(parameters[ParameterKey] ?? Default),
  }));
}

export function paged<Item>(items: readonly Item[], token: string | undefined) {
  const begin = Number(token ?? 0);
  const end = begin + PAGE_ITEMS;
  return { items: items.slice(begin, end), next: end < items.length ? { NextToken: String(end) } : {} };
}
