/**
 * The path of a member of a field, spelled as in a query: `user.email`, `fields["odd key"].x`. `path` is that of the object,
 * or empty for the fields of the entry. Other spellings of the same path are not made, so that paths may be compared.
 */
export function memberPath(path: string, key: string): string {
  if (PLAIN.test(key)) return path === "" ? key : `${path}.${key}`;
  return `${path === "" ? "fields" : path}[${JSON.stringify(key)}]`;
}

const PLAIN = /^[\p{L}_@$][\p{L}\p{N}_@$-]*$/u;

/** The object of names and values of an entry, or of a part of it. */
export type FieldMembers = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is FieldMembers =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member and its path. */
export interface FieldMember {
  readonly value: unknown;
  readonly path: string;
}

/**
 * The member that a name with dots means: `http.method` as one key, or as `method` of the object `http`. Undefined if there
 * is none. `path` is that of the object.
 */
export function memberAt(members: FieldMembers, path: string, name: string): FieldMember | undefined {
  const own = members[name];
  if (own !== undefined) return { value: own, path: memberPath(path, name) };
  const dot = name.indexOf(".");
  if (dot < 0) return undefined;
  const key = name.slice(0, dot);
  const inner = members[key];
  return isMembers(inner) ? memberAt(inner, memberPath(path, key), name.slice(dot + 1)) : undefined;
}

/** The fields without those of the paths, and without objects of which nothing is left. */
export function fieldsBesides(fields: FieldMembers, used: ReadonlySet<string>): FieldMembers {
  return used.size === 0 ? fields : (besides("", fields, used) ?? {});
}

function besides(path: string, members: FieldMembers, used: ReadonlySet<string>): FieldMembers | undefined {
  const left: [string, unknown][] = [];
  for (const [key, value] of Object.entries(members)) {
    const own = memberPath(path, key);
    if (used.has(own)) continue;
    const isParent = isMembers(value) && [...used].some((one) => one.startsWith(own));
    const rest = isParent ? besides(own, value, used) : value;
    if (rest !== undefined) left.push([key, rest]);
  }
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
