// Requests of the query protocol: a form whose names are paths, A.member.1.B=value.
import type { Shape } from "./shape.ts";
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

export function fromForm(shape: Shape, tree: Tree | string): unknown {
  if (shape.kind === "struct") {
    const struct: Record<string, unknown> = {};
    if (typeof tree === "string") return struct;
    for (const [name, member] of shape.members) {
      const own = tree.get(member.traits.xmlName ?? name);
      if (own !== undefined) struct[name] = fromForm(member, own);
    }
    return struct;
  }
  if (shape.kind === "list") {
    if (typeof tree === "string") return [];
    const item = shape.item;
    const items = shape.traits.xmlFlattened ? tree : tree.get(item.traits.xmlName ?? "member");
    return items instanceof Map ? [...items.values()].map((one) => fromForm(item, one)) : [];
  }
  if (shape.kind === "map") {
    if (typeof tree === "string") return {};
    const entries = shape.traits.xmlFlattened ? tree : tree.get("entry");
    if (!(entries instanceof Map)) return {};
    const keyName = shape.key.traits.xmlName ?? "key";
    const valueName = shape.item.traits.xmlName ?? "value";
    return Object.fromEntries(
      [...entries.values()].map((entry) => {
        const pair = entry as Tree;
        return [pair.get(keyName), fromForm(shape.item, pair.get(valueName) ?? "")];
      }),
    );
  }
  return fromText(shape, tree as string);
}
