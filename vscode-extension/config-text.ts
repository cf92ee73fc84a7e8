// Reads from the text of a tool.json what the extension needs itself, as far as that can be read.
import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/** The name of the app; undefined if there is none. */
export function configName(text: string): string | undefined {
  const name: unknown = nodeAt(text, "name")?.value;
  return typeof name === "string" && name.trim() !== "" ? name : undefined;
}

/** The hooks that `tool run` knows, in the order in which a deploy runs them. */
const HOOKS = ["prebuild", "build", "postbuild", "predeploy", "postdeploy", "clean"];

/** The hooks that are written, in that order. */
export function hooksOf(text: string): string[] {
  const names = keysAt(text, "hooks");
  return HOOKS.filter((name) => names.includes(name));
}

/** The stages that exist without being written. */
const REMOTE_STAGES = ["staging", "production"];

/** The stages that can be deployed. */
export function remoteStagesOf(text: string): string[] {
  const names = [...REMOTE_STAGES, ...keysAt(text, "stages")];
  return [...new Set(names.filter((name) => name !== "" && name !== "development"))];
}

/** The keys of a section, as they are written; none if it is not an object. */
function keysAt(text: string, section: string): string[] {
  const node = nodeAt(text, section);
  const members = node?.type === "object" ? (node.children ?? []) : [];
  return members.map(({ children = [] }) => String(children[0]?.value));
}

function nodeAt(text: string, section: string): Node | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && findNodeAtLocation(root, [section]);
}
