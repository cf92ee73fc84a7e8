import { findNodeAtLocation, parseTree } from "jsonc-parser";

/** The hooks that `tool run` knows, in the order in which a deploy runs them. */
const HOOKS = ["prebuild", "build", "postbuild", "predeploy", "postdeploy", "clean"];

/** The hooks of a tool.json, as far as its text can be read, in that order. */
export function hooksOf(text: string): string[] {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const hooks = root && findNodeAtLocation(root, ["hooks"]);
  if (hooks?.type !== "object") return [];
  const names = (hooks.children ?? []).map(({ children = [] }) => String(children[0]?.value));
  return HOOKS.filter((name) => names.includes(name));
}
