import { memberOf, parseByLines } from "./json.ts";

/**
 * The text of a tool.json for excerpts in messages, which end up in logs: values of variables are asterisks. Every offset
 * stays what it is.
 */
export function maskVariables(text: string): string {
  const environment = memberOf(parseByLines(text).root, "environment")?.value;
  if (environment?.type !== "object") return text;
  let masked = "";
  let at = 0;
  for (const { value } of environment.members) {
    if (value === undefined) continue;
    const { start, end } = value.span;
    masked += text.slice(at, start) + text.slice(start, end).replace(/[^"\r\n]/g, "*");
    at = end;
  }
  return masked + text.slice(at);
}
