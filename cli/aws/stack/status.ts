import type { StackResourceSummary } from "@aws-sdk/client-cloudformation";
import type { StackStatus, StackZone } from "../../platform/stack.ts";
import type { Cloud } from "../clients.ts";
import { stackName } from "../names.ts";
import { findCertificates } from "./certificates.ts";
import { stageDomain, zonesOf } from "./domains.ts";
import type { StackInput } from "./resource.ts";
import { describeStack, readTemplate, stateOf } from "./state.ts";
import { partialHash, resolveInput, wantedStages } from "./template.ts";
import { findZones, nameserversOf, zoneOf } from "./zones.ts";

/** Everything that `stack status` shows; undefined if there is no stack. */
export async function readStatus(
  cloud: Cloud,
  input: StackInput,
  signal: AbortSignal,
): Promise<StackStatus | undefined> {
  const stack = await describeStack(cloud, stackName(input.name), signal);
  if (stack === undefined) return undefined;
  const state = stateOf(stack, cloud);
  const { config } = resolveInput(input);
  const present = state.stages.map(({ name }) => name);
  const stages = wantedStages(input.config, present);
  const domains = [...new Set(stages.flatMap((stage) => stageDomain(config, stage) ?? []))];
  const [template, resources, otherZones, certificates] = await Promise.all([
    readTemplate(cloud, state.id, signal),
    listResources(cloud, state.id, signal),
    findZones(
      cloud,
      zonesOf(config, stages).filter((zone) => !state.zones.some(({ name }) => name === zone)),
      signal,
    ),
    findCertificates(cloud, domains, {}, signal),
  ]);
  const issued = certificates.filter((one) => one.state === "issued").map(({ domain }) => domain);
  const others: StackZone[] = [];
  for (const [name, id] of Object.entries(otherZones)) {
    others.push({ name, nameservers: await nameserversOf(cloud, id, signal), isOurs: false });
  }
  const held = { ...otherZones, ...Object.fromEntries(state.zones.map(({ name, id }) => [name, id])) };
  return {
    name: state.name,
    region: cloud.region,
    state: state.status,
    stages: state.stages.map(({ name, endpoint, domain, isOpen }) => ({
      stage: name,
      endpoint,
      domain,
      target: state.domains.find((one) => one.name === domain)?.target,
      isDeployed: isOpen,
    })),
    certificates: certificates.map(({ arn: _, ...certificate }) => {
      const { validation, domain } = certificate;
      // Apply writes the record if the zone is ours.
      return validation?.by === "record"
        ? { ...certificate, validation: { ...validation, isMade: zoneOf(domain, held) !== undefined } }
        : certificate;
    }),
    zones: [...state.zones.map(({ name, nameservers }) => ({ name, nameservers, isOurs: true })), ...others],
    resources: resources.map(({ LogicalResourceId, ResourceType, PhysicalResourceId, ResourceStatus }) => {
      const about = template.Resources[LogicalResourceId!]?.Metadata?.tool;
      return {
        id: LogicalResourceId!,
        type: ResourceType!,
        about: about?.about ?? LogicalResourceId!,
        stage: about?.stage,
        physicalId: PhysicalResourceId,
        state: ResourceStatus!,
      };
    }),
    // A domain that waits for its certificate cannot be applied yet.
    isBehind: state.templateHash !== partialHash(input, stages, issued),
  };
}

async function listResources(cloud: Cloud, stackId: string, signal: AbortSignal): Promise<StackResourceSummary[]> {
  const client = await cloud.cloudFormation();
  const resources: StackResourceSummary[] = [];
  for (let NextToken: string | undefined; ; ) {
    const page = await client.listStackResources(
      { StackName: stackId, ...(NextToken !== undefined && { NextToken }) },
      { abortSignal: signal },
    );
    // Deleted resources are listed for a while.
    resources.push(...(page.StackResourceSummaries ?? []).filter((one) => one.ResourceStatus !== "DELETE_COMPLETE"));
    NextToken = page.NextToken;
    if (NextToken === undefined) return resources;
  }
}
