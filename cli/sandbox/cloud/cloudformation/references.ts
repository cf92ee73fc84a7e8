// Where a value of a template refers to something: Ref, Fn::GetAtt, and the ${names} of Fn::Sub.

export interface TemplateReference {
  readonly name: string;
  /** The attribute of Fn::GetAtt. */
  readonly attribute?: string;
}

export function referencesIn(value: unknown): TemplateReference[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  const [name, ...others] = Object.keys(value);
  const inner = (value as Record<string, unknown>)[name ?? ""];
  if (others.length === 0 && name === "Ref") return [{ name: String(inner) }];
  if (others.length === 0 && name === "Fn::GetAtt") return [attributeOf(inner)];
  if (others.length === 0 && name === "Fn::Sub") {
    const [text, own] = (Array.isArray(inner) ? inner : [inner]) as [string, Record<string, unknown>?];
    return [...variablesOf(text).filter(({ name }) => own?.[name] === undefined), ...referencesIn(own)];
  }
  return Object.values(value).flatMap(referencesIn);
}

/** The names of conditions that Fn::If asks. */
export function conditionsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(conditionsIn);
  if (typeof value !== "object" || value === null) return [];
  const test = (value as { "Fn::If"?: unknown[] })["Fn::If"];
  const own = Array.isArray(test) ? [String(test[0])] : [];
  return [...own, ...Object.values(value).flatMap(conditionsIn)];
}

/** Fn::GetAtt: ["Name", "Attribute"], or "Name.Attribute". */
export function attributeOf(value: unknown): Required<TemplateReference> {
  if (Array.isArray(value)) return { name: String(value[0]), attribute: value.slice(1).join(".") };
  const [name = "", ...attribute] = String(value).split(".");
  return { name, attribute: attribute.join(".") };
}

/** ${Name}, ${Name.Attribute}; ${!Name} is no variable but the text ${Name}. */
export const VARIABLE = /\$\{([^!}][^}]*)\}/g;

function variablesOf(text: string): TemplateReference[] {
  return Array.from(text.matchAll(VARIABLE), ([, inner = ""]) => {
    const [name = "", ...attribute] = inner.trim().split(".");
    return attribute.length === 0 ? { name } : { name, attribute: attribute.join(".") };
  });
}
