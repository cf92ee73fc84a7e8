import type { TextEdit } from "../../grammar/problem.ts";
import { compareRoutes, parseRoute, type Route } from "../../grammar/route/index.ts";
import type { Member, ObjectNode } from "../../schema/json.ts";
import type { NodePath, ToolDocument } from "./document.ts";

/** A map whose order means nothing to the tool, and the order in which its keys are easiest to find. */
export interface Sortable {
  readonly path: NodePath;
  readonly object: ObjectNode;
  readonly by: "name" | "specificity";
}

/** The maps of a tool.json that can be sorted, in text order. */
export function sortables(document: ToolDocument): Sortable[] {
  const maps: Sortable[] = [];
  const add = (path: NodePath, by: Sortable["by"]) => {
    const { node } = document.nodeAt(path);
    if (node?.type === "object") maps.push({ path, object: node, by });
  };
  add(["environment"], "name");
  add(["headers"], "specificity");
  for (const { key } of document.headers()) add(["headers", key.value], "name");
  add(["redirects"], "specificity");
  add(["dns"], "name");
  add(["stages"], "name");
  add(["logs", "queries"], "name");
  add(["error_pages", "variables"], "name");
  return maps.sort((a, b) => a.object.span.start - b.object.span.start);
}

/**
 * The edits that sort a map: each member takes another's place, and commas, blanks and line ends stay. None if it is
 * sorted, or if that could change the meaning: the text has syntax errors, or a key twice.
 */
export function sortEdits(document: ToolDocument, { object, by }: Sortable): TextEdit[] {
  const { members } = object;
  if (document.parsed.problems.length > 0) return [];
  const sorted = by === "name" ? byName(members) : bySpecificity(members);
  if (sorted === undefined) return [];
  const spanOf = ({ key, value }: Member) => ({ start: key.span.start, end: (value ?? key).span.end });
  return members.flatMap((member, i): TextEdit[] => {
    const other = sorted[i]!;
    if (other === member) return [];
    const { start, end } = spanOf(other);
    return [{ span: spanOf(member), text: document.text.slice(start, end) }];
  });
}

// By UTF-16 units: the same on every machine, whatever its locale.
function byName(members: readonly Member[]): Member[] {
  return [...members].sort((a, b) => (a.key.value < b.key.value ? -1 : 1));
}

/** As the proxy tries them, the most specific first; undefined if one is not a pattern. */
function bySpecificity(members: readonly Member[]): Member[] | undefined {
  const routes = new Map<Member, Route>();
  for (const member of members) {
    const route = parseRoute(member.key.value);
    if (!route.ok) return undefined;
    routes.set(member, route.value);
  }
  return [...members].sort((a, b) => compareRoutes(routes.get(a)!, routes.get(b)!));
}
