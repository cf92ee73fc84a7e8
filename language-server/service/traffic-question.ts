import { isLoopback } from "../../grammar/address/loopback.ts";
import { memberOf, type Node } from "../../schema/json.ts";
import { projectIdOf } from "../../schema/project-id.ts";

/** Where the log of an app's deployed stages is: an origin and a project of it. */
export interface TrafficQuestion {
  readonly service: string;
  readonly project: string;
}

/** The service and project that a tool.json names; undefined if it names none that a credential may be sent to. */
export function trafficQuestionOf(root: Node | undefined): TrafficQuestion | undefined {
  const text = (node: Node | undefined) => (node?.type === "string" ? node.value : undefined);
  const logs = memberOf(root, "logs")?.value;
  const service = text(memberOf(logs, "service")?.value) ?? "";
  if (service === "") return undefined;
  const url = URL.canParse(service) ? new URL(service) : undefined;
  if (url === undefined || (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))))
    return undefined;
  const project = text(memberOf(logs, "project")?.value) ?? projectIdOf(text(memberOf(root, "name")?.value) ?? "");
  return project === undefined || project === "" ? undefined : { service: url.origin, project };
}
