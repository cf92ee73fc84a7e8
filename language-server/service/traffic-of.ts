import type { ToolDocument } from "./document.ts";
import type { Project } from "./project.ts";
import type { EditorSettings } from "./settings.ts";
import type { TrafficNow } from "./traffic.ts";
import { trafficQuestionOf } from "./traffic-question.ts";

/** The traffic of a document's project, as far as it is known; none for a draft, which may be of another app. */
export function trafficOf(
  document: ToolDocument,
  project: Project,
  { traffic: source }: Pick<EditorSettings, "traffic">,
): TrafficNow | undefined {
  if (document.kind === "config" && document.name !== "tool.json") return undefined;
  const config = document.kind === "config" ? document : project.config?.();
  return config && project.traffic?.(trafficQuestionOf(config.root), source);
}
