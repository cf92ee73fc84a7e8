// The state that a request wants a stack to be in, and whether a stack can be brought there.
import type {
  CreateChangeSetCommandInput,
  CreateStackCommandInput,
  UpdateStackCommandInput,
} from "@aws-sdk/client-cloudformation";
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";
import { type Desired, desiredTemplateOf, type Stack, templateScopeOf } from "./stack.ts";
import { MAX_BODY_BYTES, MAX_OBJECT_BYTES, parseStackTemplate, refusal } from "./template.ts";
import { resolveValue } from "./values.ts";

export type DesireInput = CreateStackCommandInput | UpdateStackCommandInput | CreateChangeSetCommandInput;

/** `before` is the state of the stack now, parts of which a request may keep. */
export function desire(world: World, input: DesireInput, before: Desired | undefined): Desired {
  const body = bodyOf(world, input, before);
  const template = parseStackTemplate(body);
  const parameters: Record<string, unknown> = {};
  for (const { ParameterKey = "", ParameterValue, UsePreviousValue } of input.Parameters ?? []) {
    if (template.Parameters?.[ParameterKey] === undefined)
      throw refusal(`Parameters: [${ParameterKey}] do not exist in the template`);
    parameters[ParameterKey] = UsePreviousValue ? before?.parameters[ParameterKey] : ParameterValue;
  }
  const tags = input.Tags?.map(({ Key = "", Value = "" }) => ({ Key, Value })) ?? before?.tags ?? [];
  const desired = { body, parameters, tags, capabilities: input.Capabilities ?? [] };
  checkCapabilities(desired);
  return desired;
}

function bodyOf(world: World, input: DesireInput, before: Desired | undefined): string {
  if ("UsePreviousTemplate" in input && input.UsePreviousTemplate && before !== undefined) return before.body;
  if (input.TemplateBody !== undefined) {
    if (Buffer.byteLength(input.TemplateBody) > MAX_BODY_BYTES) {
      throw refusal(
        `1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to ${MAX_BODY_BYTES}`,
      );
    }
    return input.TemplateBody;
  }
  if (input.TemplateURL === undefined) throw refusal("Either Template URL or Template Body must be specified.");
  return fromBucket(world, input.TemplateURL);
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
  const roles = Object.values(desiredTemplateOf(desired).Resources).filter(({ Type }) => /^AWS::IAM::/.test(Type));
  const isNamed = roles.some(({ Properties }) => Properties?.RoleName !== undefined);
  const accepted = isNamed ? ["CAPABILITY_NAMED_IAM"] : ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"];
  if (roles.length === 0 || accepted.some((one) => capabilities.includes(one))) return;
  throw new AwsError("InsufficientCapabilitiesException", `Requires capabilities : [${accepted[0]}]`);
}

/** All functions are tried once, so that what they cannot do is said before anything is made. */
export function checkDesired(world: World, target: Stack, desired: Desired): void {
  const scope = templateScopeOf(world, target, desired, () => true);
  for (const { Properties } of Object.values(desiredTemplateOf(desired).Resources))
    resolveValue(Properties ?? {}, scope);
  for (const { Value } of Object.values(desiredTemplateOf(desired).Outputs ?? {})) resolveValue(Value, scope);
  const retyped = Object.entries(desiredTemplateOf(desired).Resources).filter(
    ([name, { Type }]) => (target.resources.get(name)?.type ?? Type) !== Type,
  );
  if (retyped.length > 0) {
    throw refusal(
      `Update of resource type is not permitted. The new template modifies resource type of the following resources: [${retyped.map(([name]) => name).join(", ")}]`,
    );
  }
}

export function checkUpdatable(stack: Stack): void {
  if (/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/.test(stack.status)) return;
  throw refusal(`Stack:${stack.id} is in ${stack.status} state and can not be updated.`);
}

/** `member` is the name in the request. */
export function checkStackName(member: "stackName" | "changeSetName", name: string): void {
  if (/^[a-zA-Z][-a-zA-Z0-9]{0,127}$/.test(name)) return;
  throw refusal(
    `1 validation error detected: Value '${name}' at '${member}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*`,
  );
}
