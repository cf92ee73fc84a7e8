/** A function of the error-page templates, as hovers and signature help show it. */
export interface TemplateFunction {
  readonly name: string;
  /** Parameters in order; one that ends in `...` may be repeated. */
  readonly parameters: readonly string[];
  readonly documentation: string;
}

/** The functions, in the order in which they are offered. */
export const TEMPLATE_FUNCTIONS: readonly TemplateFunction[] = [
  { name: "eq", parameters: ["value", "other..."], documentation: "Whether a value equals one of the others." },
  { name: "ne", parameters: ["a", "b"], documentation: "Whether two values differ." },
  { name: "lt", parameters: ["a", "b"], documentation: "Whether a is less than b." },
  { name: "le", parameters: ["a", "b"], documentation: "Whether a is at most b." },
  { name: "gt", parameters: ["a", "b"], documentation: "Whether a is more than b." },
  { name: "ge", parameters: ["a", "b"], documentation: "Whether a is at least b." },
  { name: "and", parameters: ["value..."], documentation: "The first empty value, else the last one." },
  { name: "or", parameters: ["value..."], documentation: "The first value that is not empty, else the last one." },
  { name: "not", parameters: ["value"], documentation: "Whether a value is empty." },
];

export const TEMPLATE_FIELDS: Readonly<Record<string, string>> = {
  StatusCode: "The status code, such as 404.",
  StatusText: "The reason phrase, such as Not Found.",
  Variables: "The variables of `error_pages.variables` in tool.json.",
};

/** The statements, and what each one does. */
export const TEMPLATE_KEYWORDS: Readonly<Record<string, string>> = {
  if: "Renders what follows, up to `{{else}}` or `{{end}}`, if the value is not empty.",
  with: "Like `if`; inside, `.` is the value.",
  else: "Rendered otherwise.",
  end: "Ends `if` and `with`.",
};

/** The action around an offset, from its braces to the offset; undefined outside of actions. */
export function actionBefore(
  text: string,
  offset: number,
): { readonly start: number; readonly text: string } | undefined {
  const start = text.lastIndexOf("{{", offset - 1);
  if (start < 0 || start + 2 > offset) return undefined;
  const before = text.slice(start + 2, offset);
  return before.includes("}}") || /^-?\s*\/\*/.test(before) ? undefined : { start, text: before };
}
