// Requests of the query protocol: a form whose names are paths, A.member.1.B=value.
import type { NormalizedSchema } from "@smithy/core/schema";
import { fromText } from "./xml.ts";

type Tree = Map<string, Tree | string>;

export function parseForm(body: string): Tree {
  const tree: Tree = new Map();
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.split(".");
    let at = tree;
    for (const step of path.slice(0, -1)) {
      const next = at.get(step);
      const below: Tree = next instanceof Map ? next : new Map();
      at.set(step, below);
      at = below;
    }
    at.set(path[path.length - 1]!, value);
  }
  return tree;
}

export function fromForm(schema: NormalizedSchema, tree: Tree | string): unknown {
  if (schema.isStructSchema()) {
    const found: Record<string, unknown> = {};
    if (typeof tree === "string") return found;
    for (const [name, member] of schema.structIterator()) {
      const own = tree.get(member.getMergedTraits().xmlName ?? name);
      if (own !== undefined) found[name] = fromForm(member, own);
    }
    return found;
  }
  if (schema.isListSchema()) {
    if (typeof tree === "string") return [];
    const item = schema.getValueSchema();
    const items = schema.getMergedTraits().xmlFlattened ? tree : tree.get(item.getMergedTraits().xmlName ?? "member");
    return items instanceof Map ? [...items.values()].map((one) => fromForm(item, one)) : [];
  }
  if (schema.isMapSchema()) {
    if (typeof tree === "string") return {};
    const entries = schema.getMergedTraits().xmlFlattened ? tree : tree.get("entry");
    if (!(entries instanceof Map)) return {};
    const keyName = schema.getKeySchema().getMergedTraits().xmlName ?? "key";
    const valueName = schema.getValueSchema().getMergedTraits().xmlName ?? "value";
    return Object.fromEntries(
      [...entries.values()].map((entry) => {
        const pair = entry as Tree;
        return [pair.get(keyName), fromForm(schema.getValueSchema(), pair.get(valueName) ?? "")];
      }),
    );
  }
  return fromText(schema, tree as string);
}
