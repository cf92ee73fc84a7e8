import type { Stack } from "@aws-sdk/client-cloudformation";
import type { Cloud } from "../clients.ts";
import { stackName, stageEndpoint } from "../names.ts";
import type { TemplateDocument } from "./resource.ts";

/** The state of a stack, from its outputs: one call. */
export interface StackState {
  readonly name: string;
  readonly id: string;
  /** CloudFormation's status, such as `UPDATE_COMPLETE`. */
  readonly status: string;
  readonly statusReason: string | undefined;
  /** Absent until the stack was created. */
  readonly apiId: string | undefined;
  /** Hash of what tool.json asked for at the last apply, to compare with `templateHash`. */
  readonly templateHash: string | undefined;
  readonly stages: readonly StageState[];
  readonly domains: readonly DomainState[];
  /** The zones that the stack created. */
  readonly zones: readonly ZoneState[];
}

export interface StageState {
  readonly name: string;
  /** Whether the gateway may invoke the stage's function: after its first deploy. */
  readonly isOpen: boolean;
  /** The URL of the stage: of its domain, once that is in the stack. */
  readonly endpoint: string;
  /** The domain in tool.json, whether or not its certificate is issued. */
  readonly domain: string | undefined;
}

export interface DomainState {
  readonly name: string;
  /** The name that the domain's DNS record has to point to. */
  readonly target: string;
}

export interface ZoneState {
  readonly name: string;
  readonly id: string;
  readonly nameservers: readonly string[];
}

/** The state of an app's stack; undefined if there is none. */
export async function readStack(cloud: Cloud, name: string, signal?: AbortSignal): Promise<StackState | undefined> {
  const stack = await describeStack(cloud, stackName(name), signal);
  return stack === undefined ? undefined : stateOf(stack, cloud);
}

/** A stack by name or id. A deleted stack is found by id only. */
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

/** The current template; during an update, the new one. */
export async function readTemplate(cloud: Cloud, stackId: string, signal: AbortSignal): Promise<TemplateDocument> {
  const client = await cloud.cloudFormation();
  const { TemplateBody } = await client.getTemplate({ StackName: stackId }, { abortSignal: signal });
  return JSON.parse(TemplateBody!) as TemplateDocument;
}

/** CloudFormation has no specific error for an absent stack. */
const isAbsent = (error: unknown) =>
  error instanceof Error && error.name === "ValidationError" && /does not exist/.test(error.message);

export function stateOf(stack: Stack, { region, sandbox }: Pick<Cloud, "region" | "sandbox">): StackState {
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
      endpoint:
        // A custom domain leads elsewhere on this machine, if anywhere.
        sandbox?.urlOf(stack.StackName!, name) ??
        (domains.some((one) => one.name === domain)
          ? `https://${domain}/${(path ?? "").replace(/^\/+|\/+$/g, "")}`.replace(/\/?$/, "/")
          : stageEndpoint(apiId ?? "", region, name)),
      domain,
    })),
    domains,
    zones: all<{ name: string; id: string; nameservers: string }>("Zone").map((zone) => ({
      ...zone,
      nameservers: zone.nameservers.split(",").sort(),
    })),
  };
}
