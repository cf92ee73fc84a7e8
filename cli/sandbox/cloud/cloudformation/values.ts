// Evaluates the functions of a template.
import { attributeOf, VARIABLE } from "./references.ts";
import { refusal, type Template } from "./template.ts";

/** The part of a value that is known only when a resource is made. */
export class Unknown {
  readonly cause: string;
  readonly attribute: string | undefined;

  constructor(cause: string, attribute?: string) {
    this.cause = cause;
    this.attribute = attribute;
  }

  toJSON(): object {
    return { unknown: this.cause, attribute: this.attribute };
  }
}

/** AWS::NoValue: the property is as if it were not there. */
const ABSENT = Symbol("AWS::NoValue");

export interface TemplateScope {
  readonly template: Template;
  /** Parameters and pseudo parameters. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The values of Ref and Fn::GetAtt for a resource. */
  ref(name: string): unknown;
  attribute(name: string, attribute: string): unknown;
}

export function resolveValue(value: unknown, scope: TemplateScope): unknown {
  const result = evaluate(value, scope);
  return result === ABSENT ? undefined : result;
}

export function conditionHolds(name: string, scope: TemplateScope): boolean {
  const condition = scope.template.Conditions?.[name];
  if (condition === undefined) throw refusal(`Template error: unresolved condition ${name}`);
  return test(condition, scope);
}

function test(condition: unknown, scope: TemplateScope): boolean {
  const [[name, inner] = []] = Object.entries(condition as Record<string, unknown>);
  const parts = inner as unknown[];
  switch (name) {
    case "Condition":
      return conditionHolds(String(inner), scope);
    case "Fn::Equals":
      return String(evaluate(parts[0], scope)) === String(evaluate(parts[1], scope));
    case "Fn::And":
      return parts.every((one) => test(one, scope));
    case "Fn::Or":
      return parts.some((one) => test(one, scope));
    case "Fn::Not":
      return !test(parts[0], scope);
    default:
      throw refusal(`Template error: every Condition member must be a string or a condition function, found ${name}`);
  }
}

function evaluate(value: unknown, scope: TemplateScope): unknown {
  if (Array.isArray(value)) return value.map((one) => evaluate(one, scope)).filter((one) => one !== ABSENT);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [name = "", inner] = entries[0] ?? [];
  if (entries.length === 1 && (name === "Ref" || name.startsWith("Fn::"))) return call(name, inner, scope);
  return Object.fromEntries(
    entries.map(([key, one]) => [key, evaluate(one, scope)]).filter(([, one]) => one !== ABSENT),
  );
}

function call(name: string, inner: unknown, scope: TemplateScope): unknown {
  const list = () => {
    const values = evaluate(inner, scope);
    if (!Array.isArray(values)) throw refusal(`Template error: every ${name} object must have a list of values`);
    return values;
  };
  switch (name) {
    case "Ref":
      return reference(String(inner), scope);
    case "Fn::GetAtt": {
      const { name: resource, attribute } = attributeOf(inner);
      return scope.attribute(resource, attribute);
    }
    case "Fn::Sub":
      return substitute(inner, scope);
    case "Fn::Join": {
      const [separator, parts] = list() as [string, unknown];
      if (!Array.isArray(parts)) return parts;
      const unknown = parts.find((one) => one instanceof Unknown);
      return unknown ?? parts.map(String).join(separator);
    }
    case "Fn::Select": {
      const [index, parts] = list() as [number, unknown[]];
      if ((parts as unknown) instanceof Unknown) return parts;
      if (parts[Number(index)] === undefined)
        throw refusal(`Template error: Fn::Select cannot select nonexistent value at index ${index}`);
      return parts[Number(index)];
    }
    case "Fn::Split": {
      const [separator, text] = list();
      return text instanceof Unknown ? text : String(text).split(String(separator));
    }
    case "Fn::If": {
      const [condition, yes, no] = inner as [string, unknown, unknown];
      return evaluate(conditionHolds(condition, scope) ? yes : no, scope);
    }
    case "Fn::Base64": {
      const text = evaluate(inner, scope);
      return text instanceof Unknown ? text : Buffer.from(String(text)).toString("base64");
    }
    case "Fn::FindInMap": {
      const [map, first, second] = list().map(String);
      const entry = scope.template.Mappings?.[map!]?.[first!]?.[second!];
      if (entry === undefined) throw refusal(`Template error: Unable to get mapping for ${map}::${first}::${second}`);
      return entry;
    }
    default:
      throw refusal(`Template error: Encountered unsupported function: ${name}`);
  }
}

function reference(name: string, scope: TemplateScope): unknown {
  if (name === "AWS::NoValue") return ABSENT;
  return Object.hasOwn(scope.parameters, name) ? scope.parameters[name] : scope.ref(name);
}

function substitute(inner: unknown, scope: TemplateScope): unknown {
  const [text, own = {}] = (Array.isArray(inner) ? inner : [inner]) as [string, Record<string, unknown>?];
  if (typeof text !== "string")
    throw refusal("Template error: One or more Fn::Sub intrinsic functions don't specify expected arguments.");
  let unknown: Unknown | undefined;
  const result = text.replaceAll(VARIABLE, (_, variable: string) => {
    const [name = "", ...attribute] = variable.trim().split(".");
    const value = Object.hasOwn(own, variable.trim())
      ? evaluate(own[variable.trim()], scope)
      : attribute.length > 0
        ? scope.attribute(name, attribute.join("."))
        : reference(name, scope);
    if (value instanceof Unknown) unknown ??= value;
    return String(value);
  });
  return unknown ?? result.replaceAll("${!", "${");
}
