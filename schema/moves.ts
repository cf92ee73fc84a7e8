import { applyEdits, type Fix } from "../grammar/problem.ts";
import { coerce } from "./coerce.ts";
import { insertMember } from "./edits.ts";
import { type Member, memberOf, type Node, type ObjectNode, removeMembers } from "./json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "./keywords.ts";

/** A section that has a key of that name. */
interface Home {
  /** The innermost object that is there already. */
  readonly object: ObjectNode;
  /** The sections below it that are not there yet, outermost first. */
  readonly missing: readonly string[];
  /** From the root. */
  readonly path: readonly string[];
  readonly schema: Schema;
  /** No other place is as near. */
  readonly isLikeliest?: boolean;
}

/** A key that is unknown where it is. */
export interface Misplaced {
  readonly root: ObjectNode;
  /** From the root to its object. */
  readonly path: readonly string[];
  readonly object: ObjectNode;
  readonly member: Member;
}

/** A member for which a better place is wanted. */
interface Moved {
  readonly source: string;
  readonly root: ObjectNode;
  readonly name: string;
  readonly value: Node;
}

/**
 * Fixes that move a misplaced key to where it belongs: into a section below its object, into an enclosing object, or into
 * a section of one of those. Only if its value fits there and the name is free.
 */
export function movesOf(
  source: string,
  { root, path, object, member }: Misplaced,
): { fix: Fix; where: string; isCertain: boolean }[] {
  const value = member.value;
  if (value === undefined || value.type === "broken") return [];
  const name = member.key.value;
  return homesOf({ source, root, name, value }, path).map((home) => {
    const text = source.slice(member.key.span.start, value.span.start) + valueText(source, value, home.schema, name);
    const wrapped = home.missing.reduceRight((inner, section) => `${JSON.stringify(section)}: { ${inner} }`, text);
    const gone = removeMembers(object, new Set([member]));
    // Next to the section that it leaves, the place of what is removed is free.
    const insertion = insertMember(source, home.object, wrapped, neighbour(home.object, member));
    const where = whereIs(home.path);
    // In its own object it is the member that becomes a section.
    const isSame = home.object === object;
    const edits = isSame
      ? [{ span: { start: member.key.span.start, end: value.span.end }, text: wrapped }]
      : [...gone, insertion];
    return { fix: { title: `Move it to ${where}`, edits }, where, isCertain: home.isLikeliest === true };
  });
}

/** `"proxy.backoff"`, `item 2 of "alerts"`. */
function whereIs(path: readonly string[]): string {
  const at = path.findLastIndex((name) => /^\d+$/.test(name));
  if (path.length === 0) return "the top level";
  if (at < 0) return `"${path.join(".")}"`;
  const list = path.slice(0, at).join(".");
  const inner = path.slice(at + 1).join(".");
  return `${inner === "" ? "" : `"${inner}" of `}item ${Number(path[at]) + 1} of "${list}"`;
}

/** The member before which nothing is taken away at the same time; undefined for the end. */
function neighbour(object: ObjectNode, gone: Member): Member | undefined {
  const last = object.members.at(-1);
  // The member that holds what is moved may be the last: its end changes too.
  const isInside = last !== undefined && last.key.span.start <= gone.key.span.start;
  if (!isInside) return undefined;
  return object.members.find(({ key }) => key.value !== "$schema" && key.value !== "name") ?? object.members[0];
}

/** The likeliest first: where it is required and missing, then the innermost object. */
function homesOf(moved: Moved, path: readonly string[]): Home[] {
  const { root, name } = moved;
  const groups: Home[][] = [lacking(moved)];
  for (let depth = path.length; depth >= 0; depth--) {
    const at = resolvePath(root, path.slice(0, depth));
    if (at === undefined || at.node.type !== "object") continue;
    const own = { object: at.node, missing: [], path: path.slice(0, depth), schema: at.schema };
    const isFit = depth < path.length && fits(at.schema, moved);
    groups.push([...(isFit ? [own] : []), ...below(at.node, at.schema, own.path, moved)]);
  }
  const homes: Home[] = [];
  for (const group of groups) {
    const free = group.filter(
      ({ object, missing }) =>
        (missing.length > 0 || memberOf(object, name) === undefined) && homes.every((home) => home.object !== object),
    );
    homes.push(...free.map((home) => ({ ...home, isLikeliest: homes.length === 0 && free.length === 1 })));
  }
  return homes.slice(0, MAX_HOMES);
}

// A longer list of fixes is no help.
const MAX_HOMES = 4;

/** Objects that require the key and do not have it. */
function lacking(moved: Moved): Home[] {
  const { root, name } = moved;
  const homes: Home[] = [];
  walk(root, rootSchema, []);
  return homes;

  function walk(node: Node, schema: Schema, path: readonly string[]) {
    if (node.type === "array") {
      for (const [i, item] of node.items.entries()) walk(item, resolve(schema.items ?? {}), [...path, String(i)]);
    }
    if (node.type !== "object") return;
    if (schema.required?.includes(name) && memberOf(node, name) === undefined && fits(schema, moved)) {
      homes.push({ object: node, missing: [], path, schema });
    }
    for (const member of node.members) {
      const inner = member.key.value;
      if (member.value !== undefined) walk(member.value, memberSchema(schema, inner), [...path, inner]);
    }
  }
}

/** Sections below an object, there or not, two levels deep. */
function below(object: ObjectNode, schema: Schema, path: readonly string[], moved: Moved): Home[] {
  const homes: Home[] = [];
  for (const section of Object.keys(schema.properties ?? {})) {
    const inner = memberSchema(schema, section);
    if (inner.type !== "object") continue;
    const there = memberOf(object, section)?.value;
    const node = there?.type === "object" ? there : undefined;
    if (there !== undefined && node === undefined) continue;
    const inside = [...path, section];
    if (fits(inner, moved)) {
      const place = node ? { object: node, missing: [] } : { object, missing: [section] };
      homes.push({ ...place, path: inside, schema: inner });
    }
    if (node !== undefined && path.length < 1) homes.push(...below(node, inner, inside, moved));
    else if (node === undefined) {
      for (const key of Object.keys(inner.properties ?? {})) {
        const part = memberSchema(inner, key);
        if (part.type !== "object" || !fits(part, moved)) continue;
        homes.push({ object, missing: [section, key], path: [...inside, key], schema: part });
      }
    }
  }
  return homes;
}

/** Whether a section has a setting of that name, and its value is of the right type, or can be made so. */
function fits(schema: Schema, { source, name, value }: Moved): boolean {
  if (schema.additionalProperties !== false || !Object.hasOwn(schema.properties ?? {}, name)) return false;
  const wanted = memberSchema(schema, name);
  if (!hasType(wanted, value)) return coerce(source, value, wanted)?.fix !== undefined;
  return wanted.enum === undefined || (value.type === "string" && wanted.enum.includes(value.value));
}

function hasType({ type }: Schema, value: Node): boolean {
  const types = [type].flat();
  return (
    type === undefined || types.includes(value.type === "number" && types.includes("integer") ? "integer" : value.type)
  );
}

/** The value as its new place takes it. */
function valueText(source: string, value: Node, schema: Schema, name: string): string {
  const { start, end } = value.span;
  const wanted = memberSchema(schema, name);
  const edits = hasType(wanted, value) ? [] : (coerce(source, value, wanted)?.fix?.edits ?? []);
  const moved = edits.map(({ span, text }) => ({ span: { start: span.start - start, end: span.end - start }, text }));
  return applyEdits(source.slice(start, end), moved);
}

function resolvePath(root: ObjectNode, path: readonly string[]): { node: Node; schema: Schema } | undefined {
  let node: Node = root;
  let schema = rootSchema;
  for (const name of path) {
    const next: Node | undefined = node.type === "array" ? node.items[Number(name)] : memberOf(node, name)?.value;
    if (next === undefined) return undefined;
    schema = node.type === "array" ? resolve(schema.items ?? {}) : memberSchema(schema, name);
    node = next;
  }
  return { node, schema };
}
