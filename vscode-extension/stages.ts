import { findNodeAtLocation, parseTree } from "jsonc-parser";

/** The stages that are there without being written. */
const REMOTE_STAGES = ["staging", "production"];

/** The stages that can be deployed by a tool.json, as far as its text can be read. */
export function remoteStagesOf(text: string): string[] {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const stages = root && findNodeAtLocation(root, ["stages"]);
  const written =
    stages?.type === "object" ? (stages.children ?? []).map(({ children = [] }) => children[0]?.value) : [];
  const names = [...REMOTE_STAGES, ...written.map(String)].filter((name) => name !== "" && name !== "development");
  return [...new Set(names)];
}
