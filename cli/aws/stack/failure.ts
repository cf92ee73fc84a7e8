import type { StackEvent as CloudEvent } from "@aws-sdk/client-cloudformation";
import { PlatformError } from "../../platform/error.ts";
import { policyThatAllows, withoutPeriod } from "../errors.ts";
import type { About } from "./resource.ts";

/**
 * Why an operation failed: the first FAILED event that is not a consequence of another. Later failures (cancelled resources,
 * the rollback, the stack itself) follow from it.
 */
export function explainFailure(
  name: string,
  status: string,
  events: readonly CloudEvent[],
  about: Readonly<Record<string, About>>,
): PlatformError {
  const failed = events.filter(({ ResourceStatus, ResourceType }) => {
    return ResourceStatus?.endsWith("_FAILED") && ResourceType !== "AWS::CloudFormation::Stack";
  });
  const root = failed.find(({ ResourceStatusReason }) => !/cancelled/i.test(ResourceStatusReason ?? "")) ?? failed[0];
  const after = AFTER[status] ?? `the stack is ${status} now`;
  if (root === undefined) {
    const reason = events.findLast(({ ResourceStatusReason }) => ResourceStatusReason)?.ResourceStatusReason;
    return new PlatformError(
      "stack/failed",
      `the stack ${name} failed${reason === undefined ? "" : `: ${withoutPeriod(reason)}`}`,
      after,
    );
  }
  const reason = root.ResourceStatusReason ?? "no reason was given";
  const id = root.LogicalResourceId!;
  const what = about[id] === undefined ? id : `${about[id].about}${about[id].stage ? ` of ${about[id].stage}` : ""}`;
  const verb = root.ResourceStatus!.split("_")[0]!.toLowerCase();
  const row = REASONS.find(({ matches }) => matches.test(reason));
  return new PlatformError(
    row?.code ?? "stack/failed",
    `cannot ${verb} ${what}: ${withoutPeriod(readable(reason))}`,
    [...(row === undefined ? [] : [typeof row.hint === "string" ? row.hint : row.hint(reason)]), after].join("\n"),
  );
}

/** The state of the stack after a failed operation, by status. */
const AFTER: Readonly<Record<string, string>> = {
  ROLLBACK_COMPLETE: "everything created was removed again; the next run creates the stack from scratch",
  ROLLBACK_FAILED: "some of what was created could not be removed; the next run removes it",
  UPDATE_ROLLBACK_COMPLETE: "the stack is as it was before; nothing was changed",
  UPDATE_ROLLBACK_FAILED: "the rollback failed: the stack is in a mixed state",
  DELETE_FAILED: "run the command again to delete the rest of the stack",
};

/** Hints for known reasons. The first match wins. */
const REASONS: readonly {
  readonly code: string;
  readonly matches: RegExp;
  readonly hint: string | ((reason: string) => string);
}[] = [
  {
    code: "stack/certificate",
    matches: /unable to associate certificate|certificate .*(not (valid|verified|found|issued)|must be in us-east-1)/i,
    hint: "the certificate was not verified, or is in a region other than us-east-1: tool stack status shows its state and what to do",
  },
  {
    code: "access/denied",
    matches: /not authorized|access ?denied|UnauthorizedOperation/i,
    hint: (reason) => `allow it to the account's user or role; ${policyThatAllows(reason)}`,
  },
  {
    code: "stack/subscriptions",
    // CloudWatch Logs says no more than that.
    matches: /resource limit exceeded/i,
    hint: "the log has two subscriptions, and may have no more: remove one that is not needed in CloudWatch",
  },
  {
    code: "stack/domain-taken",
    matches: /domain name you provided already exists|CNAMEAlreadyExists|already associated with/i,
    hint: "the domain belongs to another gateway or distribution: remove it there first",
  },
  {
    code: "stack/exists",
    matches: /already exists/i,
    hint: "a resource with this name was made by hand or by another tool: remove or rename it",
  },
  {
    code: "platform/throttled",
    matches: /rate exceeded|throttl|too many requests/i,
    hint: "the cloud is throttling requests: wait a minute and run the command again",
  },
  {
    code: "platform/limit",
    matches: /limit ?exceeded|quota/i,
    hint: "a limit of the account is reached: remove unused resources, or ask the cloud provider for a higher limit",
  },
];

/**
 * Unwraps a service's message from that of CloudFormation's resource handler:
 * `Resource handler returned message: "..." (RequestToken: ...)`.
 */
export function readable(reason: string): string {
  const inner = /Resource handler returned message: "(.*)" \(RequestToken: [^)]*\)$/s.exec(reason)?.[1] ?? reason;
  return inner.replace(/ \(Service: [^()]*(\([^()]*\)[^()]*)*\)/g, "");
}
