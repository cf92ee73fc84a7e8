import type { Stack } from "@aws-sdk/client-cloudformation";
import type { Cloud } from "../clients.ts";
import { endpointOf, stackName } from "../names.ts";
import type { Template } from "./resource.ts";

/** What a stack says of itself, read in one call. */
export interface StackState {
  readonly name: string;
  readonly id: string;
  /** As CloudFormation calls it: `UPDATE_COMPLETE`. */
  readonly status: string;
  readonly statusReason: string | undefined;
  /** Absent until the stack was made once. */
  readonly apiId: string | undefined;
  /** Of what tool.json asked for at the last apply; compare to `templateHash`. */
  readonly templateHash: string | undefined;
  readonly stages: readonly StageState[];
  readonly domains: readonly DomainState[];
  /** The zones that the stack made. */
  readonly zones: readonly ZoneState[];
}

export interface StageState {
  readonly name: string;
  /** Whether the gateway may call the stage's function: after its first deploy. */
  readonly isOpen: boolean;
  /** Where it answers: on its domain, once that is in the stack. */
  readonly endpoint: string;
  /** What tool.json asks for, whether or not its certificate is issued. */
  readonly domain: string | undefined;
}

export interface DomainState {
  readonly name: string;
  /** Where a record of the domain has to point. */
  readonly target: string;
}

export interface ZoneState {
  readonly name: string;
  readonly id: string;
  readonly nameservers: readonly string[];
}

/** The state of an app's stack; undefined where there is none. */
export async function readStack(cloud: Cloud, name: string, signal?: AbortSignal): Promise<StackState | undefined> {
  const stack = await describeStack(cloud, stackName(name), signal);
  return stack === undefined ? undefined : stateOf(stack, cloud.region);
}

/** One stack by name or id; by id one that was deleted, too. */
export async function describeStack(cloud: Cloud, name: string, signal?: AbortSignal): Promise<Stack | undefined> {
  const client = await cloud.cloudFormation();
  try {
    const { Stacks } = await client.describeStacks({ StackName: name }, { ...(signal && { abortSignal: signal }) });
    return Stacks?.[0];
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The template in force; while the stack is changed, the one that it is changed to. */
export async function templateOf(cloud: Cloud, stackId: string, signal: AbortSignal): Promise<Template> {
  const client = await cloud.cloudFormation();
  const { TemplateBody } = await client.getTemplate({ StackName: stackId }, { abortSignal: signal });
  return JSON.parse(TemplateBody!) as Template;
}

/** There is no error of its own for it. */
export const isAbsent = (error: unknown) =>
  error instanceof Error && error.name === "ValidationError" && /does not exist/.test(error.message);

export function stateOf(stack: Stack, region: string): StackState {
  const outputs = new Map((stack.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue ?? ""]));
  const all = <T>(prefix: string): T[] =>
    [...outputs].flatMap(([key, value]) =>
      key.startsWith(prefix) && value.startsWith("{") ? [JSON.parse(value)] : [],
    );
  const apiId = outputs.get("ApiId");
  const domains = all<DomainState>("Domain");
  const stages = all<{ name: string; isOpen: boolean; domain?: string; path?: string }>("Stage");
  return {
    name: stack.StackName!,
    id: stack.StackId!,
    status: stack.StackStatus!,
    statusReason: stack.StackStatusReason,
    apiId,
    templateHash: outputs.get("TemplateHash"),
    stages: stages.map(({ name, isOpen, domain, path }) => ({
      name,
      isOpen,
      endpoint: domains.some((one) => one.name === domain)
        ? `https://${domain}/${(path ?? "").replace(/^\/+|\/+$/g, "")}`.replace(/\/?$/, "/")
        : endpointOf(apiId ?? "", region, name),
      domain,
    })),
    domains,
    zones: all<{ name: string; id: string; nameservers: string }>("Zone").map((zone) => ({
      ...zone,
      nameservers: zone.nameservers.split(",").sort(),
    })),
  };
}
