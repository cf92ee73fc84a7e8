import { didYouMean } from "../grammar/did-you-mean.ts";
import { type Fix, fixesOf, type Problem, type Span } from "../grammar/problem.ts";
import { configuredCommands, secretsIn } from "./checks/commands.ts";
import { secretsInHeader } from "./checks/headers.ts";
import { isSecretName, isSecretText } from "./checks/secrets.ts";
import { isJson, memberOf, type Node, parseByLines, type StringNode, spanInside } from "./json.ts";
import { MEMBERS } from "./notification-members.ts";

/**
 * The text of a tool.json for excerpts in messages, which end up in logs: values of variables, and what looks like a
 * secret anywhere else, are asterisks. Every offset stays what it is.
 */
export function maskSecrets(text: string): string {
  return masked(text, secretSpans(text));
}

/** The problems of a tool.json for the same places: what they say of a masked value does not quote it. */
export function maskProblems(text: string, problems: readonly Problem[]): readonly Problem[] {
  const spans = secretSpans(text);
  if (spans.length === 0) return problems;
  const ends = endsOfGroups(text);
  return problems.map((problem) => {
    // Says nothing of the text, and its fix writes the name of a secret.
    if (problem.elsewhere !== undefined || problem.code === "config/literal-secret") return problem;
    const edits = fixesOf(problem).flatMap((fix) => fix.edits);
    // A problem of a whole list or object points at its bracket, and may quote what is in it.
    const whole = { start: problem.span.start, end: ends.get(problem.span.start) ?? problem.span.end };
    const places = [problem.span, whole, ...edits.map(({ span }) => span)];
    const touched = spans.filter((span) => places.some((place) => touches(place, span)));
    if (touched.length === 0) return problem;
    const values = [
      ...touched.map(({ start, end }) => text.slice(start, end)),
      // As a fix would write them.
      ...edits.map((edit) => edit.text).filter((written) => written.length > 3 && !/^\W*$/.test(written)),
    ].flatMap(valuesOf);
    const isOfValue = spans.some((span) => touches(problem.span, span));
    const mask = (words: string) => {
      const said = values.reduce((rest, value) => rest.replaceAll(value, "***"), words);
      return isOfValue ? maskQuoted(said) : said;
    };
    // Followed to the letter, the asterisks would become the value.
    const maskRemedy = (words: string) => mask(words).replace(/^(?:write|Change to) "\*+"$/, whatWasMeant);
    const maskFix = (fix: Fix): Fix => ({ ...fix, title: maskRemedy(fix.title) });
    return {
      ...problem,
      message: mask(problem.message),
      ...(problem.hint !== undefined && { hint: maskRemedy(problem.hint) }),
      ...(problem.fix !== undefined && { fix: maskFix(problem.fix) }),
      ...(problem.alternatives !== undefined && { alternatives: problem.alternatives.map(maskFix) }),
    };
  });
}

/** Where lists and objects inside the configuration end, by where they begin. */
function endsOfGroups(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const { root } = parseByLines(text);
  if (root === undefined) return ends;
  visit(root, "", (node) => {
    if (node !== root && (node.type === "array" || node.type === "object")) ends.set(node.span.start, node.span.end);
  });
  return ends;
}

const whatWasMeant = (words: string) => (words.startsWith("write") ? "write it in quotes" : "Write it in quotes");

const touches = (one: Span, other: Span) =>
  one.start < Math.max(other.end, other.start + 1) && other.start < Math.max(one.end, one.start + 1);

function secretSpans(text: string): readonly Span[] {
  const { root } = parseByLines(text);
  const spans: Span[] = [];
  // Where a quote or bracket is missing, what is read as a value may be anything that follows.
  if (!isJson(text)) spans.push(...loosely(text));
  if (root === undefined) return spans;
  const addInside = (node: StringNode, span: Span) => spans.push(spanInside(text, node, span));
  const values = new Set<string>();
  visit(root, "", (node, name) => {
    if (isEnvironment(name)) leaves(node, (leaf) => leaf.type === "string" && values.add(leaf.value));
  });
  const said = [...values].filter((value) => value.length > 3);
  visit(root, "", (node, name) => {
    if (isEnvironment(name)) leaves(node, (leaf) => spans.push(leaf.span));
    else if (name === "actions" && node.type === "array") {
      for (const item of node.items) {
        const url = memberOf(item, "url")?.value;
        if (url !== undefined) spans.push(url.span);
      }
    } else if (node.type === "string") {
      if (
        isSecretMember(name, node.value) ||
        isSecretText(node.value) ||
        isSecretName(name.replaceAll("-", "_"), node.value)
      )
        spans.push(node.span);
      for (const { 0: part, index } of node.value.matchAll(/[^\s"'=;,|<>()]+/g)) {
        if (isSecretText(part)) addInside(node, { start: index, end: index + part.length });
      }
    }
  });
  for (const { node } of configuredCommands(root)) for (const { span } of secretsIn(node.value)) addInside(node, span);
  const headers = memberOf(root, "headers")?.value;
  if (headers !== undefined) {
    visit(headers, "", (node) => {
      // A header may repeat the value of a variable.
      for (const value of node.type === "string" ? said : []) {
        const start = (node as StringNode).value.indexOf(value);
        if (start >= 0) addInside(node as StringNode, { start, end: start + value.length });
      }
      // As other formats of configuration write a header.
      const [key, value] = [memberOf(node, "key") ?? memberOf(node, "name"), memberOf(node, "value")];
      if (key?.value?.type !== "string" || value?.value?.type !== "string") return;
      for (const span of secretsInHeader(key.value.value, value.value.value)) addInside(value.value, span);
    });
  }
  for (const { value: rule } of headers?.type === "object" ? headers.members : []) {
    for (const { key, value } of rule?.type === "object" ? rule.members : []) {
      if (value?.type === "string") for (const span of secretsInHeader(key.value, value.value)) addInside(value, span);
    }
  }
  return spans;
}

/** Whether a member of a notification holds a secret in place of the name of one. */
const isSecretMember = (name: string, value: string) =>
  Object.values(MEMBERS).some(({ needed, holds }) => holds !== "recipients" && needed === name) &&
  !/^\$[A-Za-z]/.test(value);

/** Whether a key is, or was meant as, `environment`. */
function isEnvironment(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z]/g, "");
  return /^env/.test(plain) || didYouMean(plain, ["environment"]) !== undefined;
}

function leaves(node: Node, take: (leaf: Node) => void): void {
  if (node.type === "array") for (const item of node.items) leaves(item, take);
  else if (node.type === "object") {
    for (const { value } of node.members) if (value !== undefined) leaves(value, take);
  } else take(node);
}

/** Possible values below a key such as `environment`, up to the bracket that closes it, whatever is quoted there. */
function loosely(text: string): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const { 0: key, index } of text.matchAll(/["']?\benv\w*["']?\s*[:=]?\s*(?=[{["'])/gi)) {
    if (index < end) continue;
    const begin = index + key.length;
    end = closing(text, begin);
    for (const { 0: part, index: at } of text.slice(begin, end).matchAll(/[^\s{}[\],"':=]+/g)) {
      const from = begin + at;
      const to = begin + at + part.length;
      // The names of variables stay: they say what is meant.
      if (!(/^[A-Z_][A-Z0-9_]*$/.test(part) && /^["']?\s*[:=]/.test(text.slice(to))))
        spans.push({ start: from, end: to });
    }
  }
  return spans;
}

/**
 * The end of what begins with a bracket, counted without regard to quotes; of a text, the end of its line. Where more
 * follows on the line than brackets, the bracket may have been one in a text: then the line is the end.
 */
function closing(text: string, begin: number): number {
  let depth = 0;
  let at = begin;
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    else if (depth > 0 || (char !== "\n" && char !== "\r")) continue;
    if (depth <= 0) break;
  }
  const rest = /[^\r\n]*/.exec(text.slice(at))![0];
  return /^[\s}\],]*$/.test(rest) ? at : at + rest.length;
}

/** A value as messages may show it: as it is written, without its quotes, as it is read. */
function valuesOf(written: string): string[] {
  const inner = written.replace(/^["']|["']$/g, "");
  const read = isJson(written) ? String(JSON.parse(written)) : inner;
  return [...new Set([written, inner, read])].filter((value) => value.length > 3).sort((a, b) => b.length - a.length);
}

/** Texts in quotes are asterisks, but for names of variables and of the section. */
function maskQuoted(words: string): string {
  return words.replace(/(["'])((?:(?!\1).)+)\1/gs, (all, mark: string, inner: string) =>
    /^[A-Z_][A-Z0-9_]*$/.test(inner) || isEnvironment(inner) ? all : `${mark}***${mark}`,
  );
}

/** All nodes, each with the name of the nearest member above it. */
function visit(node: Node, name: string, look: (node: Node, name: string) => void): void {
  look(node, name);
  if (node.type === "array") for (const item of node.items) visit(item, name, look);
  if (node.type === "object")
    for (const { key, value } of node.members) if (value !== undefined) visit(value, key.value, look);
}

function masked(text: string, spans: readonly Span[]): string {
  let result = "";
  let at = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    const from = Math.max(start, at);
    result += text.slice(at, from) + text.slice(from, end).replace(/[^"\r\n]/g, "*");
    at = end;
  }
  return result + text.slice(at);
}
