import { findNodeAtLocation, parseTree } from "jsonc-parser";

/** The name of the app that a tool.json says, as far as its text can be read; undefined where it says none. */
export function configName(text: string): string | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const name: unknown = root && findNodeAtLocation(root, ["name"])?.value;
  return typeof name === "string" && name.trim() !== "" ? name : undefined;
}
